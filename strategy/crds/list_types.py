"""Rules of list types: the items of a set are distinct, and so are the keys of the items of a map list."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.correlation import key_of
from podstrat.strategy.field import Errors


def rules(value: Any, node: Node | None, at: str = "") -> Errors:
    """Upstream: listtype.ValidateListSetsAndMaps"""
    if node is None or not node.lists_below:
        return
    if isinstance(value, list):
        if node.list_type == "set":
            yield from _set(value, at)
        elif node.list_type == "map":
            yield from _map(value, node, at)
        for i, item in enumerate(value):
            yield from rules(item, node.items, f"{at}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                where = (f"{at}.{key}" if at else key) if key in node.properties else f"{at}[{key}]"
                yield from rules(item, node.member(key), where)


def _set(items: list[Any], at: str) -> Errors:
    seen: set[Any] = set()
    for i, item in enumerate(items):
        key = _identity(item)
        if key in seen:
            yield field.duplicate(f"{at}[{i}]", item)
        seen.add(key)


def _identity(value: Any) -> Any:
    """What tells items of a set apart: 1 and 1.0 are two."""
    if isinstance(value, dict):
        return "map", tuple(sorted((key, _identity(item)) for key, item in value.items()))
    return ("list", tuple(map(_identity, value))) if isinstance(value, list) else (type(value).__name__, value)


def _map(items: list[Any], node: Node, at: str) -> Errors:
    """A repeated key is told once."""
    seen: set[Any] = set()
    reported: set[Any] = set()
    for i, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        key = key_of(item, node.keys)
        if key in seen and key not in reported:
            reported.add(key)
            yield field.duplicate(f"{at}[{i}]", {name: item[name] for name in sorted(node.keys) if name in item})
        seen.add(key)
