"""Mutations of JSON values and of texts, by dice: what is nearly right goes further than what is quite wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**31,
    2**63,
    -(2**80),
    1e308,
    "",
    "x",
    "-",
    "\x00",
    "é" * 50,
    "\u2028",
    "\ufeff",
    "1.5Gi",
    "0x1p-2",
    "2026-01-01T00:00:00Z",
    "$(A)",
    "a/b/c",
    "../..",
    "*",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    {"name": None},
    {"x": {"y": [1, "z"]}},
    "9" * 400,
    "a" * 300,
)
KEYS = ("name", "type", "spec", "status", "metadata", "key", "value", "kind", "apiVersion", "$patch", "x", "", "a/b", "~1")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every holder in a value, with each of its keys."""
    found: list[tuple[Any, Any]] = []
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        found.append((value, step))
        found += places(value[step])
    return found


def value(given: Any, dice: random.Random, others: Sequence[Any] = ()) -> Any:
    """A copy of a value with some mutations. ``others`` are values whose parts may be put in."""
    made = copy.deepcopy(given)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        every = places(made)
        if not every:
            return copy.deepcopy(dice.choice(JUNK))
        _mutate(*dice.choice(every), dice, others)
    return made


def _mutate(holder: Any, step: Any, dice: random.Random, others: Sequence[Any]) -> None:
    what = dice.randrange(8)
    if what == 0:
        del holder[step]
    elif what == 1:
        holder[step] = copy.deepcopy(holder[dice.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))])
    elif what == 2 and isinstance(holder, dict):
        holder[dice.choice(KEYS)] = copy.deepcopy(dice.choice(JUNK))
    elif what == 3 and isinstance(holder, list):
        holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[step]))
    elif what in (4, 5) and others:
        _graft(holder, step, dice, dice.choice(others))
    elif what == 6 and isinstance(holder[step], str):
        holder[step] = text(holder[step], dice)
    else:
        holder[step] = copy.deepcopy(dice.choice(JUNK))


def _graft(holder: Any, step: Any, dice: random.Random, other: Any) -> None:
    """A part of another value, where that has the same key if it can be."""
    every = places(other)
    same = [place for place in every if place[1] == step and isinstance(step, str)]
    if not every:
        return
    from_holder, from_step = dice.choice(same or every)
    part = copy.deepcopy(from_holder[from_step])
    if isinstance(holder, dict) and isinstance(from_step, str):
        holder[from_step] = part
    else:
        holder[step] = part


PIECES = (
    "\x00",
    "\t",
    "\n",
    "\r",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "\U0001f600",
    '"',
    "'",
    "\\",
    "/",
    "%",
    "0",
    "-",
    ".",
    ":",
    "@",
    "A",
    " ",
)


def text(given: str, dice: random.Random) -> str:
    """A text with one change."""
    at = dice.randrange(len(given) + 1)
    what = dice.randrange(4)
    if what == 0:
        return given[:at]
    if what == 1:
        return given[:at] + given[at + 1 :]
    if what == 2:
        return given[:at] + given[at:] * dice.choice((2, 3, 40))
    return given[:at] + dice.choice(PIECES) + given[at:]


def spoilt(given: bytes, dice: random.Random) -> bytes:
    """The text of a value, spoilt as a text: cut off, a wrong byte, deep nesting, repeated keys, half a surrogate pair, noise."""
    what = dice.randrange(7)
    at = dice.randrange(len(given) + 1)
    if what == 0:
        return given[:at]
    if what == 1:
        return given[:at] + bytes([dice.randrange(256)]) + given[at + 1 :]
    if what == 2:
        depth = dice.choice((10, 190, 250, 5000))
        return given.replace(b'"', b"[" * depth + b"]" * depth + b'"', 1)
    if what == 3:
        return given.replace(b'"name"', b'"name": 1, "name"', dice.randrange(1, 4))
    if what == 4:
        return given.replace(b': "', b': "\\ud800', dice.randrange(1, 4))
    if what == 5:
        return given.replace(b"1", dice.choice((b"1e400", b"1.0", b"01", b"-0", b"1e2", b"NaN")), dice.randrange(1, 4))
    return dice.randbytes(dice.randrange(200))
