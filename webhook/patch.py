"""JSON Patch (RFC 6902) from edits: at most one operation an edit, and only operations that apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy.field import Place
from podstrat.strategy.review.edits import ABSENT, Edit, in_order

Operation = dict[str, Any]


def operations(value: Any, edits: Iterable[Edit]) -> list[Operation]:
    """The operations that apply edits to a value, in order. Edits without effect need none."""
    by_place: dict[Place, Operation] = {}
    for edit in in_order(edits):
        _add(by_place, value, edit)
    return list(by_place.values())


def _add(by_place: dict[Place, Operation], value: Any, edit: Edit) -> None:
    place, desired = edit
    holder = value
    for depth, step in enumerate(place[:-1], 1):
        inner = _at(holder, step)
        if inner is None:
            # The parent is absent: nothing to remove, and the parent is added together with the value.
            if desired is not ABSENT and isinstance(holder, dict):
                _make(by_place, place, depth, desired)
            return
        holder = inner
    last = place[-1]
    if isinstance(last, int):
        if isinstance(holder, list) and last < len(holder) and desired is ABSENT:
            by_place[place] = {"op": "remove", "path": pointer(place)}
    elif isinstance(holder, dict):
        if desired is ABSENT:
            if last in holder:
                by_place[place] = {"op": "remove", "path": pointer(place)}
        elif last not in holder or holder[last] != desired:
            by_place[place] = {"op": "replace" if last in holder else "add", "path": pointer(place), "value": desired}


def _at(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None


def _make(by_place: dict[Place, Operation], place: Place, depth: int, desired: Any) -> None:
    """Adds the absent parent, or puts the value into the one that an earlier operation adds."""
    at = place[:depth]
    operation = by_place.setdefault(at, {"op": "add", "path": pointer(at), "value": {}})
    holder = operation["value"]
    for step in place[depth:-1]:
        holder = holder.setdefault(step, {})
    holder[place[-1]] = desired


def pointer(place: Place) -> str:
    """A place as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)
