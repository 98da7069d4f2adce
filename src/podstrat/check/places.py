"""Map a place in an object to line and column of its file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from podstrat.strategy.field import parts

if TYPE_CHECKING:
    from podstrat.goyaml import Document

Place = tuple[str | int, ...]
Mark = tuple[int, int]
"""Line and column, from 1."""


def found(place: Place, value: Any) -> Place:
    """As much of a place as there is in a value, each step as the value has it."""
    steps: list[str | int] = []
    for step in place:
        if isinstance(value, dict):
            step = str(step)
            if step not in value:
                break
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            break
        steps.append(step)
    return tuple(steps)


def at(place: Place, value: Any) -> Any:
    """What stands at a place that is there."""
    for step in place:
        value = value[step]
    return value


def mark(document: Document, prefix: Place, place: Place, key: bool = False) -> Mark:
    """Where a field stands, or its key; for one that is absent: where the key of its parent stands."""
    whole = (*prefix, *place)
    there = found(whole, document.value)
    if len(there) < len(whole) or key:
        return document.key_mark(there)
    return document.mark(there)


def parse(text: str, value: Any) -> Place:
    """The place that a path in a message means: ``metadata.labels.example.com/a[0]`` is read by the keys that are there.

    What is not in the value is taken by the dots and brackets.
    """
    steps: list[str | int] = []
    while text:
        text = text.removeprefix(".")
        step: str | int | None = None
        if isinstance(value, dict):
            step = _longest_key(text, value)
        elif match := re.match(r"\[(\d+)\]", text):
            step = int(match[1])
        if step is None:
            steps += _split(text)
            break
        word = f"[{step}]" if text.startswith("[") else str(step)
        text = text[len(word) :]
        steps.append(step)
        value = _child(value, step)
    return tuple(steps)


def named(message: str, value: Any) -> Place:
    """The first field of a value that a message names: ``spec.replicas must be at most 5``; empty if it names none."""
    for match in _FIELD.finditer(message):
        place = parse(match[0].rstrip("."), value)
        if len(place) > 1 and found(place, value) == place:
            return place
    return ()


def _longest_key(text: str, value: dict[str, Any]) -> str | None:
    best = None
    for key in value:
        for form in (key, f"[{key}]"):
            if text.startswith(form) and text[len(form) : len(form) + 1] in ("", ".", "["):
                if best is None or len(key) > len(best):
                    best = key
    return best


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _split(text: str) -> list[str | int]:
    steps: list[str | int] = []
    for bracketed, name in parts(text):
        steps.append(int(bracketed) if bracketed.isdecimal() else bracketed or name)
    return steps


def text(place: Place) -> str:
    """A place as a path."""
    out = ""
    for step in place:
        out += f"[{step}]" if isinstance(step, int) or not _NAME.fullmatch(step) else f".{step}"
    return out.removeprefix(".")


_FIELD = re.compile(r"\b(?:metadata|spec|data|status)(?:\.[\w/$-]+|\[[^\]\s]{1,253}\])+")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
