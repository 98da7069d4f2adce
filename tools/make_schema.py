"""Makes strategy/api/tables/*/schema.json: what the servers publish about merging lists and maps, one table a release.

    python tools/make_schema.py

The sources are tools/upstream/openapi-pod-*.json.gz and openapi-extra-*.json.gz: the OpenAPI v3 schemas of the Pod, of the other
kinds that the engine has rules for and of every type in them, as an API server of the release serves them below /openapi/v3,
without the descriptions. A table has a line for each type that has something to say, and a text for each field that is not as
most are:

    "env": "map name=\\"\\""      a list whose items are told apart by a key; after the key its default, if it has one
    "finalizers": "set"         a list of scalars in which each stands once
    "nodeSelector": "atomic"    a list or map that is owned as one value, though a strategic merge patch would merge it
    "": "atomic"                the type itself is owned as one value wherever it stands

A list of which nothing is said is what its patch strategy makes it, and that and all the fields are in the types tables.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "upstream"
TABLES = ROOT / "strategy" / "api" / "tables"

sys.path.insert(0, str(ROOT / "src"))

from podstrat.strategy.api import types  # noqa: E402

LIST_TYPE, MAP_TYPE, KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
STRATEGY = "x-kubernetes-patch-strategy"
Schemas = dict[str, dict[str, Any]]

_OWN_SERVERS = ("apiextensions-apiserver", "kube-aggregator")
"""Repositories whose types have the group in another place of their names."""


def main() -> None:
    for release in types.RELEASES:
        path(release).write_text(text(release))


def path(release: str) -> Path:
    return TABLES / release / "schema.json"


def text(release: str) -> str:
    """The text of a release's table: one type a line."""
    schemas: Schemas = {}
    for source in (f"openapi-pod-{release}", f"openapi-extra-{release}", f"openapi-apiextensions-{release}"):
        published = json.loads(gzip.decompress((SOURCES / f"{source}.json.gz").read_bytes()))
        schemas.update({name_of(key): schema for key, schema in published.items()})
    policies = json.loads((SOURCES / "openapi-policies.json").read_text())
    schemas.update({name_of(key): schema for key, schema in policies.items()})
    made = {name: row(name, schemas) for name in sorted(schemas) if "properties" in schemas[name]}
    check(made.keys(), schemas, types.load(release))
    lines = (f"{json.dumps(name)}: {json.dumps(said)}" for name, said in made.items() if said)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def row(type_name: str, schemas: Schemas) -> dict[str, str]:
    """What there is to say about one type."""
    schema = schemas[type_name]
    said = {"": "atomic"} if schema.get(MAP_TYPE) == "atomic" else {}
    for name, member in sorted(schema.get("properties", {}).items()):
        if word := _word(f"{type_name}.{name}", member, schemas):
            said[name] = word
    return said


def _word(place: str, member: dict[str, Any], schemas: Schemas) -> str:
    if member.get(MAP_TYPE) == "atomic":
        return "atomic"
    kind = member.get(LIST_TYPE, "atomic")
    if kind == "atomic":
        return "atomic" if member.get("type") == "array" and "merge" in member.get(STRATEGY, "") else ""
    if kind == "set":
        return "set"
    if kind != "map":
        raise ValueError(f"{place}: the source says something new: {kind}")
    items = schemas[reference(member["items"])]["properties"]
    return " ".join(["map", *(_key(name, items[name]) for name in member[KEYS])])


def _key(name: str, member: dict[str, Any]) -> str:
    return f"{name}={json.dumps(member['default'])}" if "default" in member else name


def check(names: Any, schemas: Schemas, table: types.Types) -> None:
    """Both sources tell of the same fields."""
    for name in names:
        published = schemas[name].get("properties", {}).keys()
        declared = table.fields(name).keys() if name in table else published
        if published != declared:
            raise ValueError(f"{name}: the sources differ in {sorted(published ^ declared)}")


def reference(schema: dict[str, Any]) -> str:
    """The type that a schema refers to: at once, or as the only member of allOf, where it has a default."""
    if len(schema.get("allOf", ())) == 1:
        schema = schema["allOf"][0]
    reference: str = schema.get("$ref", "")
    return name_of(reference.rpartition("/")[2])


def name_of(key: str) -> str:
    """The name of a published type in the types table: those of groups other than core carry the group's first word."""
    *package, name = key.split(".")
    group = package[3] if package[:3] == ["io", "k8s", "api"] else "core"
    if package[2] in _OWN_SERVERS:
        group = package[5]
    if package[-1] == "v2":
        group = f"{group}.v2"
    # The types that a Job borrows from scheduling.k8s.io/v1alpha3 stand in the table without a group.
    return name if group == "core" or package[-1] == "v1alpha3" else f"{group}.{name}"


if __name__ == "__main__":
    main()
