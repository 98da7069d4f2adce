"""The order of keys in printed objects: that of the Go structs, and of maps that of their keys.

A client that sends back what it has read is told the first wrong type in this order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Field, Types

Object = dict[str, Any]

_MOST_LAYOUTS: Final = 256  # sets of keys that are kept: manifests have a few dozen


class Layout(NamedTuple):
    """What to do with an object that has these keys in this order."""

    order: tuple[str, ...] | None
    """The keys as they are printed; None if they stand so already."""
    inner: tuple[tuple[str, str, Order | None], ...]
    """The keys that hold objects or maps, with their shape and, for objects of a known type, their order."""


class Order:
    """The order of the keys of one type."""

    __slots__ = ("_fields", "_types", "layouts", "ranks")

    def __init__(self, types: Types, type_name: str) -> None:
        self._types = types
        self._fields: dict[str, Field] = types.fields(type_name)
        self.ranks = {name: rank for rank, name in enumerate(self._fields)}
        self.layouts: dict[tuple[str, ...], Layout] = {}
        """By the keys of an object, as asked for lately."""

    def layout(self, names: tuple[str, ...]) -> Layout:
        if len(self.layouts) >= _MOST_LAYOUTS:
            self.layouts.clear()
        last = len(self.ranks)
        order = tuple(sorted(names, key=lambda name: self.ranks.get(name, last)))
        inner = []
        for name in names:
            field = self._fields.get(name)
            if field is None:
                continue
            below = of(self._types, field.type) if field.type in self._types else None
            if below is not None or field.shape == "map":
                inner.append((name, field.shape, below))
        layout = self.layouts[names] = Layout(None if order == names else order, tuple(inner))
        return layout


@lru_cache(maxsize=4096)
def of(types: Types, type_name: str) -> Order:
    """The order of a type: the same object for the same type."""
    return Order(types, type_name)


def ordered(obj: Object, type_name: str, types: Types) -> Object:
    """The object with its keys in order. Nothing that is given is changed, and what is in order is not copied."""
    return _ordered(obj, of(types, type_name)) if type_name in types else obj


def _ordered(obj: Object, order: Order) -> Object:
    names = tuple(obj)
    target, inner = order.layouts.get(names) or order.layout(names)
    changed: Object | None = None
    for name, shape, below in inner:
        value = obj[name]
        if not value:
            continue
        if shape == "value":
            new = _ordered(value, below) if below is not None else value
        elif shape == "list":
            new = _items(value, below)
        else:
            new = _map(value, below)
        if new is not value:
            changed = {**obj, name: new} if changed is None else {**changed, name: new}
    if changed is not None:
        obj = changed
    return obj if target is None else {name: obj[name] for name in target}


def _items(items: list[Any], below: Order | None) -> list[Any]:
    if below is None:
        return items
    out = items
    for i, item in enumerate(items):
        new = _ordered(item, below) if item else item
        if new is not item:
            out = out if out is not items else items.copy()
            out[i] = new
    return out


def _map(items: Object, below: Order | None) -> Object:
    if below is not None:
        new = {key: _ordered(item, below) if item else item for key, item in items.items()}
        items = new if any(new[key] is not item for key, item in items.items()) else items
    keys = list(items)
    target = sorted(keys)
    return items if keys == target else {key: items[key] for key in target}
