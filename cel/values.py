"""Values of expressions that JSON lacks, equality and order across types, and type names.

null, bool, int, double, string, bytes, list and map are Python's own None, bool, int, float, str, bytes, list and dict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from podstrat.cel.errors import EvaluationError, no_such_overload

INT = range(-(2**63), 2**63)
UINT = range(2**64)


class UInt(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


class Opaque:
    """A value that only functions can look into: a quantity, an IP address, a URL."""

    type_name: ClassVar[str]
    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    nanoseconds: int
    """Since 1970-01-01T00:00:00Z."""


@dataclass(frozen=True, slots=True)
class TypeValue:
    name: str


class Optional:
    """A value that may be absent: optional.of(x), optional.none()."""

    __slots__ = ("_value", "present")

    def __init__(self, present: bool = False, value: Any = None) -> None:
        self.present = present
        self._value = value

    def value(self) -> Any:
        if not self.present:
            raise EvaluationError("optional.none() dereference")
        return self._value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optional):
            return NotImplemented
        return self.present == other.present and equal(self._value, other._value)

    def __hash__(self) -> int:
        return hash(self.present)


NONE = Optional()


class StructValue(dict[str, Any]):
    """An object of a declared type, made by `Type{field: value}`."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.type_name = type_name


class LazyMap(dict[str, Any]):
    """A map whose values are computed when they are first read, each once: `variables`."""

    __slots__ = ("_makers",)

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        super().__init__()
        self._makers = makers

    def __missing__(self, key: str) -> Any:
        value = self[key] = self._makers[key]()
        return value


_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    LazyMap: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Optional: "optional_type",
}


def type_name(value: Any) -> str:
    """The name of a value's type at run time."""
    return _NAMES.get(type(value)) or str(value.type_name)


_PLAIN = frozenset({str, int, float, bool, type(None), bytes})
_NUMBERS = frozenset({int, float, UInt})


def equal(a: Any, b: Any) -> bool:
    """`==`: values of different types differ, except that numbers compare by value."""
    kind, other = type(a), type(b)
    if kind is other and kind in _PLAIN:
        return bool(a == b)
    if kind in _NUMBERS and other in _NUMBERS:
        return bool(a == b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(key in b and equal(value, b[key]) for key, value in a.items())
    return kind is other and bool(a == b)


_ORDERED = frozenset({str, bytes, bool, Duration, Timestamp})


def compare(a: Any, b: Any) -> int:
    """-1, 0 or 1; numbers of different types compare by value."""
    kind, other = type(a), type(b)
    if (kind in _NUMBERS and other in _NUMBERS) or (kind is other and kind in _ORDERED):
        return int(a > b) - int(a < b)
    raise no_such_overload()


def contains(items: Any, value: Any) -> bool:
    """`value in items`: an element of a list, a key of a map."""
    if isinstance(items, dict):
        return type(value) in _PLAIN and value in items
    if isinstance(items, list):
        return any(equal(item, value) for item in items)
    raise no_such_overload()
