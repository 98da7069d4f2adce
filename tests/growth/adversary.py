"""Inputs that a regular expression has a hard time with, made from the expression itself.

Each unlimited repetition is pumped, with characters that it and its neighbours share, and the text ends in what the pattern does
not take: a matcher that tries every way to share the characters out among repetitions takes more than linear time with one of
these. The other half is for patterns that are searched for: the beginning of a match again and again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

PREFERRED = 'a0A-./: "\\[{(\n'
ENDS = ("", "!", "\n")


def texts(pattern: str, flags: int, size: int) -> Iterator[str]:
    tree = _parser.parse(pattern, flags)
    seen: set[str] = set()
    for preferred in PREFERRED:
        bases = [_sample(tree, preferred, size)[: 2 * size], preferred * size]
        for length in range(1, len(tree) + 1):
            beginning = _sample(tree[:length], preferred, 1)
            bases.append(beginning * (size // max(1, len(beginning))))
        for text in bases:
            for end in ENDS:
                if text + end not in seen:
                    seen.add(text + end)
                    yield text + end


def _sample(tree: Any, preferred: str, repeat: int) -> str:
    return "".join(_node(op, value, preferred, repeat) for op, value in tree)


def _node(op: Any, value: Any, preferred: str, repeat: int) -> str:
    if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
        least, most, inner = value
        times = max(least, repeat) if most is _constants.MAXREPEAT else max(least, min(most, 1))
        # What is inside of a repetition is not repeated as well: the length stays the size.
        return _sample(inner, preferred, 1) * times
    if op is _constants.SUBPATTERN:
        return _sample(value[3], preferred, repeat)
    if op is _constants.ATOMIC_GROUP:
        return _sample(value, preferred, repeat)
    if op is _constants.BRANCH:
        choices = [_sample(each, preferred, repeat) for each in value[1]]
        return next((each for each in choices if preferred in each), max(choices, key=len))
    if op is _constants.LITERAL:
        return chr(value)
    if op is _constants.ANY:
        return preferred
    if op is _constants.NOT_LITERAL:
        return preferred if ord(preferred) != value else "b"
    if op is _constants.IN:
        return _member(value, preferred)
    return ""  # assertions, references back


def _member(items: Any, preferred: str) -> str:
    """The preferred character, if the set has it; else another that it has."""
    for each in (preferred, *PREFERRED, *map(chr, range(33, 127))):
        if _has(items, each):
            return each
    return preferred


def _has(items: Any, character: str) -> bool:
    negated = bool(items) and items[0][0] is _constants.NEGATE
    code = ord(character)
    found = any(
        (op is _constants.LITERAL and value == code)
        or (op is _constants.RANGE and value[0] <= code <= value[1])
        or (op is _constants.CATEGORY and _in_category(value, character))
        for op, value in items
    )
    return found != negated


def _in_category(category: Any, character: str) -> bool:
    letter = {
        _constants.CATEGORY_DIGIT: r"\d",
        _constants.CATEGORY_NOT_DIGIT: r"\D",
        _constants.CATEGORY_SPACE: r"\s",
        _constants.CATEGORY_NOT_SPACE: r"\S",
        _constants.CATEGORY_WORD: r"\w",
        _constants.CATEGORY_NOT_WORD: r"\W",
    }.get(category)
    return bool(letter and re.match(letter, character))
