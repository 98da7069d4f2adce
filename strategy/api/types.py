"""The API types of a release as data: every type's fields, read from the tables packaged with the engine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from podstrat.records import NamedTuple

RELEASES: Final = ("1.34", "1.35", "1.36", "1.37")

Shape = Literal["value", "list", "map"]

_TABLES: Final = os.path.join(os.path.dirname(__file__), "tables")
_LIST: Final = "[]"
_MAP: Final = "map[string]"

# Types whose JSON form is their own, and what Go calls them; every other name is a scalar or a type of the table.
_OWN_FORM: Final = {
    "Quantity": "resource.Quantity",
    "IntOrString": "intstr.IntOrString",
    "bytes": "[]uint8",
}
SCALARS: Final = frozenset(("string", "bool", "int32", "int64"))
SPECIAL: Final = frozenset((*_OWN_FORM, "Time", "MicroTime", "FieldsV1", "RawExtension", "JSONSchemaProps"))

# Named Go types of lists and maps: what their elements are.
_NAMED_ELEMENTS: Final = {"v1.ResourceList": "resource.Quantity", "v1.ExtraValue": "string"}


class Field(NamedTuple):
    """One field of a type, by its JSON name."""

    name: str
    type: str
    """The type of the value, or of the elements of a list or map: a scalar, a special type, or a name in the table."""
    shape: Shape
    pointer: bool
    omitempty: bool
    omitzero: bool
    go_type: str
    """The whole type as the server's messages print it: ``[]v1.Container``."""
    inlined_from: str
    """The Go name of the struct whose fields stand among this type's own; "" for a field of its own."""
    patch_strategy: str
    """``merge``, ``retainKeys``, ``merge,retainKeys``, ``replace`` or ""."""
    merge_key: str
    wire: str
    """Protobuf wire kind and field number: ``bytes,2``."""

    @property
    def go_element(self) -> str:
        """The Go type of an element of a list or map."""
        return go_element(self.go_type)


class Types:
    """The types of one release. Fields are read from the table's words when a type is first asked for."""

    __slots__ = ("_fields", "_words", "lists", "release", "version")

    def __init__(
        self, release: str, words: dict[str, dict[str, str]], lists: Mapping[str, dict[str, str]] = MappingProxyType({})
    ) -> None:
        self.release = release
        self.lists = lists
        """What schemas say about merging the lists of types that are not in the engine's tables."""
        self.version = version(release)
        self._words = words
        self._fields: dict[str, dict[str, Field]] = {}

    def __contains__(self, type_name: object) -> bool:
        return type_name in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __repr__(self) -> str:
        return f"Types({self.release!r})"

    def fields(self, type_name: str) -> dict[str, Field]:
        """The fields of a type by JSON name; KeyError if the release has no such type."""
        fields = self._fields.get(type_name)
        if fields is None:
            # Interned, like every name in the rules: so the same names are the same objects, and found at a glance.
            words = {sys.intern(name): text for name, text in self._words[type_name].items()}
            fields = self._fields[type_name] = {name: _field(name, text) for name, text in words.items()}
        return fields

    def with_types(
        self, words: Mapping[str, dict[str, str]], lists: Mapping[str, dict[str, str]] = MappingProxyType({})
    ) -> Types:
        """The same types with others beside them, in the words of the tables."""
        return Types(self.release, {**self._words, **words}, {**self.lists, **lists})

    def with_field(self, type_name: str, name: str, like: str) -> Types:
        """The same types with one field more, which is as another type has it."""
        return Types(
            self.release, {**self._words, type_name: {**self._words[type_name], name: self._words[like][name]}}, self.lists
        )


def load(release: str | tuple[int, int]) -> Types:
    """The types of a release, as ``"1.37"`` or ``(1, 37)``. Every caller gets the same object."""
    return _load(release if isinstance(release, str) else ".".join(map(str, release)))


@lru_cache(maxsize=len(RELEASES))
def _load(release: str) -> Types:
    if release not in RELEASES:
        raise ValueError(f"Kubernetes {release} is not supported: choose one of {', '.join(RELEASES)}")
    with open(os.path.join(_TABLES, release, "types.json"), "rb") as file:
        return Types(release, json.loads(file.read()))


def version(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)


def plain_go_type(type_name: str) -> str:
    """The Go type that follows from a name: ``[]Container`` is ``[]v1.Container``, ``apps.Deployment`` is ``v1.Deployment``."""
    for prefix in (_LIST, _MAP):
        if type_name.startswith(prefix):
            return prefix + plain_go_type(type_name.removeprefix(prefix))
    if type_name in SCALARS:
        return type_name
    return _OWN_FORM.get(type_name) or "v1." + type_name.rpartition(".")[2]


def go_element(go_type: str) -> str:
    """The Go type of the elements: ``v1.Capability`` of ``[]v1.Capability``."""
    return _NAMED_ELEMENTS.get(go_type) or go_type.partition("]")[2]


def _field(name: str, text: str) -> Field:
    type_name, *words = text.split(" ")
    tags = dict(word.partition("=")[::2] for word in words)
    shape: Shape = "value"
    base = type_name
    if type_name.startswith(_LIST):
        shape, base = "list", type_name.removeprefix(_LIST)
    elif type_name.startswith(_MAP):
        shape, base = "map", type_name.removeprefix(_MAP)
    return Field(
        name=name,
        type=base,
        shape=shape,
        pointer="*" in tags,
        omitempty="omitempty" in tags,
        omitzero="omitzero" in tags,
        go_type=tags.get("go") or plain_go_type(type_name),
        inlined_from=tags.get("in", ""),
        patch_strategy=tags.get("patch", ""),
        merge_key=tags.get("key", ""),
        wire=tags.get("wire", ""),
    )
