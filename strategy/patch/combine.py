"""Merging by schema: one object into another, or an object without a set of fields.

Nothing that is given is changed, and what does not change is shared.
"""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy.patch import typed
from podstrat.strategy.patch.fieldset import Tree, is_member
from podstrat.strategy.patch.schema import ANY, MAP, OBJECT, SCALAR, Node

_ABSENT: Final = object()


def merged(live: Any, applied: Any, node: Node) -> Any:
    """The live value with an applied one laid over it: nothing goes away by this, and the applied order of items wins.

    Upstream: TypedValue.Merge
    """
    if live is _ABSENT or node.leaf or not live or (node.deduced and not isinstance(live, dict)):
        return applied
    if not applied:
        return live
    if node.deduced and not isinstance(applied, dict):
        return applied
    if node.form in (OBJECT, MAP):
        return _merged_maps(live, applied, node)
    return _merged_lists(live, applied, node)


def _merged_maps(live: dict[str, Any], applied: dict[str, Any], node: Node) -> dict[str, Any]:
    out = live
    for name, item in applied.items():
        inner = node.member(name)
        assert inner is not None
        new = merged(live.get(name, _ABSENT), item, inner)
        if name not in live or new is not live[name]:
            out = out if out is not live else dict(live)
            out[name] = new
    return out


def _merged_lists(live: list[Any], applied: list[Any], node: Node) -> list[Any]:
    """Applied items in their order; live ones that are not applied where they stood, and new ones as late as that allows.

    A live item whose key stands there several times is not merged but replaced.
    Upstream: mergingWalker.visitListItems
    """
    assert node.element is not None
    remaining = [typed.element(node, item) for item in live]
    right = {typed.element(node, item): item for item in applied}
    by_element: dict[str, Any] = {}
    for key, item in zip(remaining, live, strict=True):
        by_element[key] = None if key in by_element else item
    order = list(right)
    shared = [key for key in order if key in by_element][::-1]
    elements = set[str]()
    out: list[Any] = []
    i = j = 0
    while i < len(remaining) or j < len(order):
        key = remaining[i] if i < len(remaining) else ""
        if key and key not in right:
            out.append(live[i])
            i += 1
            continue
        if key and j < len(order) and key != order[j] and shared and shared[-1] != key:
            # It is applied, but further on.
            i += 1
            continue
        if key and (key in elements or (j < len(order) and key == order[j])):
            i += 1
        if j < len(order):
            key = order[j]
            elements.add(key)
            out.append(merged(by_element.get(key, _ABSENT), right[key], node.element))
            j += 1
            if shared and shared[-1] == key:
                shared.pop()
    same = len(out) == len(live) and all(new is old for new, old in zip(out, live, strict=True))
    return live if same else out


def pruned(value: Any, fields: Tree, node: Node, nulls: bool = False) -> Any:
    """The value without some of its fields and items; None if nothing is left. What holds them stays, though it be empty; with
    ``nulls`` it is then null.

    Upstream: TypedValue.RemoveItems
    """
    if not fields or node.form in (SCALAR, ANY) or (node.deduced and not isinstance(value, dict)):
        return value
    if node.leaf or not value:
        return None
    return (_pruned_map if node.form in (OBJECT, MAP) else _pruned_list)(value, fields, node, nulls)


def _pruned_map(value: dict[str, Any], fields: Tree, node: Node, nulls: bool) -> dict[str, Any] | None:
    out = {}
    for name, item in value.items():
        inner = node.member(name)
        result = _kept(item, fields.get(f"f:{name}"), inner, nulls)
        if result is not _ABSENT:
            out[name] = result
    return out or None


def _pruned_list(value: list[Any], fields: Tree, node: Node, nulls: bool) -> list[Any] | None:
    results = (_kept(item, fields.get(typed.element(node, item)), node.element, nulls) for item in value)
    return [item for item in results if item is not _ABSENT] or None


def _kept(item: Any, fields: Tree | None, node: Node | None, nulls: bool) -> Any:
    """An item of a map or list without what is taken from it; _ABSENT if it is taken itself."""
    if fields is None:
        return item
    if is_member(fields):
        return _ABSENT
    if node is None:
        return item
    rest = pruned(item, fields, node, nulls)
    return type(item)() if rest is None and isinstance(item, (dict, list)) and not nulls else rest
