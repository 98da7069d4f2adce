"""OpenAPI schemas: of pods and of kinds without rules as kube-apiserver publishes them, others made from the types table."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from podstrat.apiserver import type_table
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.publishing import descriptions
from podstrat.strategy.api import types
from podstrat.strategy.api.types import Field

Schema = dict[str, Any]

_PUBLISHED: Final = Path(__file__).with_name("published")
_PREFIX: Final = "#/components/schemas/"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_GVK: Final = "x-kubernetes-group-version-kind"

# Groups whose types are in the repository of a server of their own.
_OWN_SERVERS: Final = {"apiextensions": "apiextensions-apiserver", "apiregistration": "kube-aggregator"}
# Types that are not in the schemas of pods and are not of the core group, though their names do not say so.
_ELSEWHERE: Final = {
    "Condition": f"{_META}.Condition",
    "GroupResource": f"{_META}.GroupResource",
    "FieldSelectorRequirement": f"{_META}.FieldSelectorRequirement",
    "JSONSchemaProps": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
    "MicroTime": f"{_META}.MicroTime",
    "RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
}
_SCALARS: Final[dict[str, Schema]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "bytes": {"type": "string", "format": "byte"},
    "[]string": {"type": "array", "items": {"type": "string"}},
}
_ZERO: Final = {"string": "", "bool": False, "int32": 0, "int64": 0}
_OWN_FORM: Final[dict[str, Schema]] = {
    "MicroTime": {"type": "string", "format": "date-time"},
    "RawExtension": {"type": "object"},
    # Not spelled out: a schema holds schemas.
    "JSONSchemaProps": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}


class Schemas:
    """The schemas of one release."""

    def __init__(self, release: str) -> None:
        self._types = types.load(release)
        self._others = type_table.complete(self._types)
        of_pods = _read(_PUBLISHED / f"openapi-{release}.json.gz")
        self._published: dict[str, Schema] = {**_read(type_table.FOLDER / f"openapi-{release}.json.gz"), **of_pods}
        self._names = {name.rpartition(".")[2]: name for name in of_pods}

    def name(self, type_name: str) -> str:
        """What a type is called in the documents: ``io.k8s.api.core.v1.Pod``."""
        group, _, short = type_name.rpartition(".")
        if group in _OWN_SERVERS:
            return f"io.k8s.{_OWN_SERVERS[group]}.pkg.apis.{group}.v1.{short}"
        if group:
            return f"io.k8s.api.{group}.{short}" if group.endswith(".v2") else f"io.k8s.api.{group}.v1.{short}"
        return self._names.get(short) or _ELSEWHERE.get(short) or f"io.k8s.api.core.v1.{short}"

    def ref(self, type_name: str) -> Schema:
        return {"$ref": _PREFIX + self.name(type_name)}

    def components(self, type_names: Iterable[str], lists: Iterable[Kind]) -> dict[str, Schema]:
        """The schemas of some types and lists, and of every type that they mention."""
        listed = {self.name(f"{each.type_name}List"): each for each in lists}
        components = {name: self._published.get(name) or self._list(kind) for name, kind in listed.items()}
        todo = [self.name(each) for each in type_names] + [name for schema in components.values() for name in _mentioned(schema)]
        by_name = self._by_name()
        while todo:
            name = todo.pop()
            if name not in components:
                components[name] = self._schema(name, by_name[name])
                todo += _mentioned(components[name])
        return dict(sorted(components.items()))

    def _by_name(self) -> dict[str, str]:
        """The name in the types table of every schema."""
        return {self.name(each): each for each in (*self._others, *_OWN_FORM)} | {
            name: short for short, name in self._names.items() if short not in self._types
        }

    def _schema(self, name: str, type_name: str) -> Schema:
        schema = self._published.get(name) or _OWN_FORM.get(type_name) or self._made(type_name)
        return descriptions.described(schema, type_name)

    def _made(self, type_name: str) -> Schema:
        fields = self._others.fields(type_name)
        schema: Schema = {"type": "object", "properties": {name: self._property(each) for name, each in sorted(fields.items())}}
        if required := [name for name, each in sorted(fields.items()) if _is_required(each)]:
            schema["required"] = required
        return schema

    def _property(self, field: Field) -> Schema:
        schema = self._value(field)
        if field.shape == "list":
            schema |= _merged(field)
        if field.patch_strategy:
            schema["x-kubernetes-patch-strategy"] = field.patch_strategy
        if field.merge_key:
            schema["x-kubernetes-patch-merge-key"] = field.merge_key
        return schema

    def _value(self, field: Field) -> Schema:
        one = _SCALARS.get(field.type) or self.ref(field.type)
        if field.shape == "list":
            return {"type": "array", "items": one}
        if field.shape == "map":
            return {"type": "object", "additionalProperties": one}
        if field.type in _SCALARS:
            return {**one, "default": _ZERO[field.type]} if _is_required(field) and field.type in _ZERO else dict(one)
        # What stands beside a reference would not be seen.
        schema: Schema = {"allOf": [one]}
        if not field.pointer and field.type not in types.SPECIAL:
            schema["default"] = {}
        return schema

    def _list(self, kind: Kind) -> Schema:
        text = {"type": "string"}
        schema: Schema = {
            "type": "object",
            "description": f"A list of objects of the kind {kind.kind}.",
            "properties": {
                "apiVersion": text,
                "items": {"type": "array", "items": self.ref(kind.type_name)},
                "kind": text,
                "metadata": {"allOf": [self.ref("ListMeta")], "default": {}},
            },
            "required": ["items"],
        }
        return with_kind(schema, kind.group, kind.version, kind.list_kind)


def _read(path: Path) -> dict[str, Schema]:
    schemas: dict[str, Schema] = json.loads(gzip.decompress(path.read_bytes()))
    return schemas


@cache
def load(release: str) -> Schemas:
    """The schemas of a release. Every caller gets the same object."""
    return Schemas(release)


def with_kind(schema: Schema, group: str, version: str, kind: str) -> Schema:
    """A schema that says which kind it is of."""
    return {**schema, _GVK: [{"group": group, "kind": kind, "version": version}]}


def _is_required(field: Field) -> bool:
    return not (field.omitempty or field.omitzero or field.pointer)


def _merged(field: Field) -> Schema:
    """How changes of a list by several writers go together."""
    if field.merge_key:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field.merge_key]}
    return {"x-kubernetes-list-type": "set" if field.patch_strategy == "merge" else "atomic"}


def _mentioned(schema: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix(_PREFIX)
            else:
                yield from _mentioned(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _mentioned(each)
