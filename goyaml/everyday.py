"""A quick reader for the YAML that manifests are made of.

Block mappings and sequences, scalars on one line, literal blocks, short flow collections. It knows the whole of what it takes and hands
everything else (anchors, tags, folded text, tabs, duplicate keys, odd indentation, every mistake) to the real parser, which then reads
the text from the start. What it does take comes out exactly as from the real parser; tests/goyaml/test_everyday.py compares the two.
"""

from __future__ import annotations

import re
from typing import Any

from goyaml import scalars

NOT_MINE: Any = object()
"""The answer for a text that is not everyday YAML."""

_WIDEST = 200
"""Columns of indentation; two levels a column at most, so deeper nesting than nodes.MAX_DEPTH cannot pass."""

# "key: rest", perhaps at the start of a sequence item. The unquoted keys are those that are nothing but strings.
_ENTRY = re.compile(
    r"( *)(- +)?(?:([A-Za-z_][-A-Za-z0-9_./]{0,200})|\"([^\"\\]{0,200})\"|'([^']{0,200})'):(?: +(?!\Z)(.*)| *\Z)"
).match
_ITEM = re.compile(r"( *)(- +)(?!\Z)(.*)").match
_START = re.compile(r"---(?: +#.*| *)").fullmatch

# What a plain scalar may begin with; a dash is looked at more closely.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+~$=^;()<\\")

_AFTER = r"(?: +#.*| *)"
_ATOM = r"(?:\"[^\"\\]*\"|'[^']*'|-{0,2}[A-Za-z0-9_./+=][-A-Za-z0-9_./+=]*)"
_KEY = r"(?:\"[^\"\\]*\"|'[^']*'|[A-Za-z_][-A-Za-z0-9_./]*)"
_SEQUENCE = re.compile(rf"\[ *(?:{_ATOM}(?: *, *{_ATOM})*)? *\]{_AFTER}").fullmatch
_MAPPING = re.compile(rf"\{{ *(?:{_KEY}: +{_ATOM}(?: *, *{_KEY}: +{_ATOM})*)? *\}}{_AFTER}").fullmatch
_ATOMS = re.compile(_ATOM).findall
_PAIRS = re.compile(rf"({_KEY}): +({_ATOM})").findall
_DOUBLE = re.compile(rf"\"((?:[^\"\\]|\\[\"\\nt])*)\"{_AFTER}").fullmatch
_SINGLE = re.compile(rf"'((?:[^']|'')*)'{_AFTER}").fullmatch
_LITERAL = re.compile(rf"\|([-+]?){_AFTER}").fullmatch
_ESCAPE = re.compile(r"\\(.)").sub
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def read(text: str) -> Any:
    """The value of the text, or NOT_MINE."""
    lines = text.split("\n")
    tabs = "\t" in text
    if not ("".join(lines).replace("\t", "") if tabs else "".join(lines)).isprintable():
        return NOT_MINE
    # The collections around the current one: indentation, collection, and the key whose value has still to come.
    outer: list[tuple[int, Any, str | None]] = []
    indent, into, pending = -1, _Top(), ""
    whole = into
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        match = _ENTRY(line) or _ITEM(line)
        if match is None:
            if not _is_blank(line) and not (into is whole and not whole and _START(line)):
                return NOT_MINE
            continue
        ...
    return whole.get("")
