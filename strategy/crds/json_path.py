"""Simple JSON paths of a definition: ``.spec.replicas`` read from and written into an object."""

from __future__ import annotations

from typing import Any

from podstrat.strategy.crds.correlation import MISSING

Object = dict[str, Any]


def steps(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(".").split(".")) if path else ()


def read(obj: Any, path: str) -> Any:
    """The value at a path; MISSING if there is none, or what should hold it is not an object."""
    for step in steps(path):
        if not isinstance(obj, dict) or step not in obj:
            return MISSING
        obj = obj[step]
    return obj


def written(obj: Object, path: str, value: Any) -> Object:
    """The object with another value at a path; its parents are made if they are missing. Nothing that is given is changed."""
    first, *rest = steps(path)
    if not rest:
        return {**obj, first: value}
    inner = obj.get(first)
    below = written(inner if isinstance(inner, dict) else {}, ".".join(rest), value)
    return {**obj, first: below}
