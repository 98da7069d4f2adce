"""The JSON parser: what Python's json accepts and the server does not is refused with the server's error.

Ordinary texts go through the standard library. Whatever it refuses, and the few things it reads too kindly for us to see what the
server sees (repeated keys, escaped digits, half surrogates), go through a slower reader of our own (decoding.json_reader).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

BAD_BYTES: Final = "[\udc80-\udcff]"
"""What a byte that is no UTF-8 is read as."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPED_AMOUNT: Final = re.compile(rb'"[-+0-9.eEinumkKMGTP ]*\\u')


class JSONError(Exception):
    """A text that is not JSON; ``message`` is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Number(float):
    """A number with a fraction or an exponent, or too long to be an int; ``text`` is how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


class MinusZero(int):
    """The integer ``-0``, which a quantity remembers."""

    text = "-0"


class Escaped(str):
    """A string that was written with an escape: a quantity may not be."""

    __slots__ = ()


class Pairs(dict[str, Any]):
    """An object in which a key is repeated. As a dict it holds the last values; ``pairs`` and ``items()`` have all, in order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        return self.pairs


def parse(body: bytes) -> Any:
    """The value of a JSON text.

    Objects with repeated keys are ``Pairs``, numbers other than integers ``Number``; everything else is what json.loads gives.
    Upstream: json.Unmarshal, to the words of its syntax errors
    """
    try:
        if not _hides_something(body):
            return _UNIQUE.decode(body.decode())
    except (ValueError, RecursionError):
        pass
    from podstrat.strategy.decoding.json_reader import Reader  # here: most texts do without it

    return Reader(body).read()


def ordinary(body: bytes) -> tuple[Any, int]:
    """The standard library's reading of a text, and how many keys stand in it; ValueError if that might hide something.

    A value with fewer keys had some repeated. How a number was written is not told: ``-0`` is 0.
    """
    keys = -1 if _hides_something(body) else _keys(body)
    if keys < 0:
        raise ValueError("ambiguous")
    return json.loads(body.decode()), keys


def number_text(number: float) -> str:
    """A number as it is or would be written in JSON."""
    if isinstance(number, (Number, MinusZero)):
        return number.text
    if isinstance(number, float):
        return float.__repr__(number)
    try:
        return int.__repr__(number)
    except ValueError:  # more digits than Python prints by itself
        from decimal import Decimal

        return str(Decimal(number))


def text(body: bytes) -> str:
    """A text with U+FFFD for each byte that is no UTF-8."""
    return re.sub(BAD_BYTES, "\ufffd", body.decode("utf-8", "surrogateescape"))


def _hides_something(body: bytes) -> bool:
    """Whether the quick way would hide something: half a surrogate, or an escape in what could be a quantity."""
    if b"\\" not in body or b"\\u" not in body:
        return False
    return bool(_SURROGATE.search(body) or _ESCAPED_AMOUNT.search(body))


def _keys(body: bytes) -> int:
    """How many keys a JSON text has, each followed by a colon at once; -1 if that is not so easily told.

    In a string a quote before a colon is escaped, so that those without a backslash end a key; but a key may end in a backslash.
    """
    for blank in _BLANKS:
        if blank in body and blank + b":" in body:
            return -1
    if b"\\" not in body:
        return body.count(b'":')
    return -1 if b'\\\\":' in body else body.count(b'":') - body.count(b'\\":')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated key")
    return members


def integer(text: str) -> int:
    return MinusZero() if text == "-0" else int(text)


def _refused(text: str) -> NoReturn:
    raise ValueError(text)  # NaN, Infinity and -Infinity are not JSON


_BLANKS: Final = (b" ", b"\n", b"\t", b"\r")
_UNIQUE: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=Number, parse_int=integer, parse_constant=_refused)
