"""Makes what the embedded server knows of the kinds without rules of their own: types, and schemas as they are published.

    python tools/make_others.py

The sources are tools/upstream/openapi-others-*.json.gz: the OpenAPI v3 schemas of every type that the types tables lack, as a
server of the release serves them below /openapi/v3, without the descriptions; and structs-others.txt, which says what schemas do
not. Made are, for each release,

    apiserver/others/types-*.json       the types in the words of the engine's tables, without numbers of protobuf, and beside
                                        them what is said about merging their lists, as in strategy/api/tables/*/schema.json
    apiserver/others/openapi-*.json.gz  the schemas as they are
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "upstream"
OTHERS = ROOT / "apiserver" / "others"

sys.path.insert(0, str(ROOT / "src"))
sys.path.insert(0, str(Path(__file__).parent))

import make_schema  # noqa: E402

from podstrat.strategy.api.types import RELEASES, SPECIAL, plain_go_type  # noqa: E402

Object = dict[str, Any]

TYPE_META = dict.fromkeys(("kind", "apiVersion"), "string omitempty in=TypeMeta")
METADATA = {"metadata": "ObjectMeta omitempty"}
SCALARS = {"string": "string", "boolean": "bool", "byte": "bytes", "int32": "int32", "int64": "int64"}
ZERO: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0}
KIND = "x-kubernetes-group-version-kind"


def main() -> None:
    OTHERS.mkdir(exist_ok=True)
    for release in RELEASES:
        types_path(release).write_text(types_text(release))
        openapi_path(release).write_bytes(gzip.compress(openapi_text(release).encode(), 9, mtime=0))


def types_path(release: str) -> Path:
    return OTHERS / f"types-{release}.json"


def openapi_path(release: str) -> Path:
    return OTHERS / f"openapi-{release}.json.gz"


def published(release: str, source: str = "others") -> dict[str, Object]:
    found: dict[str, Object] = json.loads(gzip.decompress((SOURCES / f"openapi-{source}-{release}.json.gz").read_bytes()))
    return found


def openapi_text(release: str) -> str:
    return json.dumps(published(release), separators=(",", ":"), sort_keys=True)


def types_text(release: str) -> str:
    """Two tables of a release: one type a line."""
    schemas = {make_schema.name_of(key): schema for key, schema in published(release).items()}
    known = structs()
    types = {name: row(name, schema, known[name]) for name, schema in sorted(schemas.items())}
    # The keys of lists may stand in types that the engine's tables have.
    every = {
        make_schema.name_of(key): schema
        for source in ("pod", "extra", "others")
        for key, schema in published(release, source).items()
    }
    lists = {name: make_schema.row(name, every) for name in types}
    return f'{{"types": {_lines(types)},\n"lists": {_lines({name: said for name, said in lists.items() if said})}}}\n'


def _lines(table: dict[str, dict[str, str]]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(said)}" for name, said in table.items()) + "\n}"


def structs() -> dict[str, dict[str, str]]:
    """By type: what is said about its fields, in the order of the struct."""
    found = {}
    for line in (SOURCES / "structs-others.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, _, fields = line.partition(": ")
            found[name] = {text.partition("=")[0].rstrip("*!"): text for text in fields.split(" ")}
    return found


def row(name: str, schema: Object, struct: dict[str, str]) -> dict[str, str]:
    """The fields of a type, in words."""
    properties: dict[str, Object] = dict(schema["properties"])
    head: dict[str, str] = {}
    if KIND in schema:
        head = {**TYPE_META, **METADATA}
        for each in head:
            del properties[each]
    # An older release may lack fields of the newest one, and nothing else.
    if unknown := properties.keys() - struct.keys():
        raise ValueError(f"{name}: structs-others.txt does not say where these stand: {sorted(unknown)}")
    required = schema.get("required", ())
    return head | {each: words(name, properties[each], each in required, struct[each]) for each in struct if each in properties}


def words(owner: str, member: Object, required: bool, said: str) -> str:
    """One field, in words."""
    type_name = type_of(member)
    flags, _, go_type = said.partition("=")
    is_struct = type_name not in SPECIAL and not _is_plain(type_name)
    pointer = "*" in flags or (is_struct and "default" not in member)
    found = [type_name]
    if pointer:
        found.append("*")
    if "!" not in flags and omitempty(member, type_name, required, pointer):
        found.append("omitempty")
    go_type = go_type or _go_type(type_name)
    if go_type != plain_go_type(type_name):
        found.append(f"go={go_type}")
    for key, word in (("x-kubernetes-patch-strategy", "patch"), ("x-kubernetes-patch-merge-key", "key")):
        if key in member:
            found.append(f"{word}={member[key]}")
    return " ".join(found)


def omitempty(member: Object, type_name: str, required: bool, pointer: bool) -> bool:
    """Whether a field is left out when it is empty: a default that is the zero value tells that it is not."""
    if "default" in member and type_name in ZERO and member["default"] == ZERO[type_name]:
        return False
    if required and type_name in ZERO:
        return not pointer
    return not required


def type_of(member: Object) -> str:
    """The type of a field or of the items of a list, in the words of the tables."""
    if name := make_schema.reference(member) if "$ref" in member or "allOf" in member else "":
        return name
    if member["type"] == "array":
        return f"[]{type_of(member['items'])}"
    if member["type"] == "object":
        return f"map[string]{type_of(member['additionalProperties'])}"
    return SCALARS[member.get("format", "") if member.get("format") in SCALARS else member["type"]]


def _is_plain(type_name: str) -> bool:
    return type_name.startswith(("[]", "map[")) or type_name in SCALARS.values()


def _go_type(type_name: str) -> str:
    """What Go calls a type that is not of version v1."""
    return plain_go_type(type_name).replace("v1.", "v2.") if ".v2." in type_name else plain_go_type(type_name)


if __name__ == "__main__":
    main()
