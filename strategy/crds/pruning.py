"""Pruning and defaulting of custom objects: private copies without unknown fields and stray nulls, with defaults."""

from __future__ import annotations

from typing import Any

from podstrat.strategy.crds.compiled import META_FIELDS, Node

Object = dict[str, Any]


def pruned(value: Any, node: Node | None, unknown: list[str], at: str = "") -> Any:
    """A copy with the fields that the schema has, keys in order; the paths of the others are added to ``unknown``.

    Upstream: pruning.PruneWithOptions
    """
    if isinstance(value, dict):
        if node is None:
            unknown.extend(_path(at, key) for key in value)
            return {}
        return _pruned_object(value, node, unknown, at)
    if isinstance(value, list):
        if node is not None and node.preserves and node.items is None:
            return copied(value)
        items = None if node is None else node.items
        return [pruned(item, items, unknown, f"{at}[{i}]") for i, item in enumerate(value)]
    return value


def _pruned_object(value: Object, node: Node, unknown: list[str], at: str) -> Object:
    out: Object = {}
    properties, additional = node.properties, node.additional
    for key in sorted(value):
        item = value[key]
        if node.embedded and key in META_FIELDS:
            out[key] = copied(item)
        elif (inner := properties.get(key)) is not None:
            out[key] = pruned(item, inner, unknown, _path(at, key)) if isinstance(item, (dict, list)) else item
        elif node.has_additional:
            out[key] = pruned(item, additional, unknown, _path(at, key)) if isinstance(item, (dict, list)) else item
        elif node.preserves:
            out[key] = copied(item)
        else:
            unknown.append(_path(at, key))
    return out


def _path(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def copied(value: Any) -> Any:
    """A deep copy with the keys of maps in order."""
    if isinstance(value, dict):
        return {key: copied(value[key]) for key in sorted(value)}
    return [copied(item) for item in value] if isinstance(value, list) else value


def through(obj: Object, node: Node) -> Object:
    """An object as it is read from storage: pruned, without stray nulls, defaulted."""
    copy: Object = pruned(obj, node, [])
    drop_nulls(copy, node)
    fill(copy, node)
    return copy


def drop_nulls(value: Any, node: Node | None) -> None:
    """Takes out the nulls of fields that are not nullable and have no default.

    Upstream: PruneNonNullableNullsWithoutDefaults
    """
    if node is None:
        return
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None or isinstance(item, (dict, list))]:
            inner = node.member(key)
            if inner is None:
                continue
            if value[key] is None:
                if not inner.nullable and not inner.has_default:
                    del value[key]
            else:
                drop_nulls(value[key], inner)
    elif isinstance(value, list):
        for item in value:
            drop_nulls(item, node.items)


def fill(value: Any, node: Node | None) -> None:
    """Sets the defaults of what is missing, or null where it cannot be; top down.

    Upstream: defaulting.Default
    """
    if node is None or not node.defaults_below:
        return
    if isinstance(value, dict):
        for key, inner in node.properties.items():
            if inner.has_default and (key not in value or (value[key] is None and not inner.nullable)):
                value[key] = copied(inner.default)
        for key, item in value.items():
            following = node.member(key)
            if following is None:
                continue
            if item is None and not following.nullable and key not in node.properties:
                value[key] = copied(following.default)
            fill(value[key], following)
    elif isinstance(value, list) and node.items is not None:
        for i, item in enumerate(value):
            if item is None and not node.items.nullable:
                value[i] = copied(node.items.default)
            fill(value[i], node.items)
