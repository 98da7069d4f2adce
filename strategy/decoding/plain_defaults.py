"""Defaults that depend on no other field, by type.

A reader that makes its objects anew begins with them (decoding.fast); objects that are there already are gone through here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.api import types

Object = dict[str, Any]
Table = frozenset[tuple[str, tuple[tuple[str, str | int], ...]]]
"""Types, each with its fields and their defaults."""


class Filling(NamedTuple):
    """What is filled into the objects of one type."""

    own: tuple[tuple[str, str | int], ...]
    inner: tuple[tuple[str, bool, Filling], ...]
    """The fields that lead to further defaults, and whether they are lists."""


def fill(obj: Object, type_name: str, table: Table) -> None:
    """Fills in what an object, and all that is in it, does not say."""
    _fill(obj, _filling(type_name, table))


def _fill(obj: Object, filling: Filling) -> None:
    for name, value in filling.own:
        if obj.get(name) is None:
            obj[name] = value
    for name, is_list, inner in filling.inner:
        if name not in obj:
            continue
        if is_list:
            for each in obj[name] or ():
                _fill(each, inner)
        else:
            _fill(obj[name], inner)


@lru_cache(maxsize=1024)
def _filling(type_name: str, table: Table) -> Filling:
    inner = []
    newest = types.load(types.RELEASES[-1])  # whose objects have all the fields of earlier ones
    for field in newest.fields(type_name).values():
        if field.type in newest and field.shape != "map":
            leading = _filling(field.type, table)
            if leading.own or leading.inner:
                inner.append((field.name, field.shape == "list", leading))
    return Filling(dict(table).get(type_name, ()), tuple(inner))
