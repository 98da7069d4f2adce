"""The standard functions and operators of CEL."""

from __future__ import annotations

from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_key, no_such_overload
from podstrat.cel.library import regex, times
from podstrat.cel.library.numbers import FUNCTIONS as NUMBERS
from podstrat.cel.library.numbers import double_text, string_to_double, string_to_int
from podstrat.cel.values import Duration, Opaque, Optional, Timestamp, TypeValue, UInt

_NUMERIC = ("int", "uint", "double")
_ORDERED = ("bool", "string", "bytes", "timestamp", "duration")
_COMPARED = [(a, a) for a in _ORDERED] + [(a, b) for a in _NUMERIC for b in _NUMERIC]
_GETTERS = "getFullYear getMonth getDayOfYear getDayOfMonth getDate getDayOfWeek getHours getMinutes getSeconds getMilliseconds"

SIGNATURES = "\n".join(
    [
        *(f"{op}({a}, {a}) -> {a}" for op in ("_+_", "_-_", "_*_", "_/_") for a in _NUMERIC),
        *(f"_%_({a}, {a}) -> {a}" for a in ("int", "uint")),
        *(f"_+_({a}, {a}) -> {a}" for a in ("string", "bytes", "list(A)", "duration")),
        "_+_(timestamp, duration) -> timestamp",
        "_+_(duration, timestamp) -> timestamp",
        "_-_(duration, duration) -> duration",
        "_-_(timestamp, duration) -> timestamp",
        "_-_(timestamp, timestamp) -> duration",
        *(f"-_({a}) -> {a}" for a in ("int", "double")),
        "!_(bool) -> bool",
        "_&&_(bool, bool) -> bool",
        "_||_(bool, bool) -> bool",
        "_?_:_(bool, A, A) -> A",
        "@not_strictly_false(bool) -> bool",
        "_==_(A, A) -> bool",
        "_!=_(A, A) -> bool",
        *(f"{op}({a}, {b}) -> bool" for op in ("_<_", "_<=_", "_>_", "_>=_") for a, b in _COMPARED),
        "@in(A, list(A)) -> bool",
        "@in(A, map(A, B)) -> bool",
        "_[_](list(A), int) -> A",
        "_[_](map(A, B), A) -> B",
        "_[_](optional_type(list(A)), int) -> optional_type(A)",
        "_[_](optional_type(map(A, B)), A) -> optional_type(B)",
        "_[?_](list(A), int) -> optional_type(A)",
        "_[?_](map(A, B), A) -> optional_type(B)",
        "_[?_](optional_type(list(A)), int) -> optional_type(A)",
        "_[?_](optional_type(map(A, B)), A) -> optional_type(B)",
        *(f"size({a}) -> int" for a in ("string", "bytes", "list(A)", "map(A, B)")),
        *(f"({a}).size() -> int" for a in ("string", "bytes", "list(A)", "map(A, B)")),
        *(f"(string).{name}(string) -> bool" for name in ("contains", "startsWith", "endsWith", "matches")),
        "matches(string, string) -> bool",
        "dyn(A) -> dyn",
        "type(A) -> type(A)",
        *(f"bool({a}) -> bool" for a in ("bool", "string")),
        *(f"int({a}) -> int" for a in ("int", "uint", "double", "string", "timestamp", "duration")),
        *(f"uint({a}) -> uint" for a in ("uint", "int", "double", "string")),
        *(f"double({a}) -> double" for a in ("double", "int", "uint", "string")),
        *(f"bytes({a}) -> bytes" for a in ("bytes", "string")),
        *(f"string({a}) -> string" for a in ("string", "bool", "int", "uint", "double", "bytes", "timestamp", "duration")),
        *(f"duration({a}) -> duration" for a in ("duration", "int", "string")),
        *(f"timestamp({a}) -> timestamp" for a in ("timestamp", "int", "string")),
        *(f"(timestamp).{name}({a}) -> int" for name in _GETTERS.split() for a in ("", "string")),
        *(f"(duration).{name}() -> int" for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")),
        "optional.of(A) -> optional_type(A)",
        "optional.ofNonZeroValue(A) -> optional_type(A)",
        "optional.none() -> optional_type(A)",
        "optional.unwrap(list(optional_type(A))) -> list(A)",
        "(list(optional_type(A))).unwrapOpt() -> list(A)",
        "(optional_type(A)).hasValue() -> bool",
        "(optional_type(A)).value() -> A",
        "(optional_type(A)).or(optional_type(A)) -> optional_type(A)",
        "(optional_type(A)).orValue(A) -> A",
    ]
)


def _not(value: Any) -> bool:
    if isinstance(value, bool):
        return not value
    raise no_such_overload()


def _index(items: Any, key: Any) -> Any:
    if isinstance(items, Optional):
        return _optional_index(items, key)
    if isinstance(items, dict):
        if isinstance(key, str | int | float) and key in items:
            return items[key]
        raise no_such_key(key)
    if not isinstance(items, list):
        raise no_such_overload()
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    if isinstance(key, bool) or not isinstance(key, int):
        raise EvaluationError(f"unsupported index type '{values.type_name(key)}' in list")
    if not 0 <= key < len(items):
        raise EvaluationError(f"index out of bounds: {key}")
    return items[key]


def _optional_index(items: Any, key: Any) -> Optional:
    if isinstance(items, Optional):
        if not items.present:
            return items
        items = items.value()
    if isinstance(items, dict):
        return Optional(True, items[key]) if key in items else values.NONE
    if isinstance(items, list):
        return Optional(True, items[key]) if 0 <= key < len(items) else values.NONE
    raise no_such_overload()


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_such_overload()


def _unfit(name: str, *args: Any) -> EvaluationError:
    return EvaluationError(f"no such overload: {name}({', '.join(map(values.type_name, args))})")


def _contains(text: Any, part: Any) -> bool:
    if type(text) is str and type(part) is str:
        return part in text
    raise _unfit("contains", text, part)


def _starts_with(text: Any, part: Any) -> bool:
    if type(text) is str and type(part) is str:
        return text.startswith(part)
    raise _unfit("startsWith", text, part)


def _ends_with(text: Any, part: Any) -> bool:
    if type(text) is str and type(part) is str:
        return text.endswith(part)
    raise _unfit("endsWith", text, part)


def _conversion_error(value: Any, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{values.type_name(value)}' to '{target}'")


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in ("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"):
        return value in ("1", "t", "T", "TRUE", "true", "True")
    raise _conversion_error(value, "bool")


def _int(value: Any) -> int:
    match value:
        case bool():
            raise _conversion_error(value, "int")
        case int() | float():
            if value != value or not -(2**63) <= value < 2**63:
                raise EvaluationError("integer overflow")
            return int(value)
        case str():
            number = string_to_int(value)
            if number is not None and number in values.INT:
                return number
        case Timestamp():
            return value.nanoseconds // 10**9
        case Duration():
            return value.nanoseconds
    raise _conversion_error(value, "int")


def _uint(value: Any) -> UInt:
    match value:
        case bool():
            raise _conversion_error(value, "uint")
        case int() | float():
            if value != value or not 0 <= value < 2**64:
                raise EvaluationError("unsigned integer overflow")
            return UInt(int(value))
        case str():
            number = string_to_int(value)
            if number is not None and number in values.UINT:
                return UInt(number)
    raise _conversion_error(value, "uint")


def _double(value: Any) -> float:
    match value:
        case bool():
            raise _conversion_error(value, "double")
        case int() | float():
            return float(value)
        case str():
            number = string_to_double(value)
            if number is not None:
                return number
    raise _conversion_error(value, "double")


def text_of(value: Any) -> str:
    """string(value)."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return double_text(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
        case Timestamp():
            return times.timestamp_text(value)
        case Duration():
            return times.duration_text(value)
        case TypeValue():
            return value.name
        case Opaque():
            return str(value)
    raise _conversion_error(value, "string")


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise _conversion_error(value, "bytes")


def _of_non_zero(value: Any) -> Optional:
    zero = value is None or value is False or value in ("", b"", [], {}) or (isinstance(value, int | float) and not value)
    return values.NONE if zero else Optional(True, value)


def _present(items: Any) -> list[Any]:
    return [item.value() for item in items if item.present]


def _or_value(value: Any, other: Any) -> Any:
    if not isinstance(value, Optional):
        raise no_such_overload()
    return value.value() if value.present else other


FUNCTIONS: dict[str, Any] = {
    **NUMBERS,
    **times.FUNCTIONS,
    "!_": _not,
    "_==_": values.equal,
    "_!=_": lambda a, b: not values.equal(a, b),
    "_<_": lambda a, b: values.compare(a, b) < 0,
    "_<=_": lambda a, b: values.compare(a, b) <= 0,
    "_>_": lambda a, b: values.compare(a, b) > 0,
    "_>=_": lambda a, b: values.compare(a, b) >= 0,
    "@in": lambda value, items: values.contains(items, value),
    "_[_]": _index,
    "_[?_]": _optional_index,
    "size": size,
    "contains": _contains,
    "startsWith": _starts_with,
    "endsWith": _ends_with,
    "matches": regex.matches,
    "dyn": lambda value: value,
    "type": lambda value: TypeValue(values.type_name(value)),
    "bool": _bool,
    "int": _int,
    "uint": _uint,
    "double": _double,
    "bytes": _bytes,
    "string": text_of,
    "optional.of": lambda value: Optional(True, value),
    "optional.ofNonZeroValue": _of_non_zero,
    "optional.none": lambda: values.NONE,
    "optional.unwrap": _present,
    "unwrapOpt": _present,
    "hasValue": lambda value: value.present,
    "value": lambda value: value.value(),
    "or": lambda value, other: value if value.present else other,
    "orValue": _or_value,
}
GROWING = frozenset({"_+_", "_==_", "_!=_", "@in", "contains", "matches", "string", "bytes", "_<_", "_>_", "_<=_", "_>=_"})
