"""The order of a list that a strategic merge patch has merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.patch import goprint, refusals

DELETE = "delete"
DIRECTIVE = "$patch"
UNCOMPARABLE = (dict, list)


class Ranks:
    """Where values first stand in a list. Go compares by type and value, and panics where it compares two maps or two lists."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._first: dict[tuple[type, Any], int] = {}
        self._uncomparable: set[type] = set()
        for position, value in enumerate(values):
            self.add(value, position)

    def add(self, value: Any, position: int) -> None:
        if isinstance(value, UNCOMPARABLE):
            self._uncomparable.add(type(value))
        else:
            self._first.setdefault((type(value), value), position)

    def of(self, value: Any) -> int:
        """The position of the first equal value, or -1."""
        if isinstance(value, UNCOMPARABLE):
            if type(value) in self._uncomparable:
                raise refusals.crashed()
            return -1
        return self._first.get((type(value), value), -1)


def no_merge_key(item: dict[str, Any], key: str) -> errors.ServerError:
    return errors.ServerError(f"map: {goprint.plain(item)} does not contain declared merge key: {key}")


def bad_type(expected: type, actual: Any) -> errors.ServerError:
    return errors.ServerError(f"expected a {goprint.go_types[expected]}, but received a {goprint.go_types[type(actual)]}")


def arrange(merged: list[Any], patch: list[Any], original: list[Any], key: str, maps: bool) -> list[Any]:
    """Items of the patch in its order, the others in theirs; an other item goes before the first patch item that it preceded.

    Upstream: partitionMapsByPresentInList, partitionPrimitivesByPresentInList, normalizeElementOrder
    """
    listed, others = _partition_maps(merged, patch, key) if key else _partition_scalars(merged, patch)
    listed = _sorted(listed, patch, key, maps)
    others = _sorted(others, original, key, maps)
    ranks = Ranks(_values(original, key, maps))
    other_ranks, listed_ranks = ([ranks.of(value) for value in _values(items, key, maps)] for items in (others, listed))
    return _interleaved(others, listed, other_ranks, listed_ranks)


def _values(items: Iterable[Any], key: str, maps: bool) -> list[Any]:
    if not maps:
        return list(items)
    return [item.get(key) if isinstance(item, dict) else None for item in items]


def _partition_scalars(merged: list[Any], by: list[Any]) -> tuple[list[Any], list[Any]]:
    # They are put into a Go map, where a key that is itself a map or a list panics.
    if any(isinstance(item, UNCOMPARABLE) for items in (by, merged) for item in items):
        raise refusals.crashed()
    ranks = Ranks(by)
    listed = [item for item in merged if ranks.of(item) >= 0]
    return listed, [item for item in merged if ranks.of(item) < 0]


def _partition_maps(merged: list[Any], by: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    ranks = Ranks()
    stray = len(by)
    for position, item in enumerate(by):
        if not isinstance(item, dict):
            stray = position
            break
        if key in item:
            ranks.add(item[key], position)
    listed: list[Any] = []
    others: list[Any] = []
    for item in merged:
        _keyed(item, key)
        is_ranked = ranks.of(item[key]) >= 0
        if not is_ranked and stray < len(by):
            raise errors.ServerError(f"value for key {stray} is not a map")
        (listed if is_ranked else others).append(item)
    return listed, others


def _keyed(item: Any, key: str) -> None:
    if not isinstance(item, dict):
        raise bad_type(dict, item)
    if key not in item:
        raise no_merge_key(item, key)


def _sorted(items: list[Any], order: list[Any], key: str, maps: bool) -> list[Any]:
    """The items in the order given, those to be deleted last.

    Upstream: normalizeSliceOrder
    """
    deleted: list[Any] = []
    if maps:
        for item in [*items, *order]:
            _keyed(item, key)
        others, deleted = split_deleted(items)
    else:
        others = items
    ranks = Ranks(_values(order, key, maps))
    return _insertion_sorted(others, [ranks.of(value) for value in _values(others, key, maps)]) + deleted


def split_deleted(items: list[Any]) -> tuple[list[Any], list[Any]]:
    """The items to keep, and those with ``$patch: delete``.

    Upstream: extractToDeleteItems
    """
    others: list[Any] = []
    deleted: list[Any] = []
    for item in items:
        if not isinstance(item, dict):
            raise bad_type(dict, item)
        (deleted if item.get(DIRECTIVE) == DELETE else others).append(item)
    return others, deleted


def _insertion_sorted(items: list[Any], ranks: Sequence[int]) -> list[Any]:
    if -1 not in ranks:
        return [item for _, item in sorted(zip(ranks, items, strict=True), key=lambda pair: pair[0])]
    # An item without a rank counts as less than any other and any other as less than it, so the sorting method shows: going
    # through the items from the front, one without a rank comes to the very front, and one with a rank right behind the last that
    # has no higher one, or to the front.
    behind = _last_not_higher(ranks)
    after: dict[int, int] = {}
    front = -1
    for at, rank in enumerate(ranks):
        if rank >= 0 and behind[at] >= 0:
            after[at] = after[behind[at]]
            after[behind[at]] = at
        else:
            after[at] = front
            front = at
    row: list[Any] = []
    while front >= 0:
        row.append(items[front])
        front = after[front]
    return row


def _last_not_higher(ranks: Sequence[int]) -> list[int]:
    """For each item with a rank the one that comes last when those before it with ranks up to its own are sorted, or -1.

    Found backwards: all are sorted, and one after the other is taken out again.
    """
    ordered = [at for _, at in sorted((rank, at) for at, rank in enumerate(ranks) if rank >= 0)]
    left, right = [-1] * (len(ranks) + 1), [-1] * (len(ranks) + 1)
    for one, other in pairwise(ordered):
        left[other], right[one] = one, other
    for at in sorted(ordered, reverse=True):
        if right[at] >= 0:
            left[right[at]] = left[at]
        if left[at] >= 0:
            right[left[at]] = right[at]
    return left


def _interleaved(others: list[Any], listed: list[Any], other_ranks: list[int], listed_ranks: list[int]) -> list[Any]:
    """Both lists in one: an other item goes before the first listed one that it preceded.

    Upstream: mergeSortedSlice
    """
    result: list[Any] = []
    at = 0
    for item, rank in zip(listed, listed_ranks, strict=True):
        while at < len(others) and 0 <= other_ranks[at] < rank:
            result.append(others[at])
            at += 1
        result.append(item)
    return result + others[at:]
