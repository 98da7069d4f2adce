"""Loops in CEL expressions: macros over lists of the request.

They are found in the syntax tree, by the estimate of `podstrat policy cost`. An expression that does not compile here, or
for which CEL is not installed, is scanned as text: servers may have functions that are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MACROS = ("all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap", "sortBy")
_TOKEN = re.compile(
    r"""(?P<text>[rRbB]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>\d[\w.]*)|(?P<mark>[^\s])""",
    re.DOTALL,
)
_OPEN, _CLOSE = "([{", ")]}"
ROOTS = ("object", "oldObject", "params", "namespaceObject")


class Loop(NamedTuple):
    """A macro: the list that it goes through, and where its body stands, as numbers of tokens."""

    receiver: tuple[int, int]
    body: tuple[int, int]


def nested(expression: str) -> str | None:
    """The inner list of the first loop over a list of the request inside a loop over such a list; None if there is none."""
    from podstrat import cel
    from podstrat.cel import growth
    from podstrat.strategy.rules import expressions

    try:
        program = expressions.compiled(expression.strip(), expressions.CONDITION, params=False)
    except (cel.CompileError, cel.MissingLibrary):
        return scanned(expression)
    for term in sorted(growth.estimate(program.tree.root, functions=False)):
        lists = [name for name in term if name.partition(".")[0] in ROOTS]
        if len(lists) > 1:
            return lists[-1]
    return None


def scanned(expression: str) -> str | None:
    """The same by a scan of the text."""
    tokens = [match[0] for match in _TOKEN.finditer(expression)]
    loops = [loop for loop in _loops(tokens) if _is_of_request(tokens, loop)]
    for outer in loops:
        for inner in loops:
            if outer.body[0] <= inner.receiver[0] and inner.body[1] <= outer.body[1]:
                return "".join(tokens[slice(*inner.receiver)])
    return None


def _loops(tokens: list[str]) -> Iterator[Loop]:
    for i in range(1, len(tokens) - 2):
        if tokens[i] == "." and tokens[i + 1] in MACROS and tokens[i + 2] == "(":
            yield Loop((_begin(tokens, i), i), (i + 3, _closing(tokens, i + 2)))


def _is_of_request(tokens: list[str], loop: Loop) -> bool:
    """Whether the length of the list depends on the request: not that of a literal, nor that of a loop variable."""
    begin, end = loop.receiver
    if tokens[begin] == "[":
        return False
    return any(
        token in ROOTS and (at == begin or tokens[at - 1] not in (".", "?")) for at, token in enumerate(tokens[begin:end], begin)
    )


def _closing(tokens: list[str], at: int) -> int:
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in _OPEN) - (tokens[i] in _CLOSE)
        if depth == 0:
            return i
    return len(tokens)


def _begin(tokens: list[str], dot: int) -> int:
    """Where the operand before a dot begins: names, calls and indices, back to what is none of them."""
    i = dot
    while i > 0:
        before = tokens[i - 1]
        if before in _CLOSE:
            i = _opening(tokens, i - 1)
            if i > 0 and _is_operand(tokens[i - 1]):
                continue
        elif before in (".", "?") or _is_operand(before):
            i -= 1
            continue
        else:
            return i
        if i > 0 and tokens[i - 1] not in (".", "?"):
            return i
    return i


def _opening(tokens: list[str], at: int) -> int:
    depth = 0
    for i in range(at, -1, -1):
        depth += (tokens[i] in _CLOSE) - (tokens[i] in _OPEN)
        if depth == 0:
            return i
    return 0


def _is_operand(token: str) -> bool:
    return (token[0].isalnum() or token[0] in "_'\"") and token not in ("in", "true", "false", "null")
