"""How JSON strings were spelled: a ``test`` operation compares JSON texts, and ``"<"`` is not ``"\\u003c"``.

Go writes the stored object its own way, so a patch that tests a string with ``<``, ``>`` or ``&``, or spells a letter as an
escape, may fail although the value is the same. To be compared so, both sides are turned into *spelled* values, in which
each string is the text between its quotes; member names stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

from podstrat.strategy.decoding import jsontext
from podstrat.strategy.formats import go

_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_MATTERS = re.compile(rb"[\\<>&]|\xe2\x80[\xa8\xa9]")


def matters(body: bytes) -> bool:
    """Whether a JSON patch could compare a string that can be spelled in two ways."""
    return b'"test"' in body and _MATTERS.search(body) is not None


def values(body: bytes) -> list[Any]:
    """The spelled values of the operations in a JSON patch, one an operation."""
    spelled = jsontext.parse(_ESCAPE.sub(_kept, body))
    return [_named(operation.get("value")) if isinstance(operation, dict) else None for operation in spelled or ()]


def _kept(escape: re.Match[bytes]) -> bytes:
    """An escape, escaped once more: so it comes out of the parser as it was written."""
    letter = escape[1]
    return rb"\\\\" if letter == b"\\" else rb"\\\"" if letter == b'"' else rb"\\" + letter


def _named(value: Any) -> Any:
    if isinstance(value, dict):
        return {read(name): _named(member) for name, member in value.items()}
    return [_named(item) for item in value] if isinstance(value, list) else value


def spelled(value: Any) -> Any:
    """A value in Go's spelling."""
    if isinstance(value, dict):
        return {name: spelled(member) for name, member in value.items()}
    if isinstance(value, list):
        return [spelled(item) for item in value]
    return go.to_json(value)[1:-1] if isinstance(value, str) else value


def read(value: Any) -> Any:
    """What a spelled value stands for."""
    if isinstance(value, dict):
        return {name: read(member) for name, member in value.items()}
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, str) and "\\" in value:
        return jsontext.parse(f'"{value}"'.encode())
    return value
