"""Request bodies in protobuf: the bytes that Go clients send, as the JSON-shaped objects that they stand for.

Field numbers are the ones of the types table. What a field holds follows from its type: the wire kinds in the table are the ones
of the Go tags, which say ``bytes`` of some numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from podstrat.apiserver import type_table
from podstrat.apiserver.protobuf import messages, wire
from podstrat.apiserver.protobuf.messages import MAGIC, TYPE_META
from podstrat.apiserver.protobuf.wire import BYTES, VARINT, ProtobufError, Raw
from podstrat.strategy.api.types import Field, Types

__all__ = ["MAGIC", "ProtobufError", "decode"]

Object = dict[str, Any]
Put = Callable[[Object, int, Raw], None]


def decode(body: bytes, types: Types, default: tuple[str, str] = ("", "")) -> Object:
    """The object of a body. ``default`` is the API version and kind to take it for if it does not say.

    Upstream: protobuf.Serializer.Decode
    """
    if not body:
        raise ProtobufError("empty data")
    if not body.startswith(MAGIC):
        raise ProtobufError(
            f"provided data does not appear to be a protobuf message, expected prefix [{' '.join(map(str, MAGIC))}]"
        )
    if len(body) == len(MAGIC):
        raise ProtobufError("empty body")
    (api_version, kind), raw = _envelope(body[len(MAGIC) :])
    type_meta = f'\'runtime.TypeMeta{{APIVersion:"{api_version}", Kind:"{kind}"}}\''
    api_version, kind = api_version or default[0], kind or default[1]
    if not kind:
        raise ProtobufError(f"Object 'Kind' is missing in {type_meta}")
    if not api_version:
        raise ProtobufError(f"Object 'apiVersion' is missing in {type_meta}")
    type_name = "DeleteOptions" if kind == "DeleteOptions" else messages.TYPES.get((api_version, kind), "")
    if not type_table.has(types, type_name):
        raise ProtobufError(f'{kind} in version "{api_version}" is not supported as protobuf: send it as JSON')
    return _reader(types).message(type_name, raw, {"kind": kind, "apiVersion": api_version})


def _envelope(data: bytes) -> tuple[tuple[str, str], bytes]:
    """What the body calls itself, and the message.

    Upstream: runtime.Unknown
    """
    texts = {1: "", 2: ""}
    raw = b""
    for number, kind, value in wire.fields(data):
        if number == 1:
            for inner, of_inner, text in wire.fields(wire.delimited(value, kind, "TypeMeta")):
                if inner in texts:
                    texts[inner] = wire.text(wire.delimited(text, of_inner, "TypeMeta"))
        elif number == 2:
            raw = wire.delimited(value, kind, "Raw")
    return (texts[1], texts[2]), raw


@lru_cache(maxsize=8)
def _reader(types: Types) -> _Reader:
    return _Reader(types)


class _Reader:
    """Reads the messages of one release. What to do with each field of a type is worked out when the type first comes up."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._plans: dict[str, dict[int, Put]] = {}

    def message(self, type_name: str, data: bytes, into: Object) -> Object:
        """A message, added to what there is already: a field that comes twice adds to itself."""
        plan = self._plans.get(type_name)
        if plan is None:
            plan = self._plans[type_name] = self._plan(type_name)
        _read(plan, data, into)
        return into

    def _plan(self, type_name: str) -> dict[int, Put]:
        plan: dict[int, Put] = {}
        inlined: dict[str, dict[int, Put]] = {}
        for field in type_table.fields(self._types, type_name).values():
            if field.inlined_from == TYPE_META:
                continue
            number = int(field.wire.partition(",")[2])
            holder = inlined.setdefault(field.inlined_from, {}) if field.inlined_from else plan
            holder[number] = self._put(field)
        for struct, within in inlined.items():
            around = messages.NESTED.get((type_name, struct))
            holder = inlined[around] if around else plan
            holder[messages.INLINED[type_name, struct]] = _inline(struct, within)
        return plan

    def _put(self, field: Field) -> Put:
        if field.shape == "list":
            return _list(field.name, *self._element(field.type))
        if field.shape == "map":
            return _map(field.name, *self._element(field.type))
        if type_table.has(self._types, field.type) and field.type not in wire.SPECIAL:
            return self._one_message(field.name, field.type)
        return _scalar(field, *self._element(field.type)[:2])

    def _element(self, type_name: str) -> tuple[int, Callable[[Any], Any], Any]:
        """The wire kind of a value, what reads it, and what stands for one that is not there."""
        if type_name in wire.SPECIAL:
            return wire.SPECIAL[type_name]
        return BYTES, lambda data: self.message(type_name, data, {}), {}

    def _one_message(self, name: str, type_name: str) -> Put:
        def put(into: Object, kind: int, value: Raw) -> None:
            self.message(type_name, wire.delimited(value, kind, name), into.setdefault(name, {}))

        return put


def _read(plan: dict[int, Put], data: bytes, into: Object) -> None:
    for number, kind, value in wire.fields(data):
        if put := plan.get(number):
            put(into, kind, value)


def _inline(struct: str, plan: dict[int, Put]) -> Put:
    def put(into: Object, kind: int, value: Raw) -> None:
        _read(plan, wire.delimited(value, kind, struct), into)

    return put


def _scalar(field: Field, expected: int, read: Callable[[Any], Any]) -> Put:
    """A single value. Clients write out zero values; where JSON leaves them out they are left out here as well."""
    name = field.name
    left_out = (field.omitempty or field.omitzero) and not field.pointer and field.type not in ("Quantity", "IntOrString")

    def put(into: Object, kind: int, value: Raw) -> None:
        result = read(wire.expect(value, kind, expected, name))
        if left_out and not result:
            into.pop(name, None)
        else:
            into[name] = result

    return put


def _list(name: str, expected: int, read: Callable[[Any], Any], _: Any) -> Put:
    """A list: an item a field, or numbers packed into one."""

    def put(into: Object, kind: int, value: Raw) -> None:
        items = into.setdefault(name, [])
        if expected == VARINT and isinstance(value, bytes):
            items.extend(map(read, wire.packed(value)))
        else:
            items.append(read(wire.expect(value, kind, expected, name)))

    return put


def _map(name: str, expected: int, read: Callable[[Any], Any], absent: Any) -> Put:
    """A map: an entry a field, which is a message of a key and a value."""

    def put(into: Object, kind: int, value: Raw) -> None:
        key = ""
        entry = absent.copy() if isinstance(absent, dict | list) else absent
        for number, of_part, part in wire.fields(wire.delimited(value, kind, name)):
            if number == 1:
                key = wire.text(wire.delimited(part, of_part, name))
            elif number == 2:
                entry = read(wire.expect(part, of_part, expected, name))
        into.setdefault(name, {})[key] = entry

    return put
