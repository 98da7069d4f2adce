"""How Go prints values: the quoting of ``%q`` and the JSON of ``encoding/json``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONG = 4000  # more digits than that are not worth reading
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", '"': r"\"", "\\": r"\\"}
_HTML = {ord("<"): r"\u003c", ord(">"): r"\u003e", ord("&"): r"\u0026", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def quote(text: str) -> str:
    """The text as Go's ``%q`` prints it."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    # The no-break space and its like are not printable to Go, nor to Python; the plain space is to both.
    if char.isprintable():
        return char
    number = ord(char)
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def to_json(value: Any, indent: str | None = None, sort_keys: bool = False) -> str:
    """The value as ``json.Marshal`` writes it: compact, ``<``, ``>`` and ``&`` escaped; maps have their keys sorted."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(value, ensure_ascii=False, separators=separators, indent=indent, sort_keys=sort_keys).translate(_HTML)


def joined(parts: list[str], show: Callable[[str], str] = quote) -> str:
    """Several texts as one list in a sentence: ``"a", "b"``."""
    return ", ".join(map(show, parts))


def parse_int64(text: str) -> int | str:
    """The number that ``strconv.ParseInt`` reads in base 10, or its words if there is none."""
    if not _INTEGER.fullmatch(text):
        return f"strconv.ParseInt: parsing {quote(text)}: invalid syntax"
    number = int(text) if len(text) < _LONG else 2**64
    if not -(2**63) <= number < 2**63:
        return f"strconv.ParseInt: parsing {quote(text)}: value out of range"
    return number
