"""Where things stand in everyday YAML: the line and column of one value, found without the real parser.

The real parser makes a node of every value, only to point at one or two of them. Here the lines are taken apart once more, as
`everyday` does it, and the line of each entry is recorded; columns are computed for the requested path only. The text has been
read by `everyday`: nothing is checked again.
"""

from __future__ import annotations

import re
from typing import Any

from podstrat.goyaml import everyday
from podstrat.goyaml.document import Path, Place

Entry = tuple[int, Any]
"""The line of an entry or item, from 0, and the collection that begins on the lines behind it (or on this line, after a dash)."""


class Outline:
    """The collections of one document. Lines count from ``first_line``, columns from 1."""

    def __init__(self, text: str, first_line: int) -> None:
        self._lines = text.split("\n")
        self._first_line = first_line
        self._root = _collections(self._lines)

    def find(self, path: Path) -> tuple[Place, Place]:
        """Where the value at the path begins, and its key; of its nearest ancestor that exists, if there is no such value."""
        place = key = self._start(self._root)
        into = self._root
        for depth, step in enumerate(path, 1):
            entry = _entry(into, step)
            if entry is None:
                return place, key
            number, into = entry
            value, name = self._columns(number)
            place = self._start(into) if into is not None else self._place(number, value)
            key = place if type(step) is int else self._place(number, name)
            if into is None:
                flow = _flow(self._lines[number][value:], number, value)
                return self._inside(flow, path[depth:], (place, key))
        return place, key

    def _start(self, collection: Any) -> Place:
        """A block collection begins with its first key or dash."""
        first = collection[0] if type(collection) is list else next(iter(collection.values()))
        line = self._lines[first[0]]
        dash = len(line) - len(line.lstrip(" "))
        return self._place(first[0], dash if type(collection) is list else self._columns(first[0])[1])

    def _columns(self, number: int) -> tuple[int, int]:
        """Where the value of a line begins, and where its key; columns from 0."""
        line = self._lines[number]
        entry = everyday.ENTRY(line)
        if entry is None:
            item = everyday.ITEM(line)
            assert item is not None
            return item.start(3), item.start(3)
        key = entry.end(2) if entry[2] else entry.end(1)
        if entry[6] and entry[6][0] != "#":
            return entry.start(6), key
        # No value on this line: it would begin after the colon.
        return line.index(":", max(entry.end(3), entry.end(4), entry.end(5))) + 1, key

    def _place(self, number: int, column: int) -> Place:
        return number + self._first_line, column + 1

    def _inside(self, flow: Any, path: Path, place: tuple[Place, Place]) -> tuple[Place, Place]:
        """Of a flow collection on one line: its items are scalars."""
        spot = _entry(flow, path[0]) if path else None
        if spot is None:
            return place
        number, value, key = spot
        return self._place(number, value), self._place(number, key)


def _entry(collection: Any, step: str | int) -> Any:
    if type(collection) is dict:
        return collection.get(step)
    if type(collection) is list and type(step) is int and 0 <= step < len(collection):
        return collection[step]
    return None


def _collections(lines: list[str]) -> Any:
    """The outermost collection: a dict of entries by key, or a list of items. The same steps as in everyday.read."""
    top: Any = {}
    outer: list[tuple[int, Any]] = []
    indent, into = -1, top
    pending = ""
    number = everyday.first(lines)
    while number < len(lines):
        column, dash, key, kind, value = everyday.taken_apart(lines[number])
        here = number
        number += 1
        if kind == everyday.BLANK:
            continue
        while column < indent:
            indent, into = outer.pop()
        if column > indent or (dash and type(into) is dict):
            outer.append((indent, into))
            inner: Any = [] if dash else {}
            into[pending] = (into[pending][0] if pending in into else here, inner)
            indent, into = column, inner
        elif not dash and type(into) is list:
            indent, into = outer.pop()
        if dash and key is not None:
            outer.append((indent, into))
            into.append((here, {}))
            indent, into = column + dash, into[-1][1]
        if kind == everyday.BLOCK:
            _, number = everyday.literal(value, lines, number, indent + 1)
        if key is None:
            into.append((here, None))
        else:
            into[key] = (here, None)
            pending = key
    return top[""][1]


def _flow(rest: str, number: int, column: int) -> Any:
    """The places of the items of a flow collection; None if there is none."""
    if rest[:1] == "[":
        inner = re.finditer(everyday.ATOM, _content(rest))
        return [(number, column + each.start(), column + each.start()) for each in inner]
    if rest[:1] == "{":
        pairs = re.finditer(everyday.PAIR, _content(rest))
        return {_unquoted(each[1]): (number, column + each.start(2), column + each.start(1)) for each in pairs}
    return None


def _content(rest: str) -> str:
    """A flow collection with its bracket blanked out, and without the comment behind it."""
    match = re.fullmatch(everyday.SEQUENCE, rest) if rest[0] == "[" else re.fullmatch(everyday.MAPPING, rest)
    assert match is not None
    return " " * match.start(1) + match[1]


def _unquoted(key: str) -> str:
    return key[1:-1] if key[0] in "\"'" else key
