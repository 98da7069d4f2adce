"""Two objects side by side, as lines of YAML: what stays, what goes, what comes, and why. Linear in their size.

Lines are marked as in a diff: a blank, ``-`` or ``+``. Keys stand in the order of the first object; those that come are
behind them, by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from podstrat.check import yaml_writer
from podstrat.check.places import Place

STAYS, GOES, COMES = " ", "-", "+"
MOST = 20_000
"""Lines of one comparison."""


class Row(NamedTuple):
    sign: str
    text: str
    note: str = ""


class Compared:
    """Two objects, with remarks on the fields of either."""

    def __init__(
        self,
        before: dict[str, Any],
        after: dict[str, Any],
        gone: Mapping[Place, str] | None = None,
        come: Mapping[Place, str] | None = None,
    ) -> None:
        self._before, self._after = before, after
        self._gone, self._come = gone or {}, come or {}

    def rows(self) -> Iterator[Row]:
        return self._mappings(self._before, self._after, (), "")

    def _mappings(self, before: dict[str, Any], after: dict[str, Any], at: Place, indent: str) -> Iterator[Row]:
        for key in [*before, *sorted(set(after) - set(before))]:
            head, place = f"{indent}{yaml_writer.scalar(key)}:", (*at, key)
            if key not in after:
                yield from self._one(GOES, key, before[key], place, indent)
            elif key not in before:
                yield from self._one(COMES, key, after[key], place, indent)
            elif _is_inner(before[key], after[key]):
                yield Row(STAYS, head, self._come.get(place, ""))
                yield from self._inside(before[key], after[key], place, indent)
            elif _same(before[key], after[key]):
                yield from self._one(STAYS, key, after[key], place, indent)
            else:
                yield from self._one(GOES, key, before[key], place, indent)
                yield from self._one(COMES, key, after[key], place, indent)

    def _inside(self, before: Any, after: Any, at: Place, indent: str) -> Iterator[Row]:
        if isinstance(before, dict):
            yield from self._mappings(before, after, at, f"{indent}  ")
        else:  # lists stand as far left as their key
            yield from self._lists(before, after, at, indent)

    def _in_item(self, before: Any, after: Any, at: Place, indent: str) -> Iterator[Row]:
        """The same in an item of a list, whose lines stand behind its dash, lists among them."""
        return self._inside(before, after, at, indent if isinstance(before, dict) else f"{indent}  ")

    def _lists(self, before: list[Any], after: list[Any], at: Place, indent: str) -> Iterator[Row]:
        for number in range(max(len(before), len(after))):
            place = (*at, number)
            if number >= len(after):
                yield from self._item(GOES, before[number], place, indent)
            elif number >= len(before):
                yield from self._item(COMES, after[number], place, indent)
            elif _is_inner(before[number], after[number]):
                yield from _dashed(self._in_item(before[number], after[number], place, indent), indent)
            elif _same(before[number], after[number]):
                yield from self._item(STAYS, after[number], place, indent)
            else:
                yield from self._item(GOES, before[number], place, indent)
                yield from self._item(COMES, after[number], place, indent)

    def _one(self, sign: str, key: str, value: Any, place: Place, indent: str) -> Iterator[Row]:
        """A field with all that is in it."""
        if isinstance(value, (dict, list)) and value:
            yield Row(sign, f"{indent}{yaml_writer.scalar(key)}:", self._note(sign, place))
            yield from self._inside(*_sides(sign, value), place, indent)
        else:
            yield from self._lines(sign, {key: value}, place, indent)

    def _item(self, sign: str, value: Any, place: Place, indent: str) -> Iterator[Row]:
        if isinstance(value, (dict, list)) and value:
            first, *rest = _dashed(self._in_item(*_sides(sign, value), place, indent), indent)
            yield first._replace(note=self._note(sign, place) or first.note)
            yield from rest
        else:
            yield from self._lines(sign, [value], place, indent)

    def _lines(self, sign: str, value: Any, place: Place, indent: str) -> Iterator[Row]:
        """A scalar, which may be a text of several lines."""
        first, *rest = yaml_writer.lines(value)
        yield Row(sign, f"{indent}{first}", self._note(sign, place))
        yield from (Row(sign, f"{indent}{line}") for line in rest)

    def _note(self, sign: str, place: Place) -> str:
        return (self._gone if sign == GOES else self._come).get(place, "")


def _is_inner(before: Any, after: Any) -> bool:
    """Whether both are mappings, or both lists, that can be compared field by field."""
    both = (dict, list)
    return type(before) is type(after) and isinstance(before, both) and bool(before) and bool(after)


def _sides(sign: str, value: Any) -> tuple[Any, Any]:
    """A value and an empty one of its kind, as before and after."""
    empty: Any = type(value)()
    return (value, empty) if sign == GOES else (empty, value)


def _same(before: Any, after: Any) -> bool:
    """Equal as JSON: 1 is not true."""
    return before == after and isinstance(before, bool) == isinstance(after, bool)


def _dashed(rows: Iterator[Row], indent: str) -> Iterator[Row]:
    """The rows of an item: the first one on each side has its dash."""
    sides = {GOES, COMES}
    for row in rows:
        mine = sides if row.sign == STAYS else {row.sign}
        if mine & sides:
            row = row._replace(text=f"{indent}- {row.text[len(indent) + 2 :]}")
            sides -= mine
        yield row


def shown(rows: Iterator[Row]) -> list[list[str]]:
    """For the page: at most MOST rows, each as a list."""
    from itertools import islice

    lines = [[row.sign, row.text, row.note] if row.note else [row.sign, row.text] for row in islice(rows, MOST)]
    return [*lines, [STAYS, "…"]] if len(lines) == MOST else lines
