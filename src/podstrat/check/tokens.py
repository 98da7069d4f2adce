"""The part of a line that a finding is about, for those who underline it."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The end of a quoted text, of a key, or of a plain value before its comment.
_TOKEN = re.compile(r"""(?:- +)?(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:#]+(?=:(?:\s|$))|(?:[^#]|(?<!\s)#)*)""")


def lines(text: str) -> list[str]:
    """The lines of a file, as findings count them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def span(lines: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """Begin and end, from 0, of the token at a line and column, both from 1; the whole line if there is none."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    begin = min(max(column - 1, 0), len(text))
    match = _TOKEN.match(text, begin)
    end = begin + len(match[0].rstrip()) if match else len(text)
    if end == begin:
        begin, end = len(text) - len(text.lstrip()), len(text)
    return begin, end


def in_utf16(text: str, column: int) -> int:
    """A column, from 0, as editors and browsers count it: in units of UTF-16."""
    return len(text[:column].encode("utf-16-le", "surrogatepass")) // 2
