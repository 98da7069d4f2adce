"""How Go's fmt prints values that came from JSON: the ``%v`` and ``%s`` of maps, lists and scalars."""

from __future__ import annotations

from typing import Any

NIL = "%!s(<nil>)"

go_types = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): NIL,
}
"""What Go calls the type of a value that came from JSON; nil has no type, and prints so."""


def plain(value: Any) -> str:
    """The value as ``%v`` prints it: keys sorted, strings bare."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    return _scalar(value)


def text(value: Any) -> str:
    """The value as ``%s`` prints it: a value that is not a string is marked as the wrong kind."""
    if isinstance(value, str):
        return value
    if value is None:
        return NIL
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(text, value))}]"
    return f"%!s({go_types[type(value)]}={_scalar(value)})"


def _scalar(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _float(value)


def _float(number: float) -> str:
    """Go's ``%g`` with the fewest digits: an exponent below 1e-04 and from 1e+06 on, where Python waits for 1e+16."""
    mantissa, exponent = f"{number!r}", ""
    if "e" in mantissa:
        mantissa, exponent = mantissa.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return f"{sign}0"
    leading = len(whole + fraction) - len(digits)
    power = len(whole) - leading - 1 + int(exponent or 0)
    digits = digits.rstrip("0")
    if power < -4 or power >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{power:+03d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    digits = digits.ljust(power + 1, "0")
    tail = digits[power + 1 :]
    return f"{sign}{digits[: power + 1]}{'.' + tail if tail else ''}"
