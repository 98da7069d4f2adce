"""CEL types of schemas, and custom objects as values of expressions."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

from podstrat.cel import BOOL, DYN, INT, STRING, Type, list_of, map_of
from podstrat.cel.library import times
from podstrat.cel.types import BYTES, DOUBLE, DURATION, TIMESTAMP
from podstrat.strategy.crds.compiled import Node

Object = dict[str, Any]
Objects = dict[str, dict[str, Type]]
"""The object types of a schema by name: their fields."""

_SCALARS: Final = {"boolean": BOOL, "number": DOUBLE, "integer": INT, "string": STRING}
_STRINGS: Final = {"byte": BYTES, "duration": DURATION, "date": TIMESTAMP, "date-time": TIMESTAMP, "datetime": TIMESTAMP}
_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"),
        *("loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_ESCAPES: Final = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def escaped(name: str) -> str:
    """A property as expressions name it; "" if they cannot.

    Upstream: cel.Escape
    """
    if name in _RESERVED:
        return f"__{name}__"
    for plain, spelled in _ESCAPES:
        name = name.replace(plain, spelled)
    return name if _IDENTIFIER.fullmatch(name) else ""


def type_of(node: Node, objects: Objects, at: str = "selfType") -> Type | None:
    """The type of the values of a node; None for values that expressions cannot look at. Object types are added to ``objects``.

    Upstream: SchemaDeclType
    """
    if node.int_or_string:
        return DYN
    if node.type == "array":
        element = None if node.items is None else type_of(node.items, objects, f"{at}.items")
        return None if element is None else list_of(element)
    if node.type == "object":
        if node.additional is not None:
            value = type_of(node.additional, objects, f"{at}.values")
            return None if value is None else map_of(STRING, value)
        return _object(node, objects, at)
    if node.type == "string" and node.format in _STRINGS:
        return _STRINGS[node.format]
    return _SCALARS.get(node.type)


def _object(node: Node, objects: Objects, at: str) -> Type:
    fields: dict[str, Type] = {}
    for name, inner in node.properties.items():
        name_in_cel = escaped(name)
        kind = type_of(inner, objects, f"{at}.{name_in_cel}") if name_in_cel else None
        if kind is not None:
            fields[name_in_cel] = kind
    if node.embedded:
        metadata = f"{at}.metadata"
        objects[metadata] = {"name": STRING, "generateName": STRING}
        fields |= {"apiVersion": STRING, "kind": STRING, "metadata": Type(metadata)}
    objects[at] = fields
    return Type(at)


def value_of(value: Any, node: Node | None) -> Any:
    """A value as expressions see it: properties by their escaped names, strings of some formats parsed.

    Upstream: common.UnstructuredToVal
    """
    if node is None or value is None:
        return value
    if isinstance(value, dict):
        if node.additional is not None:
            return {key: value_of(item, node.additional) for key, item in value.items()}
        fields = {escaped(name): value_of(value[name], inner) for name, inner in node.properties.items() if name in value}
        if node.embedded:
            fields |= {key: value[key] for key in ("apiVersion", "kind", "metadata") if key in value}
        return fields
    if isinstance(value, list):
        return [value_of(item, node.items) for item in value]
    if isinstance(value, str) and node.format in _STRINGS and node.type == "string":
        return _parsed(value, _STRINGS[node.format])
    if isinstance(value, int) and not isinstance(value, bool) and node.type == "number":
        return float(value)
    if isinstance(value, float) and node.type == "integer" and value.is_integer():
        return int(value)
    return value


def _parsed(text: str, kind: Type) -> Any:
    """A string of a format; what cannot be parsed stays, and fails in the expression."""
    if kind is BYTES:
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error:
            return text
    if kind is DURATION:
        result: Any = times.parse_duration(text)
    else:
        result = times.parse_timestamp(text if "T" in text.upper() else f"{text}T00:00:00Z")
    return text if result is None else result
