"""Regular expressions: matches, find and findAll, by RE2 as the CEL library has it, so that no pattern takes exponential time."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from podstrat.cel.errors import EvaluationError
from podstrat.cel.parser import environment
from podstrat.cel.values import type_name

SIGNATURES = """
(string).find(string) -> string
(string).findAll(string) -> list(string)
(string).findAll(string, int) -> list(string)
"""

_PLAIN = re.compile(r"\^?[A-Za-z0-9 :/_@-]*\$?")
"""Patterns that mean the same to Python, without repetition or choice: matched without the library."""
_GROUP = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\((?!\?)|\(\?P?<\w++>", re.DOTALL)
"""Escapes and character classes, which are kept, and the openings of capturing groups, which are not."""


def matches(text: Any, pattern: Any) -> bool:
    """Whether a part of the text matches."""
    _check("matches", text, pattern)
    if _PLAIN.fullmatch(pattern):
        return _contains(text, pattern)
    return bool(_result(_program("text.matches(pattern)"), text, pattern))


def _contains(text: str, pattern: str) -> bool:
    """Whether a plain pattern matches: a text, at the beginning, at the end or anywhere."""
    plain = pattern.removeprefix("^").removesuffix("$")
    if pattern.startswith("^"):
        return text == plain if pattern.endswith("$") else text.startswith(plain)
    return text.endswith(plain) if pattern.endswith("$") else plain in text


def find_all(text: Any, pattern: Any, limit: int = -1) -> list[str]:
    """The parts of the text that match, from left to right; at most so many as a limit that is not negative."""
    _check("findAll", text, pattern)
    texts = _result(_program("regex.extractAll(text, pattern)"), text, _without_groups(pattern))
    parts = [part.value() for part in texts]
    return parts if limit < 0 else parts[:limit]


def find(text: Any, pattern: Any) -> str:
    """The first part of the text that matches; empty if none does."""
    return next(iter(find_all(text, pattern)), "")


def is_valid(pattern: str) -> bool:
    """Whether a pattern compiles."""
    try:
        matches("", pattern)
    except EvaluationError:
        return False
    return True


def _check(name: str, text: Any, pattern: Any) -> None:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise EvaluationError(f"no such overload: {name}({type_name(text)}, {type_name(pattern)})")


def _result(program: Any, text: str, pattern: str) -> Any:
    value = program.eval(data={"text": text, "pattern": pattern})
    result = value.value()
    if isinstance(result, bool | list):
        return result
    raise EvaluationError(_fault(str(result), pattern))


def _fault(text: str, pattern: str) -> str:
    """RE2's message as Go's regexp words it."""
    reason = text.partition("invalid regular expression: ")[2] or text
    word, _, part = reason.partition(": ")
    messages = {"missing )": "missing closing )", "missing ]": "missing closing ]", "unexpected )": "unexpected )"}
    messages |= {"no argument for repetition operator": "missing argument to repetition operator"}
    messages |= {
        "invalid repetition size": "invalid repeat count",
        "bad repetition operator": "invalid nested repetition operator",
    }
    return f"error parsing regexp: {messages.get(word, word)}: `{part or pattern}`"


@cache
def _program(expression: str) -> Any:
    return environment("regex", "optional").compile(expression, disable_check=True)


@lru_cache(1000)
def _without_groups(pattern: str) -> str:
    """The pattern with its capturing groups made plain groups: what counts is the whole match."""
    return _GROUP.sub(lambda match: "(?:" if match[0].startswith("(") else match[0], pattern)


FUNCTIONS: dict[str, Any] = {"find": find, "findAll": find_all}
GROWING = frozenset(FUNCTIONS)
