"""Rules that the API types declare themselves. Where a release enforces them, their errors follow all others.

A rule marks an error that a declaration tells as well with ``covered``; ``last`` moves the marked ones behind the others, into
the order in which declarations are evaluated: that of the fields of the types, duplicates of a list before its items.
"""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.api.types import Types
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors, FieldError

Key = tuple[tuple[int, int], ...]
_DUPLICATES = -1
"""The place of duplicates among the items of their list."""


class Covered(FieldError):
    """An error of a rule that the type declares as well."""

    __slots__ = ()


def covered(errors: Iterable[FieldError]) -> Errors:
    for error in errors:
        yield Covered(*error)


def last(errors: Iterable[FieldError], type_name: str, ctx: Context) -> Errors:
    """The errors of an object of a type, those of declared rules last."""
    if not ctx.declares:
        yield from errors
        return
    declared: list[FieldError] = []
    for error in errors:
        if isinstance(error, Covered):
            declared.append(error)
        else:
            yield error
    names: dict[str, int] = {}
    declared.sort(key=lambda error: _key(error, type_name, ctx.types, names))
    yield from declared


def _key(error: FieldError, type_name: str, types: Types, names: dict[str, int]) -> Key:
    """Where the declaration of an error stands: the rank of each field on the way, and the index in each list.

    The keys of maps, which Go takes in any order, are numbered as they come.
    """
    key: list[tuple[int, int]] = []
    holder = type_name
    for bracketed, name in field.parts(error.field):
        if name:
            fields = types.fields(holder) if holder in types else {}
            ranks = list(fields)
            key.append((ranks.index(name) if name in fields else len(ranks), 0))
            holder = fields[name].type if name in fields else ""
        else:
            key.append((0, int(bracketed) if bracketed.isdecimal() else names.setdefault(bracketed, len(names))))
    if error.type == "FieldValueDuplicate":
        key[-1] = (_DUPLICATES, key[-1][1])
    return tuple(key)
