"""Semantic equality: quantities by value, absent lists and maps equal to empty ones, everything else exactly."""

from __future__ import annotations

from typing import Any

from podstrat.strategy.api.types import Field, Types
from podstrat.strategy.formats import quantity


def equal(a: Any, b: Any, type_name: str, types: Types) -> bool:
    """Whether two objects of one type mean the same.

    A pointer to an empty object is not the same as none.
    Upstream: apiequality.Semantic.DeepEqual
    """
    return a == b or _mean_the_same(a, b, type_name, types)


def _mean_the_same(a: Any, b: Any, type_name: str, types: Types) -> bool:
    """Whether two objects that differ to the letter mean the same."""
    fields = types.fields(type_name)
    for key in {**a, **b}:
        x, y = a.get(key), b.get(key)
        if x != y and key in fields and not _member(x, y, fields[key], types):
            return False
    return True


def same(a: Any, b: Any, field: Field, types: Types) -> bool:
    """Whether two values mean the same as a field."""
    return a == b or _member(a, b, field, types)


def _member(a: Any, b: Any, field: Field, types: Types) -> bool:
    """Whether two values that differ to the letter mean the same as a field."""
    if field.shape == "list":
        a, b = a or (), b or ()
        return len(a) == len(b) and all(_value(x, y, field.type, types) for x, y in zip(a, b, strict=True))
    if field.shape == "map":
        a, b = a or {}, b or {}
        return a.keys() == b.keys() and all(_value(a[key], b[key], field.type, types) for key in a)
    return _value(a, b, field.type, types)


def _value(a: Any, b: Any, type_name: str, types: Types) -> bool:
    if a == b:
        return True
    if a is None or b is None:
        return False
    if type_name == "Quantity":
        return quantity.parse(a) == quantity.parse(b)
    return isinstance(a, dict) and isinstance(b, dict) and _mean_the_same(a, b, type_name, types)
