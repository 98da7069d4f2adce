"""Long sums: `a + b + c …` with more terms than the CEL library nests are parsed term by term."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from podstrat.cel.syntax import Call, Node, Tree

LONGEST = 120
"""Terms: a sum nests on its left side, and the checker and interpreter follow it down."""

_TOKEN = re.compile(
    r"(?P<text>[rRbB]{0,2}(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"))"
    r"|(?P<comment>//[^\n]*)|(?P<word>\w+)|(?P<mark>\|\||&&|[=!<>]=|\S)",
    re.DOTALL,
)
_OPERATORS = frozenset(("||", "&&", "?", ":", "==", "!=", "<", ">", "<=", ">=", "in", "-"))
"""What binds no tighter than a plus."""


class Term(NamedTuple):
    start: int
    end: int


def parse(text: str, parse_term: Callable[[str], Tree]) -> Tree | None:
    """The tree of a sum, each term parsed by itself; None if the text is not one, or too long a one."""
    terms = _terms(text)
    if not 1 < len(terms) <= LONGEST:
        return None
    sum_: Node | None = None
    positions: dict[int, int] = {}
    count = 0
    for term in terms:
        tree = parse_term(text[term.start : term.end])
        highest = max(tree.positions, default=0)
        positions |= {id + count: offset + term.start for id, offset in tree.positions.items()}
        node: Node = _renumbered(tree.root, count)
        count += highest + 1
        if sum_ is not None:
            positions[count] = term.start - 1
            node = Call(count, None, "_+_", (sum_, node))
            count += 1
        sum_ = node
    return None if sum_ is None else Tree(sum_, positions)


def _terms(text: str) -> list[Term]:
    """The terms of a sum; one for any other expression."""
    depth, start, terms, after_operand = 0, 0, [], False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if token.lastgroup == "comment":
            continue
        if token.lastgroup != "text":
            depth += (mark in "([{") - (mark in ")]}") if len(mark) == 1 else 0
            if depth == 0 and after_operand and mark in _OPERATORS:
                return []
            if depth == 0 and mark == "+":
                terms.append(Term(start, token.start()))
                start = token.end()
        after_operand = token.lastgroup in ("text", "word") or mark in ")]}"
    return [*terms, Term(start, len(text))]


def _renumbered(node: Any, by: int) -> Any:
    """A node, and all below it, with other numbers."""
    if isinstance(node, tuple):
        return tuple(_renumbered(each, by) for each in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    values = {field.name: getattr(node, field.name) for field in fields(node)}
    return type(node)(**{name: value + by if name == "id" else _renumbered(value, by) for name, value in values.items()})
