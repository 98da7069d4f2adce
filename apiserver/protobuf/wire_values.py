"""Values in the protobuf wire format, to be written: numbers, texts, and the types that have a message of their own."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from podstrat.apiserver.protobuf.wire import BYTES, VARINT
from podstrat.strategy.formats import times

_MASK: Final = (1 << 64) - 1
_NUMBERS: Final = frozenset(("bool", "int32", "int64"))
UNSET_IF_EMPTY: Final = frozenset(("bytes",))
"""Types that are a slice in Go: one that is not set is left out."""
_ZERO: Final[dict[str, Any]] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "Quantity": "0",
    "IntOrString": 0,
    "Time": "",
    "MicroTime": "",
}


def varint(value: int) -> bytes:
    """A number; a negative one in the two's complement of 64 bits."""
    value &= _MASK
    if value < 0x80:
        return _SMALL[value]
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL: Final = tuple(bytes((value,)) for value in range(0x80))


def tag(number: int, type_name: str) -> bytes:
    """What stands before the value of a field."""
    return varint(number << 3 | (VARINT if type_name in _NUMBERS else BYTES))


def with_length(data: bytes) -> bytes:
    return varint(len(data)) + data


def delimited(number: int, data: bytes) -> bytes:
    """A field that is a text or a message."""
    return varint(number << 3 | BYTES) + with_length(data)


def zero(type_name: str) -> Any:
    """The value of a field that is not a pointer and not set."""
    return _ZERO.get(type_name, {})


def _text(value: str) -> bytes:
    return with_length(value.encode("utf-8", "replace"))


def _quantity(value: str | int) -> bytes:
    return with_length(delimited(1, str(value).encode()))


def _int_or_string(value: int | str) -> bytes:
    """Upstream: intstr.IntOrString"""
    number, text = (value, "") if isinstance(value, int) else (0, value)
    head = b"\x08" + varint(isinstance(value, str)) + b"\x10" + varint(number)
    return with_length(head + delimited(3, text.encode("utf-8", "replace")))


def _moment(value: str) -> bytes:
    """A time; nothing for the zero time.

    Upstream: metav1.Timestamp
    """
    if not value:
        return b"\x00"
    seconds, micros = times.instant(value)
    return with_length(b"\x08" + varint(seconds) + b"\x10" + varint(micros * 1000))


def _json(value: Any) -> bytes:
    """JSON that is carried as it is."""
    return with_length(delimited(1, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")))


def _texts(value: list[str]) -> bytes:
    return with_length(b"".join(delimited(1, each.encode("utf-8", "replace")) for each in value))


WRITERS: Final[dict[str, Callable[[Any], bytes]]] = {
    "string": _text,
    "bytes": lambda value: with_length(base64.b64decode(value)),
    "bool": varint,
    "int32": varint,
    "int64": varint,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Time": _moment,
    "MicroTime": _moment,
    "FieldsV1": _json,
    "RawExtension": _json,
    "[]string": _texts,
}
"""What writes a value of a type, its length included where it has one."""
