"""Fast path for the YAML that manifests are written in.

Block mappings and sequences, scalars on one line, literal blocks, short flow collections. It knows the whole of what it takes and
leaves everything else (anchors, tags, folded text, tabs, duplicate keys, odd indentation, any mistake) to the real parser, which
then reads the text from the start. What it does take comes out exactly as from the real parser: the tests compare the two.
"""

from __future__ import annotations

import re
from typing import Any

from podstrat.goyaml import scalars

NOT_MINE: Any = object()
"""The answer for a text that is not everyday YAML."""

_WIDEST = 200
"""Columns of indentation; two levels a column at most, so deeper nesting than limits.MAX_DEPTH cannot pass."""

# "key: rest", perhaps at the start of a sequence item. The unquoted keys are those that are nothing but strings.
ENTRY = re.compile(
    r"( *)(- +)?(?:([A-Za-z_][-A-Za-z0-9_./]{0,200})|\"([^\"\\]{0,200})\"|'([^']{0,200})'):(?: +(?!\Z)(.*)| *\Z)"
).match
ITEM = re.compile(r"( *)(- +)(?!\Z)(.*)").match

# What a plain scalar may begin with; a dash is looked at more closely.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+~$=^;()<\\")

# The rest is compiled when it is first met.
_AFTER = r"(?: +#.*| *)"
ATOM = r"(?:\"[^\"\\]*\"|'[^']*'|-{0,2}[A-Za-z0-9_./+=][-A-Za-z0-9_./+=]*)"
_KEY = r"(?:\"[^\"\\]*\"|'[^']*'|[A-Za-z_][-A-Za-z0-9_./]*)"
SEQUENCE = rf"\[ *+((?:{ATOM}(?: *, *{ATOM})*)?) *\]{_AFTER}"
MAPPING = rf"\{{ *+((?:{_KEY}: +{ATOM}(?: *, *{_KEY}: +{ATOM})*)?) *\}}{_AFTER}"
PAIR = rf"({_KEY}): +({ATOM})"
_DOUBLE = rf"\"((?:[^\"\\]|\\[\"\\nt])*)\"{_AFTER}"
_SINGLE = rf"'((?:[^']|'')*)'{_AFTER}"
_LITERAL = rf"\|([-+]?){_AFTER}"
_START = rf"---{_AFTER}"
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def read(text: str) -> Any:
    """The value of the text, or NOT_MINE. One loop, because calls would cost more than what they do."""
    lines = text.split("\n")
    joined = "".join(lines)
    if not (joined.isprintable() or joined.replace("\t", "").isprintable()):
        return NOT_MINE
    top: dict[str, Any] = {}
    # Around the current collection: how far each is indented, and the collection itself.
    outer: list[tuple[int, Any]] = []
    indent = -1
    into: Any = top
    pending: str | None = ""  # the key whose value stands on the lines to come
    number = first(lines)
    while number < len(lines):
        line = lines[number]
        number += 1
        column, dash, key, kind, value = _known.get(line) or _line(line)
        if kind >= BLANK:
            if kind == BLANK:
                continue
            return NOT_MINE
        while column < indent:
            indent, into = outer.pop()
            pending = None
        if column > indent or (dash and type(into) is dict):
            # The first line of a collection. A sequence may stand as far left as the key that it belongs to.
            if pending is None or column > _WIDEST:
                return NOT_MINE
            outer.append((indent, into))
            inner: Any = [] if dash else {}
            into[pending] = inner
            indent, into = column, inner
        elif not dash and type(into) is list:
            if outer[-1][0] != column:
                return NOT_MINE
            indent, into = outer.pop()
        if dash and key is not None:
            outer.append((indent, into))
            into.append({})
            indent, into = column + dash, into[-1]

        pending = None
        if kind:
            if kind == _PENDING:
                pending = key
            elif kind == _FLOW:
                value = _flow(value)
            else:
                value, number = literal(value, lines, number, indent + 1)
            if value is NOT_MINE:
                return NOT_MINE
        if key is None:
            into.append(value)
        elif key in into:
            return NOT_MINE
        else:
            into[key] = value
    return top.get("")


# What a line is: an entry or item with a scalar, a flow collection, a literal block, or its value on the lines to come; blank; or
# nothing for this reader.
_SCALAR, _FLOW, BLOCK, _PENDING, BLANK, _OTHER = range(6)
_Line = tuple[int, int, str | None, int, Any]

_known: dict[str, _Line] = {}
_MOST_KNOWN = 20_000
"""Lines to remember: manifests repeat themselves, and a line known is read ten times faster. Some 5 MB when full."""


def taken_apart(line: str) -> _Line:
    """A line of a text that has been read: its indentation, the width of its dash, its key, what it is, its value."""
    return _known.get(line) or _line(line)


def _line(line: str) -> _Line:
    """Take a line apart: its indentation, how far a dash moves what follows it (0: no dash), key, kind and value."""
    parts = _parts(line)
    if parts[3] != _OTHER and len(line) < 200:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[line] = parts
    return parts


def _parts(line: str) -> _Line:
    if "\t" in line:
        return _NOTHING
    if match := ENTRY(line):
        spaces, dash, key, double, single, rest = match.groups()
        if key is None:
            key = single if double is None else double
        elif key in scalars.WORDS:
            return _NOTHING
    elif match := ITEM(line):
        spaces, dash, rest = match.groups()
        key = None
    else:
        return _SPACE if _is_blank(line) else _NOTHING
    column, shift = len(spaces), len(dash or "")
    if rest is None or rest[0] == "#":
        return (column, shift, key, _PENDING, None) if key is not None else _NOTHING
    if rest[0] in "[{":
        return column, shift, key, _FLOW, rest
    if rest[0] == "|":
        return column, shift, key, BLOCK, rest
    value = _value(rest)
    return _NOTHING if value is NOT_MINE else (column, shift, key, _SCALAR, value)


_SPACE: _Line = (0, 0, None, BLANK, None)
_NOTHING: _Line = (0, 0, None, _OTHER, None)


def first(lines: list[str]) -> int:
    """The line after the document start, or the first one where there is none."""
    for number, line in enumerate(lines):
        if not _is_blank(line):
            return number + 1 if line[0] == "-" and re.fullmatch(_START, line) else number
    return len(lines)


def _is_blank(line: str) -> bool:
    """An empty line or a comment."""
    line = line.lstrip(" ")
    return not line or line[0] == "#"


def _value(rest: str) -> Any:
    """A value that begins and ends on this line."""
    first = rest[0]
    if first in _PLAIN or first > "\x7e" or (first == "-" and rest[1:2] not in ("", " ")):
        if " #" in rest:
            rest = rest[: rest.index(" #")]
        rest = rest.rstrip(" ")
        if ":" in rest and (": " in rest or rest[-1] == ":"):
            return NOT_MINE
        return _plain(rest)
    if first in "\"'" and rest.find(first, 1) == len(rest) - 1 and "\\" not in rest:
        return rest[1:-1]
    if first == '"' and (match := re.fullmatch(_DOUBLE, rest)):
        return re.sub(r"\\(.)", lambda escape: _ESCAPES[escape[1]], match[1])
    if first == "'" and (match := re.fullmatch(_SINGLE, rest)):
        return match[1].replace("''", "'")
    return NOT_MINE


def _flow(rest: str) -> Any:
    if match := re.fullmatch(SEQUENCE, rest):
        atoms = [_atom(atom) for atom in re.findall(ATOM, match[1])]
        return NOT_MINE if NOT_MINE in atoms else atoms
    if match := re.fullmatch(MAPPING, rest):
        return _mapping(re.findall(PAIR, match[1]))
    return NOT_MINE


def _plain(text: str) -> Any:
    value = scalars.plain(text)
    if type(value) is not float:
        return value
    try:
        return scalars.number(value)
    except ValueError:
        return NOT_MINE


def _atom(text: str) -> Any:
    return text[1:-1] if text[0] in "\"'" else _plain(text)


def _mapping(pairs: list[tuple[str, str]]) -> Any:
    value: dict[str, Any] = {}
    for key, atom in pairs:
        if key in scalars.WORDS:
            return NOT_MINE
        if key[0] in "\"'":
            key = key[1:-1]
        child = _atom(atom)
        if key in value or child is NOT_MINE:
            return NOT_MINE
        value[key] = child
    return value


def literal(header: str, lines: list[str], number: int, least: int) -> tuple[Any, int]:
    """The text of a literal block, and the number of the line after it. Its first line says how far it is indented."""
    match = re.fullmatch(_LITERAL, header)
    first = lines[number] if number < len(lines) else ""
    width = len(first) - len(first.lstrip(" "))
    if not match or width < least or first[width : width + 1] in ("", "\t"):
        return NOT_MINE, number
    margin = first[:width]
    body: list[str] = []
    while number < len(lines):
        line = lines[number]
        if line.startswith(margin):
            body.append(line[width:])
        elif not line.strip(" "):
            body.append("")
        else:
            break
        number += 1
    else:
        # To the end of the text: what follows the last line break is not a line, and must be empty.
        if lines[-1]:
            return NOT_MINE, number
        body.pop()
    blank = 0
    while not body[-1]:
        body.pop()
        blank += 1
    ending = {"": "\n", "-": "", "+": "\n" * (blank + 1)}[match[1]]
    return "\n".join(body) + ending, number
