"""Locate the field behind a 400 response: the server names fields without indices, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from podstrat.check.places import Place, parse, text
from podstrat.records import NamedTuple
from podstrat.strategy.field import parts

Says = Callable[[Any], str | None]
"""What the server says to an object before it looks at its fields; None if it has read it."""

STRICT = "strict decoding error: "
_COMPLAINT = re.compile(r'(unknown|duplicate) field "((?:[^"\\]|\\.)*)"')
# Between what the object calls itself and what is wrong with it.
_HANDLED = re.compile(r" cannot be handled as a \w+: ")


class Reason(NamedTuple):
    """One reason of a refusal."""

    place: Place
    field: str
    detail: str
    message: str
    """The server's words; of several unknown fields each has the sentence to itself."""
    key: bool
    """Whether it is the key that is wrong, and not its value."""


def reasons(message: str, value: Any, says: Says) -> Iterator[Reason]:
    """Each unknown field on its own; of anything else the one place that it is about."""
    if STRICT in message:
        yield from unknown(message, value)
        return
    place = culprit(message, value, says)
    yield Reason(place, text(place), _HANDLED.split(message, maxsplit=1)[-1], message, key=False)


def unknown(message: str, value: Any) -> Iterator[Reason]:
    """The fields of ``unknown field "a", duplicate field "b"``, which may stand behind other words."""
    before, strict, _ = message.partition(STRICT)
    for match in _COMPLAINT.finditer(message, len(before) if strict else 0):
        field = re.sub(r"\\(.)", r"\1", match[2])
        yield Reason(parse(field, value), field, match[0], f"{before}{STRICT}{match[0]}" if strict else match[0], key=True)


def undeclared(message: str, path: str, value: Any) -> Reason:
    """A field that server-side apply does not know: ``.spec.containers[name="web"].comand``."""
    steps: list[str | int] = []
    for key, name in parts(path):
        step: str | int = _keyed(key, value) if key else name
        steps.append(step)
        value = _child(value, step)
    return Reason(tuple(steps), text(tuple(steps)), "field not declared in schema", message, key=True)


def _keyed(key: str, items: Any) -> int | str:
    """The index of the item of a list that ``name="web"`` or ``containerPort=80,protocol="TCP"`` names."""
    if key.isdecimal() or not isinstance(items, list):
        return int(key) if key.isdecimal() else key
    pairs = [part.partition("=")[::2] for part in key.split(",")]
    for i, item in enumerate(items):
        if isinstance(item, dict) and all(str(item.get(name, value.strip('"'))) == value.strip('"') for name, value in pairs):
            return i
    return key


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None


def culprit(message: str, value: Any, says: Says) -> Place:
    """The part of an object, as small as can be, that makes the server say this.

    The server reads from the beginning: with everything left out behind the part, it still says the same; with the part left out
    too, it does not. An empty place if the object as a whole is to blame.
    """
    if says(value) != message:
        return ()
    place: list[str | int] = []
    part = value
    while isinstance(part, (dict, list)) and part:
        steps: list[Any] = list(part) if isinstance(part, dict) else list(range(len(part)))
        low, high = 0, len(steps)  # with so many of them it does not say it; with so many it does
        while high - low > 1:
            middle = (low + high) // 2
            if says(_put(value, place, _first(part, steps, middle))) == message:
                high = middle
            else:
                low = middle
        step = steps[high - 1]
        if says(_put(value, place, _first(part, steps, high - 1))) == message:
            break  # it is about the collection, not about what is in it
        value = _put(value, place, _first(part, steps, high))
        place.append(step)
        part = part[step]
    return tuple(place)


def _first(part: Any, steps: list[Any], count: int) -> Any:
    """A collection with null in the place of all but its first children: null says nothing, and keeps the indices."""
    names = set(steps[:count])
    if isinstance(part, dict):
        return {key: child if key in names else None for key, child in part.items()}
    return [child if i in names else None for i, child in enumerate(part)]


def _put(value: Any, place: list[str | int], part: Any) -> Any:
    """The value with another part at a place; what holds it is copied."""
    if not place:
        return part
    copy = value.copy()
    copy[place[0]] = _put(value[place[0]], place[1:], part)
    return copy
