"""Response bodies in protobuf: objects, lists, Status and watch events as the bytes that kube-apiserver sends.

The messages are those of proto2: a field that is a pointer in Go is left out if it is not set, any other is written, zero or not,
in the order of the field numbers. Field numbers are those of the types table.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from podstrat.apiserver import type_table
from podstrat.apiserver.protobuf import messages, wire_values
from podstrat.apiserver.protobuf.messages import MAGIC, TYPE_META
from podstrat.apiserver.protobuf.wire_values import delimited
from podstrat.strategy.api.types import Field, Types

Object = dict[str, Any]
Emit = Callable[[Object], bytes]
"""Writes one field of an object, tag included; nothing if the object leaves it out."""


def can_encode(api_version: str, kind: str, types: Types) -> bool:
    """Whether the wire numbers of a kind are known."""
    return type_table.has(types, messages.TYPES.get((api_version, kind), ""))


def encode(obj: Object, types: Types) -> bytes:
    """An object, a list or a Status with its envelope.

    Upstream: protobuf.Serializer.Encode, runtime.Unknown
    """
    head = delimited(1, obj["apiVersion"].encode()) + delimited(2, obj["kind"].encode())
    return MAGIC + b"".join((delimited(1, head), delimited(2, _message(obj, types)), delimited(3, b""), delimited(4, b"")))


def event(type: str, obj: Object, types: Types) -> bytes:
    """A watch event in its frame: the length of the message, and the message.

    Upstream: lengthDelimitedFramer, metav1.WatchEvent
    """
    message = delimited(1, type.encode()) + delimited(2, delimited(1, encode(obj, types)))
    return struct.pack(">I", len(message)) + message


def _message(obj: Object, types: Types) -> bytes:
    writer, kind, api_version = _writer(types), obj["kind"], obj["apiVersion"]
    if kind == "Status":
        return writer.message("Status", obj)
    if kind == "PartialObjectMetadata":
        return delimited(messages.METADATA, writer.message("ObjectMeta", obj.get("metadata") or {}))
    if kind.endswith("List") and "items" in obj:
        return b"".join(_list(obj, kind.removesuffix("List"), api_version, types))
    return writer.message(messages.TYPES[api_version, kind], obj)


def _list(obj: Object, kind: str, api_version: str, types: Types) -> Iterator[bytes]:
    yield delimited(messages.LIST_METADATA, _writer(types).message("ListMeta", obj.get("metadata") or {}))
    for item in obj["items"] or ():
        yield delimited(messages.LIST_ITEMS, _message({**item, "kind": kind, "apiVersion": api_version}, types))


@lru_cache(maxsize=8)
def _writer(types: Types) -> _Writer:
    return _Writer(types)


class _Writer:
    """Writes the messages of one release. How each field of a type is written is worked out when the type first comes up."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._plans: dict[str, tuple[Emit, ...]] = {}

    def message(self, type_name: str, obj: Object) -> bytes:
        plan = self._plans.get(type_name)
        if plan is None:
            plan = self._plans[type_name] = self._plan(type_name)
        return b"".join([emit(obj) for emit in plan])

    def _plan(self, type_name: str) -> tuple[Emit, ...]:
        plan: dict[int, Emit] = {}
        inlined: dict[str, dict[int, Emit]] = {}
        for field in type_table.fields(self._types, type_name).values():
            if field.inlined_from == TYPE_META:
                continue
            number = int(field.wire.partition(",")[2])
            holder = inlined.setdefault(field.inlined_from, {}) if field.inlined_from else plan
            holder[number] = self._emit(number, field)
        for struct_name in sorted(inlined, key=lambda name: (type_name, name) not in messages.NESTED):
            number = messages.INLINED[type_name, struct_name]
            around = messages.NESTED.get((type_name, struct_name))
            holder = inlined[around] if around else plan
            holder[number] = _inline(number, _in_order(inlined[struct_name]))
        return _in_order(plan)

    def _emit(self, number: int, field: Field) -> Emit:
        write = self._writer_of(field.type)
        tag = wire_values.tag(number, field.type)
        if field.shape == "list":
            return _items(field.name, tag, write)
        if field.shape == "map":
            return _entries(field.name, number, wire_values.tag(2, field.type), write)
        if field.pointer or field.type in wire_values.UNSET_IF_EMPTY:
            return _optional(field.name, tag, write)
        return _always(field.name, tag, write, wire_values.zero(field.type))

    def _writer_of(self, type_name: str) -> Callable[[Any], bytes]:
        """A value as bytes, its length included where it has one."""
        if type_name in wire_values.WRITERS:
            return wire_values.WRITERS[type_name]
        return lambda value: wire_values.with_length(self.message(type_name, value))


def _in_order(plan: dict[int, Emit]) -> tuple[Emit, ...]:
    return tuple(plan[number] for number in sorted(plan))


def _inline(number: int, plan: tuple[Emit, ...]) -> Emit:
    return lambda obj: delimited(number, b"".join([emit(obj) for emit in plan]))


def _optional(name: str, tag: bytes, write: Callable[[Any], bytes]) -> Emit:
    def emit(obj: Object) -> bytes:
        value = obj.get(name)
        return b"" if value is None else tag + write(value)

    return emit


def _always(name: str, tag: bytes, write: Callable[[Any], bytes], zero: Any) -> Emit:
    def emit(obj: Object) -> bytes:
        value = obj.get(name)
        return tag + write(zero if value is None else value)

    return emit


def _items(name: str, tag: bytes, write: Callable[[Any], bytes]) -> Emit:
    return lambda obj: b"".join([tag + write(item) for item in obj.get(name) or ()])


def _entries(name: str, number: int, tag: bytes, write: Callable[[Any], bytes]) -> Emit:
    """A map: a message of a key and a value for each entry, in the order of the keys."""

    def entry(key: str, value: Any) -> bytes:
        return delimited(number, delimited(1, key.encode("utf-8", "replace")) + tag + write(value))

    return lambda obj: b"".join([entry(key, value) for key, value in sorted((obj.get(name) or {}).items())])
