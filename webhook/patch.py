"""JSON Patch (RFC 6902) from edits: at most one operation an edit, and only operations that apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy.field import Place
from podstrat.strategy.review.edits import ABSENT, Edit, in_order

Operation = dict[str, Any]


def operations(value: Any, edits: Iterable[Edit]) -> list[Operation]:
    """The operations that apply edits to a value, in order. Edits without effect need none."""
    made: dict[Place, Operation] = {}
    for edit in in_order(edits):
        _add(made, value, edit)
    return list(made.values())


def _add(made: dict[Place, Operation], value: Any, edit: Edit) -> None:
    place, wanted = edit
    holder = value
    for depth, step in enumerate(place[:-1], 1):
        inner = _at(holder, step)
        if inner is None:
            # The parent is absent: nothing to remove, and the parent is added together with the value.
            if wanted is not ABSENT and isinstance(holder, dict):
                _make(made, place, depth, wanted)
            return
        holder = inner
    last = place[-1]
    if isinstance(last, int):
        if isinstance(holder, list) and last < len(holder) and wanted is ABSENT:
            made[place] = {"op": "remove", "path": pointer(place)}
    elif isinstance(holder, dict):
        if wanted is ABSENT:
            if last in holder:
                made[place] = {"op": "remove", "path": pointer(place)}
        elif last not in holder or holder[last] != wanted:
            made[place] = {"op": "replace" if last in holder else "add", "path": pointer(place), "value": wanted}


def _at(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None


def _make(made: dict[Place, Operation], place: Place, depth: int, wanted: Any) -> None:
    """Adds the absent parent, or puts the value into the one that an earlier operation adds."""
    at = place[:depth]
    operation = made.setdefault(at, {"op": "add", "path": pointer(at), "value": {}})
    holder = operation["value"]
    for step in place[depth:-1]:
        holder = holder.setdefault(step, {})
    holder[place[-1]] = wanted


def pointer(place: Place) -> str:
    """A place as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)
