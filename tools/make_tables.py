"""Makes strategy/tables/types-*.json: the fields of every API type, one table a release.

    python tools/make_tables.py

The sources are tools/upstream/types-*.json.gz; the README beside them says where they come from. A table has a line for each type
and a text of blank-separated words for each field:

    "emptyDir": "EmptyDirVolumeSource * omitempty in=VolumeSource wire=bytes,2"

The first word is the type, ``*`` a pointer. The Go type is left out where it follows from the type
(strategy.types.plain_go_type).
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "upstream"
TABLES = ROOT / "strategy" / "tables"

sys.path.insert(0, str(ROOT))

from strategy.types import RELEASES, plain_go_type  # noqa: E402

WORDS = (("inlinedFrom", "in"), ("patchStrategy", "patch"), ("mergeKey", "key"), ("protobuf", "wire"))
KNOWN = {"type", "goType", "pointer", "omitempty", "omitzero", *(name for name, _ in WORDS)}


def main() -> None:
    for release in RELEASES:
        path(release).write_text(text(release))


def path(release: str) -> Path:
    return TABLES / f"types-{release}.json"


def text(release: str) -> str:
    """The text of a release's table: one type a line."""
    types = json.loads(gzip.decompress((SOURCES / f"types-{release}.json.gz").read_bytes()))
    lines = (f"{json.dumps(name)}: {json.dumps(row(name, fields))}" for name, fields in sorted(types.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def row(type_name: str, fields: dict[str, dict[str, Any]]) -> dict[str, str]:
    for name, field in fields.items():
        if odd := field.keys() - KNOWN:
            raise ValueError(f"{type_name}.{name}: the source says something new: {sorted(odd)}")
    return {name: words(field) for name, field in sorted(fields.items())}


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
