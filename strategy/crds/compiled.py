"""Schemas compiled into nodes: what pruning, defaulting, validation and server-side apply walk. Compiled once per definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from podstrat.strategy.context import Version
from podstrat.strategy.crds import string_formats

Object = dict[str, Any]

META_FIELDS: Final = frozenset(("apiVersion", "kind", "metadata"))


class Node:
    """One schema, ready for walking. ``below`` flags speak of the node and everything under it."""

    __slots__ = (
        "additional",
        "any_value",
        "checks",
        "default",
        "defaults_below",
        "embedded",
        "embeds_below",
        "format",
        "has_additional",
        "has_default",
        "int_or_string",
        "items",
        "junctors",
        "keys",
        "list_type",
        "lists_below",
        "map_type",
        "matches",
        "nullable",
        "number_format",
        "preserves",
        "programs",
        "properties",
        "required",
        "rules",
        "rules_below",
        "schema",
        "type",
        "types",
    )

    def __init__(self, schema: Object, version: Version, *, root: bool = False) -> None:
        self.schema = schema
        self.type: str = schema.get("type", "")
        self.int_or_string = bool(schema.get("x-kubernetes-int-or-string"))
        self.types: tuple[str, ...] = ("integer", "string") if self.int_or_string else (self.type,) if self.type else ()
        self.nullable = bool(schema.get("nullable"))
        self.preserves = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = root or bool(schema.get("x-kubernetes-embedded-resource"))
        self.list_type: str = schema.get("x-kubernetes-list-type", "")
        self.keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        self.map_type: str = schema.get("x-kubernetes-map-type", "")
        self.rules: tuple[Object, ...] = tuple(schema.get("x-kubernetes-validations", ()))
        self.programs: Any = None
        """The rules compiled, once they are: strategy.crds.cel_programs."""
        self.has_default = schema.get("default") is not None
        self.default = schema.get("default")
        self.properties = {name: Node(inner, version) for name, inner in schema.get("properties", {}).items()}
        items, additional = schema.get("items"), schema.get("additionalProperties")
        self.items = Node(items, version) if isinstance(items, dict) else None
        self.additional = Node(additional, version) if isinstance(additional, dict) else None
        self.has_additional = additional is not None and additional is not False
        self.any_value = additional is not False
        self.required: tuple[str, ...] = tuple(schema.get("required", ()))
        self._compile_values(schema, version)
        self._note_below()

    def _compile_values(self, schema: Object, version: Version) -> None:
        self.format: str = schema.get("format", "")
        self.matches: Callable[[str], bool] | None = string_formats.check(self.format, version) if self.format else None
        self.number_format = string_formats.of_number(self.format, version)
        self.checks = any(key in schema for key in _VALUE_KEYS)
        junctors: dict[str, list[Node]] = {}
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                junctors[key] = [Node(each, version) for each in schema[key]]
        if "not" in schema:
            junctors["not"] = [Node(schema["not"], version)]
        self.junctors = junctors or None

    def _note_below(self) -> None:
        inner = self.children
        self.defaults_below: bool = self.has_default or any(each.defaults_below for each in inner)
        self.embeds_below: bool = self.embedded or any(each.embeds_below for each in inner)
        self.lists_below: bool = self.list_type in ("set", "map") or any(each.lists_below for each in inner)
        self.rules_below: bool = bool(self.rules) or any(each.rules_below for each in inner)

    @property
    def children(self) -> list[Node]:
        return [*self.properties.values(), *filter(None, (self.items, self.additional))]

    def member(self, name: str) -> Node | None:
        """The node of a key of an object: of a property, or of any other key."""
        return self.properties.get(name) or self.additional


_VALUE_KEYS: Final = (
    "maximum",
    "minimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "enum",
)
