"""List types, map types and merge keys from the published OpenAPI schemas."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Field, Types
    from podstrat.strategy.patch.fieldset import Tree

_TABLES: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "api", "tables")

SCALAR, ANY, OBJECT, MAP, LIST, SET, KEYED = "scalar", "any", "object", "map", "list", "set", "keyed"
"""The forms of a value. LIST is a list that is owned as one value; a SET is told apart by its items, KEYED by keys in them."""

NO_DEFAULT: Final = object()

_SCALARS: Final = {
    "string": "string",
    "bytes": "string",
    "bool": "boolean",
    "int32": "numeric",
    "int64": "numeric",
    "Time": "untyped",
    "MicroTime": "untyped",
    "Quantity": "untyped",
    "IntOrString": "untyped",
}
_ZERO: Final = {"string": "", "int32": 0, "int64": 0, "bool": False}
_MOST_LAYOUTS: Final = 256  # sets of keys that are kept: manifests have a few dozen


class Layout(NamedTuple):
    """What the fields of an object, or the keys of a map of scalars, come to, for one list of names."""

    owned: Tree
    """The node of the object and of its fields, as if each were owned as one value; shared, so never changed."""
    inner: tuple[tuple[str, str, Node], ...]
    """Name, path element and node of those that are not owned as one value."""
    omitted: tuple[str, ...]
    """The names of those that are left out when they are empty."""


class Node:
    """What may stand in one place of an object, and how it merges."""

    __slots__ = ("deduced", "element", "fields", "form", "key", "keys", "layouts", "leaf", "named", "omitted", "scalar")

    def __init__(self, form: str, *, leaf: bool = False, scalar: str = "", element: Node | None = None) -> None:
        self.form = form
        self.leaf = leaf
        """Whether the value is owned as one: a scalar, or a list, map or object that the schema calls atomic."""
        self.scalar = scalar
        """string, boolean, numeric, or untyped for any of them."""
        self.element = element
        """What the items of a list or the values of a map are; of an object, its fields that are not declared."""
        self.deduced = False
        """Whether the schema leaves open what the value is: maps merge, all else is owned as one."""
        self.named = form == OBJECT or (form == MAP and element is not None and element.leaf)
        """Whether the names of its fields or keys are all that its layout depends on."""
        self.fields: dict[str, Node] = {}
        """What the fields of an object are."""
        self.keys: tuple[tuple[str, Any], ...] = ()
        """The fields that tell items apart, in the order of their names, each with what it is where it is left out."""
        self.key: tuple[str, Any] | None = None
        """The one of them, where there is only one."""
        self.omitted = frozenset[str]()
        """The lists and maps among the fields of an object that are left out when they are empty."""
        self.layouts: dict[tuple[str, ...], Layout] = {}
        """By the names of the fields or keys, in the order in which they stand there; what has been asked for lately."""

    def member(self, name: str) -> Node | None:
        """What a field of an object or a key of a map is; None if it is not declared."""
        return self.fields.get(name, self.element)

    def layout(self, names: tuple[str, ...]) -> Layout:
        """What fields or keys of these names come to."""
        if len(self.layouts) >= _MOST_LAYOUTS:
            self.layouts.clear()
        inner = ((name, f"f:{name}", self.member(name)) for name in names)
        layout = self.layouts[names] = Layout(
            {".": {}, **{f"f:{name}": {} for name in sorted(names)}},
            tuple((name, element, node) for name, element, node in inner if node is not None and not node.leaf),
            tuple(name for name in names if name in self.omitted),
        )
        return layout


class Schema:
    """The nodes of a release's types, made when first asked for."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._words: dict[str, dict[str, str]] = {**_table(types.release), **types.lists}
        self._objects: dict[str, Node] = {}

    def object(self, type_name: str) -> Node:
        """The objects of a type, by its name in the types table."""
        node = self._objects.get(type_name)
        if node is None:
            words = self._words.get(type_name, {})
            node = self._objects[type_name] = Node(OBJECT, leaf=words.get("") == "atomic")
            fields = self._types.fields(type_name).values()
            node.fields = {field.name: self._member(field, words.get(field.name, "")) for field in fields}
            node.omitted = frozenset(field.name for field in fields if field.shape != "value" and field.omitempty)
        return node

    def _member(self, field: Field, word: str) -> Node:
        if field.shape == "value":
            return self._value(field.type)
        if field.shape == "map":
            return Node(MAP, leaf=word == "atomic", element=self._value(field.type))
        element = self._value(field.type)
        kind, *keys = (word or self._by_strategy(field)).split(" ")
        if kind == "atomic":
            return Node(LIST, leaf=True, element=element)
        node = Node(KEYED if keys else SET, element=element)
        node.keys = tuple(sorted((name, json.loads(text) if text else NO_DEFAULT) for name, _, text in map(_split, keys)))
        node.key = node.keys[0] if len(keys) == 1 else None
        return node

    def _by_strategy(self, field: Field) -> str:
        """What a list is where the schema says nothing: as a strategic merge patch would take it.

        Upstream: schemaconv.convertArray
        """
        if "merge" not in field.patch_strategy.split(","):
            return "atomic"
        if not field.merge_key:
            return "set"
        key = self._types.fields(field.type)[field.merge_key]
        default = "" if key.omitempty or key.pointer else f"={json.dumps(_ZERO[key.type])}"
        return f"map {key.name}{default}"

    def _value(self, type_name: str) -> Node:
        if type_name in _SCALARS:
            return Node(SCALAR, leaf=True, scalar=_SCALARS[type_name])
        if type_name.startswith("[]"):
            return Node(LIST, leaf=True, element=self._value(type_name.removeprefix("[]")))
        if type_name == "FieldsV1":
            return Node(MAP, leaf=True, element=Node(ANY, leaf=True))
        # The schemas of definitions stand in a list that is owned as one.
        return Node(ANY, leaf=True) if type_name in ("RawExtension", "JSONSchemaProps") else self.object(type_name)


def _split(word: str) -> tuple[str, str, str]:
    return word.partition("=")


@lru_cache(maxsize=8)
def _table(release: str) -> dict[str, dict[str, str]]:
    with open(os.path.join(_TABLES, release, "schema.json"), "rb") as file:
        table: dict[str, dict[str, str]] = json.loads(file.read())
    return table


@lru_cache(maxsize=32)
def of(types: Types) -> Schema:
    """The schema of a release: the same object for the same types."""
    return Schema(types)
