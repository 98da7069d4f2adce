"""Arithmetic with the ranges of 64-bit numbers, and numbers from and to text as Go does."""

from __future__ import annotations

import math
import re
from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload
from podstrat.cel.values import Duration, Timestamp, UInt

_INT = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)([eE][+-]?[0-9]++)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)


def checked(value: int) -> int:
    if value in values.INT:
        return value
    raise EvaluationError("integer overflow")


def _unsigned(value: int) -> UInt:
    if value in values.UINT:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def _kind(a: Any, b: Any) -> type:
    """The type that both operands have; operands of different types have no overload."""
    if type(a) is not type(b):
        raise no_such_overload()
    return type(a)


def add(a: Any, b: Any) -> Any:
    if isinstance(a, list) and isinstance(b, list):
        return a + b
    match a, b:
        case (Timestamp(), Duration()) | (Duration(), Timestamp()):
            return Timestamp(a.nanoseconds + b.nanoseconds)
        case Duration(), Duration():
            return Duration(checked(a.nanoseconds + b.nanoseconds))
    kind = _kind(a, b)
    if kind is int:
        return checked(a + b)
    if kind is UInt:
        return _unsigned(a + b)
    if kind in (str, float, bytes):
        return a + b
    raise no_such_overload()


def subtract(a: Any, b: Any) -> Any:
    match a, b:
        case (Timestamp(), Timestamp()) | (Duration(), Duration()):
            return Duration(checked(a.nanoseconds - b.nanoseconds))
        case Timestamp(), Duration():
            return Timestamp(a.nanoseconds - b.nanoseconds)
    kind = _kind(a, b)
    if kind is int:
        return checked(a - b)
    if kind is UInt:
        return _unsigned(a - b)
    if kind is float:
        return a - b
    raise no_such_overload()


def multiply(a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind is int:
        return checked(a * b)
    if kind is UInt:
        return _unsigned(a * b)
    if kind is float:
        return a * b
    raise no_such_overload()


def divide(a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind is float:
        if b:
            return a / b
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    if kind not in (int, UInt):
        raise no_such_overload()
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return UInt(quotient) if kind is UInt else checked(quotient if (a < 0) == (b < 0) else -quotient)


def modulo(a: Any, b: Any) -> Any:
    kind = _kind(a, b)
    if kind not in (int, UInt):
        raise no_such_overload()
    if b == 0:
        raise EvaluationError("modulus by zero")
    rest = abs(a) % abs(b)
    return UInt(rest) if kind is UInt else (-rest if a < 0 else rest)


def negate(value: Any) -> Any:
    if type(value) is int:
        return checked(-value)
    if type(value) is float:
        return -value
    raise no_such_overload()


def string_to_int(text: str) -> int | None:
    """Go's strconv.ParseInt in base 10; None if the text is not a number. At most 20 characters can be in range."""
    return int(text) if len(text) <= 20 and _INT.fullmatch(text) else None


def string_to_double(text: str) -> float | None:
    return float(text) if _DOUBLE.fullmatch(text) else None


def double_text(value: float) -> str:
    """Go's %g: the shortest digits that give the same number, with an exponent below -4 and from 6 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)  # digits before the decimal point
    digits = digits.rstrip("0") or "0"
    power = point - 1
    if power < -4 or power >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if len(digits) <= point:
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


FUNCTIONS = {"_+_": add, "_-_": subtract, "_*_": multiply, "_/_": divide, "_%_": modulo, "-_": negate}
