"""Lines and columns of findings as ranges of the protocol, which counts characters in UTF-16."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from podstrat.check import tokens


def of_token(lines: Sequence[str], line: int, column: int) -> lsp.Range:
    """The token that begins at a line and column, both from 1; the whole line if there is none."""
    begin, end = tokens.span(lines, line, column)
    return of_columns(lines, line - 1, begin, end)


def of_columns(lines: Sequence[str], line: int, begin: int, end: int) -> lsp.Range:
    """A part of one line, all from 0."""
    return lsp.Range(position(lines, line, begin), position(lines, line, end))


def position(lines: Sequence[str], line: int, column: int) -> lsp.Position:
    text = lines[line] if 0 <= line < len(lines) else ""
    return lsp.Position(max(line, 0), tokens.in_utf16(text, column))


def column(lines: Sequence[str], at: lsp.Position) -> int:
    """The column of a position, in characters, from 0."""
    text = lines[at.line] if at.line < len(lines) else ""
    units = text.encode("utf-16-le", "surrogatepass")[: at.character * 2]
    return len(units.decode("utf-16-le", "ignore"))
