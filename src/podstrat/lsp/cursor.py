"""The place in the object that the cursor is at, read from the indentation: also while the YAML is incomplete.

Block style only. In a mapping in braces the place is that of the mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podstrat.check.places import Place

_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s'"#\[\]{}&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?)\s*:(?=\s|$)""")
_BLOCK_SCALAR = re.compile(r"[|>][0-9+-]*\s*(?:#.*)?$")


class Cursor(NamedTuple):
    """Where the cursor is."""

    place: Place
    """The field that it is on; for a key that is being typed, the mapping that it belongs to."""
    on_value: bool
    """Whether it is behind the colon, or on an item of a list."""
    typed: str
    """What stands between the beginning of the word and the cursor."""
    key: str
    """The key of the line; empty if there is none yet."""
    head: dict[str, str]
    """The apiVersion and kind of the document."""
    first: int
    """The first line of the document, from 0."""
    last: int
    """The line after its last."""


class _Entry(NamedTuple):
    column: int
    step: str | int
    """A key, or the number of an item."""
    is_item: bool


class _Line(NamedTuple):
    """The beginnings of one line: dashes and a key, by their columns."""

    dashes: tuple[int, ...]
    column: int
    """Where what follows the dashes begins."""
    key: str
    value: int
    """Where the value begins, behind the colon; behind the dashes without a key."""


def at(lines: Sequence[str], line: int, character: int) -> Cursor:
    """The cursor at a line and a character, both from 0."""
    first, last = _document(lines, line)
    head = _head(lines, first, last)
    stack: list[_Entry] = []
    for number, read in _lines(lines, first, last):
        if number > line:
            break
        if number == line:
            return _on(read, lines[line], character, stack)._replace(head=head, first=first, last=last)
        _push(stack, read)
    text = lines[line][:character] if line < len(lines) else ""
    _close(stack, len(text) - len(text.lstrip()) if text.strip() else character)
    return Cursor(_place(stack), False, text.strip(), "", head, first, last)


def _on(read: _Line, text: str, character: int, stack: list[_Entry]) -> Cursor:
    """The cursor on a line that says something; ``stack`` is what the lines before it have opened."""
    _push(stack, read._replace(key=""))
    on_value = bool(read.key) and character >= read.value
    typed = text[read.value if on_value else read.column : character].lstrip()
    place = (*_place(stack), read.key) if on_value else _place(stack)
    return Cursor(place, on_value, typed, read.key, {}, 0, 0)


def _document(lines: Sequence[str], line: int) -> tuple[int, int]:
    """The first line of the document, and the line after its last."""
    first = max((n + 1 for n in range(min(line, len(lines))) if lines[n].startswith("---")), default=0)
    last = next((n for n in range(max(line, first), len(lines)) if n > line and lines[n].startswith("---")), len(lines))
    return first, last


def _lines(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, _Line]]:
    """The lines that say something; those of block scalars do not."""
    inside = -1
    for number in range(first, last):
        text = lines[number]
        indentation = len(text) - len(text.lstrip(" "))
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        if 0 <= inside < indentation:
            continue
        read = _read(text)
        inside = (read.dashes[0] if read.dashes else read.column) if _BLOCK_SCALAR.search(text[read.value :].strip()) else -1
        yield number, read


def _read(text: str) -> _Line:
    at = len(text) - len(text.lstrip(" "))
    dashes = []
    while text[at : at + 2] in ("- ", "-"):
        dashes.append(at)
        at += 1
        at += len(text[at:]) - len(text[at:].lstrip(" "))
    match = _KEY.match(text, at)
    if match is None:
        return _Line(tuple(dashes), at, "", at)
    return _Line(tuple(dashes), at, match[1].strip("\"'"), match.end())


def _push(stack: list[_Entry], read: _Line) -> None:
    for column in read.dashes:
        number = 0
        while stack and (stack[-1].column > column or (stack[-1].column == column and stack[-1].is_item)):
            top = stack.pop()
            if top.is_item and top.column == column and isinstance(top.step, int):
                number = top.step + 1
        stack.append(_Entry(column, number, True))
    if not read.dashes:
        _close(stack, read.column)
    if read.key:
        stack.append(_Entry(read.column, read.key, False))


def _close(stack: list[_Entry], column: int) -> None:
    """Ends what cannot hold a key at a column."""
    while stack and stack[-1].column >= column:
        stack.pop()


def _place(stack: Sequence[_Entry]) -> Place:
    return tuple(entry.step for entry in stack)


def _head(lines: Sequence[str], first: int, last: int) -> dict[str, str]:
    return {
        read.key: _plain(lines[number][read.value :])
        for number, read in _lines(lines, first, last)
        if read.column == 0 and read.key in ("apiVersion", "kind")
    }


def _plain(text: str) -> str:
    return text.partition(" #")[0].strip().strip("\"'")
