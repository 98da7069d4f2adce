"""The protobuf wire format: bytes in; fields, numbers, texts, and the values that have a message of their own out."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from podstrat.strategy.formats import times

Raw = int | bytes

VARINT, FIXED64, BYTES, GROUP, END, FIXED32 = range(6)
_SIZES: Final = {FIXED64: 8, FIXED32: 4}
_CUT_OFF: Final = "unexpected EOF"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME: Final = -62135596800  # 0001-01-01T00:00:00Z


class ProtobufError(ValueError):
    """A body that cannot be read; ``message`` says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def fields(data: bytes) -> Iterator[tuple[int, int, Raw]]:
    """The fields of a message as they come: number, wire kind, and a number or bytes. Groups are passed over."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == END:
            raise ProtobufError("proto: wiretype end group for non-group")
        if not 0 < number < 1 << 31:
            raise ProtobufError(f"proto: illegal tag {number} (wire type {kind})")
        if kind == VARINT:
            value, at = varint(data, at)
            yield number, kind, value
        elif kind == GROUP:
            at = _after_group(data, at)
        else:
            start, at = _stretch(data, at, kind)
            yield number, kind, data[start:at]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of up to 64 bits, and where it ends."""
    try:
        value = data[at]
        at += 1
        if value < 0x80:
            return value, at
        value &= 0x7F
        for shift in range(7, 64, 7):
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, at
    except IndexError:
        raise ProtobufError(_CUT_OFF) from None
    raise ProtobufError("proto: integer overflow")


def packed(data: bytes) -> Iterator[int]:
    """Numbers one after the other."""
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def _stretch(data: bytes, at: int, kind: int) -> tuple[int, int]:
    """Where the bytes of a value begin and end."""
    if kind == BYTES:
        size, at = varint(data, at)
        if size >= 1 << 63:
            raise ProtobufError("proto: negative length found during unmarshaling")
    elif kind in _SIZES:
        size = _SIZES[kind]
    else:
        raise ProtobufError(f"proto: illegal wireType {kind}")
    if at + size > len(data):
        raise ProtobufError(_CUT_OFF)
    return at, at + size


def _after_group(data: bytes, at: int) -> int:
    """The end of a group, with the groups in it."""
    depth = 1
    while depth:
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            _, at = varint(data, at)
        elif kind in (GROUP, END):
            depth += 1 if kind == GROUP else -1
        else:
            _, at = _stretch(data, at, kind)
    return at


def expect(value: Raw, kind: int, expected: int, name: str) -> Raw:
    """The value of a field, if it has the wire kind that the field has."""
    if kind != expected:
        raise ProtobufError(f"proto: wrong wireType = {kind} for field {name[:1].upper()}{name[1:]}")
    return value


def delimited(value: Raw, kind: int, name: str) -> bytes:
    """The bytes of a field that is a text or a message."""
    expect(value, kind, BYTES, name)
    assert isinstance(value, bytes)
    return value


def text(data: bytes) -> str:
    # The server keeps bytes that are no UTF-8, and replaces them when it prints them.
    return data.decode("utf-8", "replace")


def signed(bits: int) -> Callable[[int], int]:
    """Reads a number in two's complement; whatever does not fit is cut off, as the server does it."""
    sign, mask = 1 << bits - 1, (1 << bits) - 1
    return lambda value: ((value & mask) ^ sign) - sign


_int32: Final = signed(32)
_int64: Final = signed(64)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _quantity(data: bytes) -> str:
    amount = "0"
    for number, kind, value in fields(data):
        if number == 1:
            amount = text(delimited(value, kind, "string"))
    return amount


def _int_or_string(data: bytes) -> int | str:
    which, whole, words = 0, 0, ""
    for number, kind, value in fields(data):
        if number == 3:
            words = text(delimited(value, kind, "strVal"))
        elif number in (1, 2):
            read = expect(value, kind, VARINT, "type" if number == 1 else "intVal")
            assert isinstance(read, int)
            which, whole = (_int64(read), whole) if number == 1 else (which, _int32(read))
    if which not in (0, 1):
        raise ProtobufError("impossible IntOrString.Type")
    return words if which else whole


def _moment(data: bytes) -> datetime | None:
    """A time, None for the zero time.

    Upstream: metav1.Timestamp
    """
    if not data:
        return None
    parts = {1: 0, 2: 0}
    for number, kind, value in fields(data):
        if number in parts:
            read = expect(value, kind, VARINT, "seconds" if number == 1 else "nanos")
            assert isinstance(read, int)
            parts[number] = _int64(read) if number == 1 else _int32(read)
    if parts[1] == _NO_TIME:
        return None
    try:
        return _EPOCH + timedelta(seconds=parts[1], microseconds=int(parts[2] / 1000))
    except OverflowError:
        raise ProtobufError(f"time out of range: {parts[1]} seconds") from None


def _time(data: bytes) -> str | None:
    moment = _moment(data)
    # Protobuf could carry less than a second, but JSON clients would not see it: the server drops it.
    return None if moment is None else times.format(moment)


def _micro_time(data: bytes) -> str | None:
    moment = _moment(data)
    return None if moment is None else times.format_micro(moment)


def _json(data: bytes) -> Any:
    """JSON that is carried as it is."""
    raw = b""
    for number, kind, value in fields(data):
        if number == 1:
            raw = delimited(value, kind, "raw")
    try:
        return json.loads(raw, parse_constant=_no_number) if raw else None
    except (ValueError, RecursionError) as error:
        raise ProtobufError(f"a raw value is not JSON: {error}") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _texts(data: bytes) -> list[str]:
    """A list of texts as a message, which the values of a map can only be.

    Upstream: ExtraValue
    """
    return [text(delimited(value, kind, "items")) for number, kind, value in fields(data) if number == 1]


# Wire kind, what reads it, and what stands for one that is not there.
SPECIAL: Final[dict[str, tuple[int, Callable[[Any], Any], Any]]] = {
    "string": (BYTES, text, ""),
    "bytes": (BYTES, _base64, ""),
    "bool": (VARINT, bool, False),
    "int32": (VARINT, _int32, 0),
    "int64": (VARINT, _int64, 0),
    "Quantity": (BYTES, _quantity, "0"),
    "IntOrString": (BYTES, _int_or_string, 0),
    "Time": (BYTES, _time, None),
    "MicroTime": (BYTES, _micro_time, None),
    "FieldsV1": (BYTES, _json, None),
    "RawExtension": (BYTES, _json, None),
    "[]string": (BYTES, _texts, []),
}
