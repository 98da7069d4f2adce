"""JSON in manifest files: parsed as JSON, with line and column on request."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any

from podstrat.goyaml import nodes, scalars
from podstrat.goyaml.document import Document, Place, too_large
from podstrat.goyaml.errors import YamlError
from podstrat.goyaml.limits import MAX_DEPTH, MAX_SIZE

_SPACE = re.compile(r"[ \t\r\n]*")
_BREAK = re.compile("\r\n|[\r\n]")
# A pair of surrogates is one character; a single one is none, and Go puts U+FFFD for it. Lengths, and so places, stay right.
_ESCAPES = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<single>\\u[dD][89a-fA-F]..)|\\.", re.DOTALL)
_TOKEN = re.compile(r'[ \t\r\n]*(?:([\[{])|([\]}])|[:,]|("[^"\\]*(?:\\.[^"\\]*)*")|[^\s,:\[\]{}"]+)', re.DOTALL)


class NotJson(YamlError):
    """The text is not JSON; it may be YAML all the same."""


class Reader:
    """Reads one JSON value after another from a text."""

    def __init__(self, text: str) -> None:
        if r"\ud" in text or r"\uD" in text:
            text = _ESCAPES.sub(lambda match: r"\ufffd" if match["single"] else match[0], text)
        self.text = text
        self.index = 0
        self.line = 1
        self._repeats = False
        self._decode = json.JSONDecoder(
            object_pairs_hook=self._object, parse_int=_integer, parse_float=_float, parse_constant=_constant
        ).raw_decode

    def skip(self) -> bool:
        """Whether there is anything but white space to come."""
        match = _SPACE.match(self.text, self.index)
        self._advance(match.end() if match else self.index)
        return self.index < len(self.text)

    def _advance(self, index: int) -> None:
        self.line += len(_BREAK.findall(self.text, self.index, index))
        self.index = index

    def document(self) -> Document:
        """The value that comes next."""
        text, begin, line = self.text, self.index, self.line
        self._repeats = False
        try:
            value, end = self._decode(text, begin)
            _check_depth(value, text.count("{", begin, end) + text.count("[", begin, end))
        except json.JSONDecodeError as error:
            raise NotJson(f"json: {error.msg}", *_place(text, begin, line, error.pos)) from None
        except ValueError as error:
            raise YamlError(str(error), *_place(text, begin, line, begin)) from None
        except RecursionError:
            raise YamlError(f"exceeded max depth of {MAX_DEPTH}", *_place(text, begin, line, begin)) from None
        if end - begin > MAX_SIZE:
            raise too_large(end - begin, line)
        self._advance(end)
        marks = tree(text, begin, end, line) if self._repeats else None
        return Document(value, line, lambda: marks or tree(text, begin, end, line), marks)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self._repeats = True
        return value


def _place(text: str, begin: int, line: int, index: int) -> Place:
    """The place of a character at or after begin, which stands on that line."""
    start = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    for match in _BREAK.finditer(text, begin, index):
        line += 1
        start = match.end()
    return line, index - start + 1


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else _number(digits)


def _float(digits: str) -> int | float:
    return scalars.number(float(digits))


def _number(digits: str) -> int | float:
    """A long integer, as it would be read from YAML: exact up to 64 bits, the nearest float beyond."""
    value = scalars.plain(digits)
    if type(value) is int:
        return value
    return scalars.number(float(digits))


def _constant(word: str) -> None:
    raise json.JSONDecodeError(f"{word} is not JSON", "", 0)


def _check_depth(value: Any, brackets: int) -> None:
    if brackets <= MAX_DEPTH:
        return
    depth = 0
    level = [value] if isinstance(value, (dict, list)) else []
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RecursionError
        children = (child for each in level for child in (each.values() if type(each) is dict else each))
        level = [child for child in children if type(child) is dict or type(child) is list]


class _Mark:
    __slots__ = ("column", "line")

    def __init__(self, line: int, column: int) -> None:
        self.line = line
        self.column = column


class _Event:
    """Enough of a parser's event for the composer."""

    __slots__ = ("anchor", "flow_style", "implicit", "start_mark", "tag", "value")

    def __init__(self, value: str, mark: _Mark, plain: bool) -> None:
        self.value = value
        self.start_mark = mark
        self.implicit = (plain, not plain)
        self.flow_style = True
        self.anchor = self.tag = None


def tree(text: str, begin: int, end: int, first_line: int) -> nodes.Tree:
    """The places in a value that has been read; it begins on first_line."""
    start = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    lines = [start, *(match.end() for match in _BREAK.finditer(text, begin, end))]
    composer = nodes.Composer(first_line)
    index = begin
    while index < end:
        match = _TOKEN.match(text, index, end)
        if match is None:
            raise YamlError("cannot be parsed")
        index = match.end()
        if match[2]:
            composer.end()
            continue
        token = match[0].lstrip(" \t\r\n")
        if not token or token in ":,":
            continue
        line = bisect_right(lines, index - len(token)) - 1
        mark = _Mark(line, index - len(token) - lines[line])
        if match[1]:
            composer.start(_Event("", mark, False), token == "{")
        elif match[3]:
            composer.scalar(_Event(json.loads(token), mark, False))
        else:
            composer.scalar(_Event(token, mark, True))
    return nodes.Tree(composer.root, composer.duplicates, first_line)
