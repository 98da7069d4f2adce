"""Conversion of a strategic merge result to its type: not JSON decoding, but conversion with rules of its own.

Numbers are converted as Go converts them: a float without a fraction is an integer, and an integer that is too long for its
field loses its upper bits. The first fault in the order of the fields counts, and its text does not say where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.strategy.api.types import SPECIAL
from podstrat.strategy.decoding import values
from podstrat.strategy.decoding.walk import DecodeError, described
from podstrat.strategy.formats import times

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Field, Types

_BITS = {"int32": 32, "int64": 64}
_KINDS = {dict: "map", list: "slice", str: "string", bool: "bool", int: "int64", float: "float64"}
_INSTANTS = {"Time": times.parse, "MicroTime": times.micro}
_LEAST_INT64 = -(1 << 63)


class Unconvertible(Exception):
    """A value that does not fit its field; ``message`` is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def convert(
    patched: dict[str, Any], stored: dict[str, Any], types: Types, type_name: str = "Pod"
) -> tuple[dict[str, Any], list[str]]:
    """The patched object with every value fit for its field, and the fields that there are not, which it has lost.

    Parts that are the stored object's own are not looked at again.
    Upstream: DefaultUnstructuredConverter.FromUnstructuredWithValidation
    """
    walk = _Walk(types)
    value = walk.struct(patched, stored, type_name, "")
    return value, [f'unknown field "{path}"' for path in sorted(walk.unknown)]


class _Walk:
    def __init__(self, types: Types) -> None:
        self.types = types
        self.unknown: list[str] = []

    def struct(self, value: Any, stored: Any, type_name: str, at: str) -> Any:
        if not isinstance(value, dict):
            raise Unconvertible(f"cannot restore struct from: {_KINDS[type(value)]}")
        fields = self.types.fields(type_name)
        before = stored if isinstance(stored, dict) else {}
        changed = [name for name, member in value.items() if name not in before or member is not before[name]]
        if not changed:
            return value
        result = dict(value)
        names = set(changed)
        for name, field in fields.items():
            if name in names:
                path = f"{at}.{name}" if at else name
                result[name] = self.field(value[name], before.get(name), field, path)
        for name in changed:
            if name not in fields:
                self.unknown.append(f"{at}.{name}" if at else name)
                del result[name]
        return result

    def field(self, value: Any, stored: Any, field: Field, at: str) -> Any:
        if value is None:
            return None
        if field.shape == "value":
            return self.one(value, stored, field.type, field.go_type, at)
        if field.shape == "map":
            if not isinstance(value, dict):
                raise Unconvertible(f"cannot restore map from {_KINDS[type(value)]}")
            return {name: self.one(value[name], None, field.type, field.go_element, at) for name in sorted(value)}
        return self.items(value, stored, field, at)

    def items(self, value: Any, stored: Any, field: Field, at: str) -> list[Any]:
        if not isinstance(value, list):
            raise Unconvertible(f"cannot restore slice from {_KINDS[type(value)]}")
        by_id = {id(item): item for item in stored} if isinstance(stored, list) else {}
        merged = {_key(item, field): item for item in by_id.values()}
        return [
            item
            if id(item) in by_id
            else self.one(item, merged.get(_key(item, field)), field.type, field.go_element, f"{at}[{i}]")
            for i, item in enumerate(value)
        ]

    def one(self, value: Any, stored: Any, type_name: str, go_type: str, at: str) -> Any:
        if value is None:
            return None
        if type_name in _BITS:
            return _integer(value, type_name, go_type)
        if type_name == "string":
            if not isinstance(value, str):
                raise _unfit(value, type_name, go_type, convertible=type(value) is int)
            return value
        if type_name == "bool":
            if not isinstance(value, bool):
                raise _unfit(value, type_name, go_type, convertible=False)
            return value
        if type_name in SPECIAL:
            return _special(value, type_name)
        return self.struct(value, stored, type_name, at)


def _key(item: Any, field: Field) -> str | int | None:
    """What an item of a list is merged by: a stored item with the same key may share its parts."""
    key = item.get(field.merge_key) if isinstance(item, dict) else None
    return key if isinstance(key, (str, int)) else None


def _unfit(value: Any, type_name: str, go_type: str, *, convertible: bool) -> Unconvertible:
    """Go has a conversion from integers to strings, though not one that is wanted here; that is said in other words."""
    if convertible:
        return Unconvertible(f"cannot convert {_KINDS[type(value)]} to {go_type}")
    return Unconvertible(f"unrecognized type: {type_name}")


def _integer(value: Any, type_name: str, go_type: str) -> int:
    if isinstance(value, float):
        if not value.is_integer():
            raise _unfit(value, type_name, go_type, convertible=True)
        value = int(value)
        if not _LEAST_INT64 <= value < -_LEAST_INT64:
            value = _LEAST_INT64
    elif type(value) is not int:
        raise _unfit(value, type_name, go_type, convertible=False)
    half = 1 << (_BITS[type_name] - 1)
    return int((value + half) % (2 * half) - half)


def _special(value: Any, type_name: str) -> Any:
    """Types with a JSON form of their own are read from their JSON, each in its place."""
    if type_name in _INSTANTS:
        if not isinstance(value, str):
            raise Unconvertible(f"json: cannot unmarshal {described(value)} into Go value of type string")
        try:
            _INSTANTS[type_name](value)
        except times.TimeError as error:
            raise Unconvertible(error.message) from None
    if type_name == "Quantity":
        try:
            values.quantity_text(value)
        except DecodeError as error:
            raise Unconvertible(str(error)) from None
    if type_name != "IntOrString" or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    if type(value) is int and -(1 << 31) <= value < 1 << 31:
        return value
    text = described(value)
    if text == "number":
        text += f" {value}"
    raise Unconvertible(f"json: cannot unmarshal {text} into Go value of type int32")
