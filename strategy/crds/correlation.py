"""Correlation of the values of an update with those that they replace: fields by name, items of map lists by their keys."""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy.crds.compiled import Node

MISSING: Final[Any] = object()
"""There is no such old value."""


def same(value: Any, old: Any) -> bool:
    """Whether two values are deeply equal; true is not 1."""
    if isinstance(value, bool) or isinstance(old, bool):
        return value is old
    if isinstance(value, dict):
        return isinstance(old, dict) and value.keys() == old.keys() and all(same(item, old[key]) for key, item in value.items())
    if isinstance(value, list):
        return isinstance(old, list) and len(value) == len(old) and all(map(same, value, old))
    return bool(value == old) if type(value) is type(old) or {type(value), type(old)} == {int, float} else False


def member_of(old: Any, key: str) -> Any:
    """The old value of a field."""
    return old.get(key, MISSING) if isinstance(old, dict) else MISSING


class Items:
    """The old items of a list, by key. Those of other lists than maps correlate only as a whole."""

    __slots__ = ("_by_key", "_names")

    def __init__(self, old: Any, node: Node) -> None:
        self._names = node.keys if node.list_type == "map" and isinstance(old, list) else ()
        self._by_key = {} if not self._names else {key_of(item, self._names): item for item in reversed(old)}

    def of(self, item: Any) -> Any:
        """The old value of an item."""
        return self._by_key.get(key_of(item, self._names), MISSING) if self._names else MISSING


def key_of(item: Any, names: tuple[str, ...]) -> Any:
    """What tells an item of a map list apart."""
    if not isinstance(item, dict):
        return None
    return tuple(_hashable(item.get(name)) for name in names)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(item)) for key, item in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list) else (isinstance(value, bool), value)
