"""Printer columns of custom objects: JSON paths as kubectl has them, and the cells that they fill."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from podstrat.strategy.formats import go

Object = dict[str, Any]
Step = Callable[[Any], Iterator[Any]]

_FIELD: Final = re.compile(r"\.((?:[^.\[\]\\'\"]|\\.)+)")
_QUOTED: Final = re.compile(r"\[\s*(?:'([^']*)'|\"([^\"]*)\")\s*\]")
_INDEX: Final = re.compile(r"\[\s*(-?\d+)\s*\]")
_SLICE: Final = re.compile(r"\[\s*+(-?\d*+)\s*+:\s*+(-?\d*+)\s*+(?::\s*+(-?\d*+)\s*+)?\]")
_FILTER: Final = re.compile(r"\[\?\(\s*+@([^=!<>\s]{0,512})\s*+(?:(==|!=|<=|>=|<|>)\s*+(.{0,512}?))?\s*+\)\]")
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


class BadPath(ValueError):
    """A JSON path that cannot be parsed."""


def compiled(path: str) -> Callable[[Any], list[Any]]:
    """A JSON path as a function of an object: the values that it leads to. BadPath if it cannot be parsed.

    Upstream: jsonpath.JSONPath
    """
    steps = list(_steps(path))

    def find(obj: Any) -> list[Any]:
        values = [obj]
        for step in steps:
            values = [inner for value in values for inner in step(value)]
        return values

    return find


def _steps(path: str) -> Iterator[Step]:
    at = 0
    while at < len(path):
        if path.startswith("..", at):
            yield _descend
            at += 1
            if path.startswith(".[", at):
                at += 1
            continue
        for pattern, make in _STEPS:
            if match := pattern.match(path, at):
                yield make(match)
                at = match.end()
                break
        else:
            if path.startswith("[*]", at) or path.startswith(".*", at):
                yield _each
                at += 3 if path[at] == "[" else 2
            elif path[at:] == ".":
                return
            else:
                raise BadPath(path)


def _descend(value: Any) -> Iterator[Any]:
    yield value
    for inner in _each(value):
        yield from _descend(inner)


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _named(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _field(match: re.Match[str]) -> Step:
    if match[1] == "*":
        return _each
    return _named(re.sub(r"\\(.)", r"\1", match[1]))


def _quoted(match: re.Match[str]) -> Step:
    return _named(match[1] if match[1] is not None else match[2])


def _index(match: re.Match[str]) -> Step:
    index = int(match[1])

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _slice(match: re.Match[str]) -> Step:
    bounds = [int(text) if text else None for text in match.groups()]
    part = slice(*bounds) if bounds[2] != 0 else slice(0)

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[part]

    return step


def _filter(match: re.Match[str]) -> Step:
    find, operator = compiled(match[1]), match[2]
    operand = _literal(match[3]) if operator else None

    def holds(item: Any) -> bool:
        member = find(item)
        if operator is None or not member:
            return bool(member)
        try:
            return _COMPARE[operator](member[0], operand)
        except TypeError:
            return False

    def step(value: Any) -> Iterator[Any]:
        yield from filter(holds, _each(value))

    return step


def _literal(text: str) -> Any:
    if text[:1] in "'\"" and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise BadPath(text) from None


_STEPS: Final = ((_FIELD, _field), (_QUOTED, _quoted), (_INDEX, _index), (_SLICE, _slice), (_FILTER, _filter))


def cell(column: Object, values: list[Any], age: Callable[[str], str]) -> Any:
    """The cell of a column for the values that its path leads to; ``age`` says how long ago a time was.

    Upstream: customResourceTable.ConvertToTable
    """
    if not values or values[0] is None:
        return None
    value, kind = values[0], column["type"]
    if kind == "integer":
        return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "date":
        return age(value) if isinstance(value, str) else "<invalid>"
    return text(value)


def text(value: Any) -> str:
    """A value as a column of strings shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return go.to_json(value, sort_keys=True)
