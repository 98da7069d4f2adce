"""Expression nodes, and the reader of the CEL library's serialised syntax tree."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from podstrat.cel.values import UInt


@dataclass(frozen=True, slots=True)
class Const:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Ident:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`; with `test`, has(operand.field)."""

    id: int
    operand: Node
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call:
    """`function(args)` or, with a target, `target.function(args)`. Operators are functions: `_+_`."""

    id: int
    target: Node | None
    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral:
    id: int
    elements: tuple[Node, ...]
    optional: frozenset[int]
    """Indexes of the elements written `?element`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a map (`key` is an expression) or of a typed object (`key` is the field's name)."""

    id: int
    key: Any
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True)
class MapLiteral:
    id: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """`Type{field: value}`."""

    id: int
    type_name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """What macros such as all() and map() expand to: a fold over a list or a map."""

    id: int
    variable: str
    variable2: str
    range: Node
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node


Node: TypeAlias = Const | Ident | Select | Call | ListLiteral | MapLiteral | Struct | Comprehension


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed expression: its root, and the offset of each node in the text."""

    root: Node
    positions: dict[int, int]


def read(data: bytes) -> Tree:
    """The tree of a serialised google.protobuf.Any that holds a cel.expr.ParsedExpr."""
    parsed = dict(_fields(dict(_fields(data))[2]))
    positions = {}
    for number, value in _fields(parsed.get(3, b"")):
        if number == 4:
            pair = dict(_fields(value))
            positions[pair.get(1, 0)] = pair.get(2, 0)
    return Tree(_node(parsed[2]), positions)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of evaluation."""
    match node:
        case Select():
            yield node.operand
        case Call():
            if node.target is not None:
                yield node.target
            yield from node.args
        case ListLiteral():
            yield from node.elements
        case MapLiteral():
            for entry in node.entries:
                yield entry.key
                yield entry.value
        case Struct():
            for entry in node.entries:
                yield entry.value
        case Comprehension():
            yield from (node.range, node.init, node.condition, node.step, node.result)


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def _node(data: bytes) -> Node:
    id, number, body = 0, 3, b""
    for key, value in _fields(data):
        if key == 2:
            id = value
        else:
            number, body = key, value
    node: Node = _READERS[number](id, body)
    return node


def _const(id: int, data: bytes) -> Node:
    for number, value in _fields(data):
        return Const(id, _CONSTANTS[number](value))
    return Const(id, None)


def _select(id: int, data: bytes) -> Node:
    fields = dict(_fields(data))
    return Select(id, _node(fields[1]), fields[2].decode(), bool(fields.get(3)))


def _call(id: int, data: bytes) -> Node:
    target, function, args = None, "", []
    for number, value in _fields(data):
        if number == 1:
            target = _node(value)
        elif number == 2:
            function = value.decode()
        else:
            args.append(_node(value))
    return Call(id, target, function, tuple(args))


def _list(id: int, data: bytes) -> Node:
    elements, optional = [], set()
    for number, value in _fields(data):
        if number == 1:
            elements.append(_node(value))
        elif isinstance(value, int):
            optional.add(value)
        else:
            optional.update(_packed(value))
    return ListLiteral(id, tuple(elements), frozenset(optional))


def _struct(id: int, data: bytes) -> Node:
    name, entries = "", []
    for number, value in _fields(data):
        if number == 1:
            name = value.decode()
        else:
            entries.append(_entry(value))
    return Struct(id, name, tuple(entries)) if name else MapLiteral(id, tuple(entries))


def _entry(data: bytes) -> Entry:
    fields = dict(_fields(data))
    key = fields[2].decode() if 2 in fields else _node(fields[3])
    return Entry(fields.get(1, 0), key, _node(fields[4]), bool(fields.get(5)))


def _comprehension(id: int, data: bytes) -> Node:
    fields = dict(_fields(data))
    variable, accumulator, second = (fields.get(n, b"").decode() for n in (1, 3, 8))
    parts = [_node(fields[n]) for n in (4, 5, 6, 7)]
    return Comprehension(id, variable, second, _node(fields[2]), accumulator, *parts)


_READERS: dict[int, Any] = {
    3: _const,
    4: lambda id, data: Ident(id, dict(_fields(data))[1].decode()),
    5: _select,
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}
_CONSTANTS: dict[int, Any] = {
    1: lambda value: None,
    2: bool,
    3: lambda value: value - (1 << 64) if value >> 63 else value,
    4: UInt,
    5: lambda value: struct.unpack("<d", value)[0],
    6: lambda value: value.decode(),
    7: bytes,
}


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and raw values of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            size, at = _varint(data, at)
        else:
            size = 8 if kind == 1 else 4
        yield tag >> 3, data[at : at + size]
        at += size


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
