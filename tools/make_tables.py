"""Makes strategy/api/tables/*/types.json: the fields of every API type, one table a release.

    python tools/make_tables.py

The sources are tools/upstream/types-*.json.gz, with types-extra-*, types-apiextensions-*, and types-policies.json, which is the
same in every release; the README beside them says where they come from.
A table has a line for each type and a text of blank-separated words for each field:

    "emptyDir": "EmptyDirVolumeSource * omitempty in=VolumeSource wire=bytes,2"

The first word is the type, ``*`` a pointer. The Go type is left out where it follows from the type
(strategy.types.plain_go_type). Fields stand in the order of the Go struct, in which the server prints and converts them.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "upstream"
TABLES = ROOT / "strategy" / "api" / "tables"

sys.path.insert(0, str(ROOT / "src"))

from podstrat.strategy.api.types import RELEASES, plain_go_type  # noqa: E402

Structs = dict[str, dict[str, list[Any]]]
"""By Go package and struct: the JSON names of its fields, and the structs that it inlines."""

WORDS = (("inlinedFrom", "in"), ("patchStrategy", "patch"), ("mergeKey", "key"), ("protobuf", "wire"))
KNOWN = {"type", "goType", "pointer", "omitempty", "omitzero", *(name for name, _ in WORDS)}


def main() -> None:
    for release in RELEASES:
        path(release).write_text(text(release))


def path(release: str) -> Path:
    return TABLES / release / "types.json"


def text(release: str) -> str:
    """The text of a release's table: one type a line."""
    types = {}
    for source in (f"types-{release}", f"types-extra-{release}", f"types-apiextensions-{release}"):
        types.update(json.loads(gzip.decompress((SOURCES / f"{source}.json.gz").read_bytes())))
    types.update(json.loads((SOURCES / "types-policies.json").read_text()))
    structs = json.loads(gzip.decompress((SOURCES / f"go-field-order-{release}.json.gz").read_bytes()))
    lines = (f"{json.dumps(name)}: {json.dumps(row(name, fields, structs))}" for name, fields in sorted(types.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def row(type_name: str, fields: dict[str, dict[str, Any]], structs: Structs) -> dict[str, str]:
    for name, field in fields.items():
        if odd := field.keys() - KNOWN:
            raise ValueError(f"{type_name}.{name}: the source says something new: {sorted(odd)}")
    order = struct_order(type_name, fields, structs)
    return {name: words(fields[name]) for name in sorted(fields, key=order.index)}


def struct_order(type_name: str, fields: dict[str, dict[str, Any]], structs: Structs) -> list[str]:
    """The JSON names in the order of the struct; by protobuf numbers where it is not listed, or as the source has them."""
    group, _, name = type_name.rpartition(".")
    for package in (group or "core", "meta", "core"):
        if name in structs.get(package, {}):
            order = list(_flat(name, package, structs))
            if fields.keys() <= set(order):
                return order
    if not any(number(field) for field in fields.values()):
        return list(fields)
    return sorted(fields, key=lambda name: (fields[name].get("inlinedFrom") != "TypeMeta", number(fields[name]), name))


def _flat(name: str, package: str, structs: Structs) -> Iterator[str]:
    """The fields of a struct, and in their place those of the structs that it inlines."""
    for field in structs[package][name]:
        if isinstance(field, str):
            yield field
        else:
            inner = field["inline"]
            yield from _flat(inner, next(each for each in (package, "core", "meta") if inner in structs[each]), structs)


def number(field: dict[str, Any]) -> int:
    return int(field.get("protobuf", "").rpartition(",")[2] or 0)


def words(field: dict[str, Any]) -> str:
    """One field, in words."""
    said = [field["type"]]
    if field.get("pointer"):
        said.append("*")
    said += [flag for flag in ("omitempty", "omitzero") if field.get(flag)]
    if field["goType"] != plain_go_type(field["type"]):
        said.append(f"go={field['goType']}")
    said += [f"{word}={field[key]}" for key, word in WORDS if field.get(key)]
    return " ".join(said)


if __name__ == "__main__":
    main()
