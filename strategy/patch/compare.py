"""Which fields differ between two objects."""

from __future__ import annotations

from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.patch import fieldset, typed
from podstrat.strategy.patch.fieldset import SELF, Tree
from podstrat.strategy.patch.schema import KEYED, MAP, OBJECT, SET, Node

_Parts = tuple[Tree | None, Tree | None, Tree | None]
_NOTHING: _Parts = (None, None, None)


class Comparison(NamedTuple):
    """The fields that the newer object has lost, changed and gained; no field is in two of them."""

    removed: Tree
    modified: Tree
    added: Tree

    @property
    def taken(self) -> Tree:
        """What the writer of the newer object has set."""
        return fieldset.union(self.modified, self.added)

    def apart_from(self, fields: Tree) -> Comparison:
        """The same without some fields and all that is below them."""
        return Comparison(*(fieldset.without(tree, fields) for tree in self)) if fields else self


def between(old: Any, new: Any, node: Node, *, terse: bool = False) -> Comparison:
    """How two objects differ. ``terse`` takes lists and maps without items in the newer one for absent, as they would be printed.

    Upstream: TypedValue.Compare
    """
    removed, modified, added = _compared(old, new, node, terse) if old != new else _NOTHING
    return Comparison(removed or {}, modified or {}, added or {})


def _compared(old: Any, new: Any, node: Node, terse: bool) -> _Parts:
    """The nodes of what was removed, modified and added between two values that differ; None for nothing."""
    if node.leaf or not (old or new) or (node.deduced and not (isinstance(old, dict) and isinstance(new, dict))):
        # Null and empty differ, and then they are one value.
        return None, {}, None
    if not old:
        return None, None, _inside(new, node, terse)
    if not new:
        return _inside(old, node, terse), None, None
    return (_compared_maps if node.form in (OBJECT, MAP) else _compared_lists)(old, new, node, terse)


def _inside(value: Any, node: Node, terse: bool) -> Tree | None:
    """All that is in a value, but not itself: it was there before, or still is, though it be null."""
    return {key: below for key, below in typed.whole(value, node, terse).items() if key != SELF} or None


def _compared_maps(old: dict[str, Any], new: dict[str, Any], node: Node, terse: bool) -> _Parts:
    if terse and not all(map(new.__getitem__, filter(new.__contains__, node.omitted))):
        new = typed.printed(new, node)
    changed = [name for name, item in new.items() if name not in old or old[name] != item]
    if len(new) - len(changed) < len(old):
        changed += [name for name in old if name not in new]
    removed: Tree = {}
    modified: Tree = {}
    added: Tree = {}
    for name in sorted(changed):
        inner = node.member(name)
        key = f"f:{name}"
        if inner is None:
            (added if name not in old else removed if name not in new else modified)[key] = {}
        elif name not in new:
            removed[key] = typed.whole(old[name], inner, terse)
        elif name not in old:
            added[key] = typed.whole(new[name], inner, terse)
        else:
            _note(key, _compared(old[name], new[name], inner, terse), removed, modified, added)
    return removed or None, modified or None, added or None


def _compared_lists(old: list[Any], new: list[Any], node: Node, terse: bool) -> _Parts:
    """Items that are told apart by keys or by themselves; their order does not count."""
    assert node.form in (SET, KEYED)
    assert node.element is not None
    before, after = _indexed(old, node), _indexed(new, node)
    removed: Tree = {}
    modified: Tree = {}
    added: Tree = {}
    for key in {**before, **after}:
        was, now = before.get(key, []), after.get(key, [])
        if was == now:
            continue
        if len(was) > 1 or len(now) > 1:
            _note(key, _compared_repeated(was, now, node.element, terse), removed, modified, added)
        elif not now:
            removed[key] = typed.whole(was[0], node.element, terse)
        elif not was:
            added[key] = typed.whole(now[0], node.element, terse)
        else:
            _note(key, _compared(was[0], now[0], node.element, terse), removed, modified, added)
    return _ordered(removed), _ordered(modified), _ordered(added)


def _ordered(tree: Tree) -> Tree | None:
    return (fieldset.in_order(tree) if len(tree) > 1 else tree) or None


def _compared_repeated(was: list[Any], now: list[Any], node: Node, terse: bool) -> _Parts:
    """Different items with the same key. They are owned as one; what was one item and no longer is, is gone with all in it."""
    if len(was) > 1 and len(now) > 1:
        return None, {}, None
    if len(was) > 1:
        return {}, None, typed.whole(now[0], node, terse) if now else None
    return typed.whole(was[0], node, terse) if was else None, None, {}


def _note(key: str, parts: _Parts, *into: Tree) -> None:
    for part, tree in zip(parts, into, strict=True):
        if part is not None:
            tree[key] = part


def _indexed(items: list[Any], node: Node) -> dict[str, list[Any]]:
    by_element: dict[str, list[Any]] = {}
    for item in items:
        by_element.setdefault(typed.element(node, item), []).append(item)
    return by_element
