"""Objects as the Go clients write them in protobuf: the way back from what is tested, written apart from it."""

from __future__ import annotations

import base64
import calendar
import json
import struct
import time
from typing import Any

from podstrat.apiserver import type_table
from podstrat.strategy.api.types import Field, Types

# The field that holds the struct whose fields stand among a type's own in JSON, where it is not the first.
HOLDERS = {
    "Volume": 2,
    "resource.DeviceAllocationConfiguration": 3,
    "resource.DeviceClaimConfiguration": 2,
    "admissionregistration.RuleWithOperations": 2,
    "admissionregistration.NamedRuleWithOperations": 2,
}
NUMBERS = ("bool", "int32", "int64")


def body(obj: dict[str, Any], type_name: str, types: Types, whole: bool = False) -> bytes:
    """A request body. ``whole`` writes out the zero values of whatever is no pointer, as the generated Go code does."""
    meta = field(1, obj.get("apiVersion", "")) + field(2, obj.get("kind", ""))
    return b"k8s\x00" + field(1, meta) + field(2, message(obj, type_name, types, whole)) + field(3, "") + field(4, "")


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def message(obj: dict[str, Any], type_name: str, types: Types, whole: bool = False) -> bytes:
    parts: dict[int, bytes] = {}
    inlined: dict[int, bytes] = {}
    for each in type_table.fields(types, type_name).values():
        if each.inlined_from == "TypeMeta":
            continue
        number = int(each.wire.split(",")[1])
        if type_name == "admissionregistration.NamedRuleWithOperations" and each.inlined_from == "Rule":
            continue  # a message within that message
        into = inlined if each.inlined_from else parts
        into[number] = b"".join(field(number, item) for item in _values(obj, each, types, whole))
    if type_name == "admissionregistration.NamedRuleWithOperations":
        rule = {key: value for key, value in obj.items() if key not in ("resourceNames", "operations")}
        names = {each.name: each for each in type_table.fields(types, type_name).values() if each.inlined_from == "Rule"}
        wires = ((int(each.wire.split(",")[1]), _values(rule, each, types, whole)) for each in names.values())
        inner = b"".join(field(number, item) for number, items in wires for item in items)
        inlined[2] = field(2, inner) if inner or whole else b""
    if inlined:
        inner = b"".join(data for _, data in sorted(inlined.items()))
        if inner or whole:
            parts[HOLDERS.get(type_name, 1)] = field(HOLDERS.get(type_name, 1), inner)
    return b"".join(data for _, data in sorted(parts.items()))


def _values(obj: dict[str, Any], each: Field, types: Types, whole: bool) -> list[int | bytes]:
    """What a field holds: nothing, one value, or several."""
    value = obj.get(each.name)
    if each.shape == "list":
        return [_value(item, each.type, types, whole) for item in value or ()]
    if each.shape == "map":
        entries = (value or {}).items()
        return [field(1, key) + field(2, _value(item, each.type, types, whole)) for key, item in entries]
    if each.name in obj and (value is not None or not each.pointer):
        return [_value(value, each.type, types, whole)]
    return [_value(None, each.type, types, whole)] if whole and not each.pointer else []


def _value(value: Any, type_name: str, types: Types, whole: bool) -> int | bytes:
    if type_name in NUMBERS:
        return int(value or 0)
    if type_name == "string":
        return (value or "").encode()
    if type_name == "bytes":
        return base64.b64decode(value or "")
    if type_name == "Quantity":
        return field(1, value or "0")
    if type_name == "[]string":
        return b"".join(field(1, item) for item in value or ())
    if type_name == "IntOrString":
        is_text = isinstance(value, str)
        return field(1, int(is_text)) + field(2, 0 if is_text else value or 0) + field(3, value if is_text else "")
    if type_name in ("Time", "MicroTime"):
        return _time(value)
    if type_name in ("FieldsV1", "RawExtension"):
        return b"" if value is None else field(1, json.dumps(value))
    return message(value or {}, type_name, types, whole)


def _time(value: str | None) -> bytes:
    if value is None:
        return b""
    seconds = calendar.timegm(time.strptime(value[:19], "%Y-%m-%dT%H:%M:%S"))
    return field(1, seconds) + field(2, int(value[20:26]) * 1000 if "." in value else 0)
