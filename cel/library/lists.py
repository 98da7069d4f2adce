"""The lists and sets libraries: sum, min, indexOf, sort, distinct, flatten, sets.contains and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload
from podstrat.cel.library import strings
from podstrat.cel.library.numbers import add
from podstrat.cel.values import NONE, Optional

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED = ("int", "uint", "double", "duration")

SIGNATURES = "\n".join(
    [
        *(f"(list({a})).isSorted() -> bool" for a in _COMPARABLE),
        *(f"(list({a})).{name}() -> {a}" for name in ("min", "max") for a in _COMPARABLE),
        *(f"(list({a})).sum() -> {a}" for a in _SUMMED),
        "(list(A)).indexOf(A) -> int",
        "(list(A)).lastIndexOf(A) -> int",
        "(list(A)).distinct() -> list(A)",
        "(list(list(A))).flatten() -> list(A)",
        "(list(dyn)).flatten(int) -> list(dyn)",
        "lists.range(int) -> list(int)",
        "(list(A)).reverse() -> list(A)",
        "(list(A)).slice(int, int) -> list(A)",
        "(list(A)).first() -> optional_type(A)",
        "(list(A)).last() -> optional_type(A)",
        *(f"(list({a})).sort() -> list({a})" for a in _COMPARABLE),
        *(f"(list(A)).@sortByAssociatedKeys(list({a})) -> list(A)" for a in _COMPARABLE),
        "cel.@mapInsert(map(A, B), A, B) -> map(A, B)",
        "cel.@mapInsert(map(A, B), map(A, B)) -> map(A, B)",
        *(f"sets.{name}(list(A), list(A)) -> bool" for name in ("contains", "equivalent", "intersects")),
    ]
)
LONGEST_RANGE = 100_000
"""lists.range makes no longer list: one of more elements could not be visited within the budget anyway."""


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise no_such_overload()


def _is_sorted(items: Any) -> bool:
    return all(values.compare(a, b) <= 0 for a, b in zip(_items(items), items[1:], strict=False))


def _extreme(name: str, sign: int) -> Callable[[Any], Any]:
    def find(items: Any) -> Any:
        if not _items(items):
            raise EvaluationError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if values.compare(item, best) * sign > 0:
                best = item
        return best

    return find


def _sum(items: Any) -> Any:
    if not _items(items):
        return 0
    total = items[0]
    for item in items[1:]:
        total = add(total, item)
    return total


def _index_of(items: Any, value: Any, *start: int) -> int:
    if isinstance(items, str):
        return strings.index_of(items, value, *start)
    return next((i for i, item in enumerate(_items(items)) if values.equal(item, value)), -1)


def _last_index_of(items: Any, value: Any, *start: int) -> int:
    if isinstance(items, str):
        return strings.last_index_of(items, value, *start)
    return next((i for i in range(len(_items(items)) - 1, -1, -1) if values.equal(items[i], value)), -1)


def _distinct(items: Any) -> list[Any]:
    seen: set[Any] = set()
    result: list[Any] = []
    for item in _items(items):
        if type(item) is str:
            if item in seen:
                continue
            seen.add(item)
        elif any(values.equal(item, other) for other in result):
            continue
        result.append(item)
    return result


def _flatten(items: Any, depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    if depth == 0:
        return _items(items)
    result: list[Any] = []
    for item in _items(items):
        result += _flatten(item, depth - 1) if isinstance(item, list) else [item]
    return result


def _range(count: Any) -> list[int]:
    if count > LONGEST_RANGE:
        raise EvaluationError(f"lists.range is limited to {LONGEST_RANGE} elements")
    return list(range(count))


def _slice(items: Any, start: int, end: int) -> list[Any]:
    size = len(_items(items))
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if size < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {size}")
    return list(items[start:end])


def _sort(items: Any) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: Any, keys: Any) -> list[Any]:
    if len({type(key) for key in _items(keys)}) > 1:
        raise EvaluationError("list elements must have the same type")
    order = sorted(range(len(keys)), key=cmp_to_key(lambda i, j: values.compare(keys[i], keys[j])))
    return [items[i] for i in order]


def _insert(entries: dict[Any, Any], key: Any, *value: Any) -> dict[Any, Any]:
    """One entry more in the map that a fold makes: the map is the fold's own, so it is changed in place."""
    for new, item in ((key, value[0]),) if value else key.items():
        if new in entries:
            raise EvaluationError(f"insert failed: key {new} already exists")
        entries[new] = item
    return entries


def _contains(items: Any, others: Any) -> bool:
    return all(values.contains(_items(items), other) for other in _items(others))


FUNCTIONS: dict[str, Any] = {
    "isSorted": _is_sorted,
    "min": _extreme("min", -1),
    "max": _extreme("max", 1),
    "sum": _sum,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "distinct": _distinct,
    "flatten": _flatten,
    "lists.range": _range,
    "reverse": lambda items: _items(items)[::-1],
    "slice": _slice,
    "first": lambda items: Optional(True, items[0]) if _items(items) else NONE,
    "last": lambda items: Optional(True, items[-1]) if _items(items) else NONE,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort_by,
    "cel.@mapInsert": _insert,
    "sets.contains": _contains,
    "sets.equivalent": lambda items, others: _contains(items, others) and _contains(others, items),
    "sets.intersects": lambda items, others: any(values.contains(_items(items), other) for other in _items(others)),
}
GROWING = frozenset(FUNCTIONS) - {"cel.@mapInsert"}
QUADRATIC = frozenset({"distinct", "sets.contains", "sets.equivalent", "sets.intersects"})
"""Functions whose work is the product of the sizes of their arguments."""
