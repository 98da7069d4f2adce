"""Target of the patches themselves: recorded and made patches of the three kinds on recorded objects of any kind.

A patch is applied or refused with an ApiError; the stored object is not changed, and the result is JSON. A merge patch without
nulls applied twice is the same as applied once.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from podstrat.strategy import errors, kinds, patch
from podstrat.strategy.api import types
from tests.fuzz import mutations, recorded
from tests.fuzz.target import Failure, expect

VERSIONS = ((1, 37), (1, 34))
TYPES = {version: types.load(version) for version in VERSIONS}
KINDS = ("strategic", "merge", "json")
BY_NAME = {kind.kind: kind for kind in kinds.KINDS}
OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")


class Patches:
    def check(self, number: int) -> str:
        dice = random.Random(number)
        version = dice.choice(VERSIONS)
        stored = dice.choice(recorded.bodies())
        type_name = BY_NAME[stored["kind"]].type_name if stored.get("kind") in BY_NAME else "Pod"
        kind = dice.choice(KINDS)
        body = _patch(kind, stored, dice)
        sent = {"kind": kind, "version": version, "stored": stored, "patch": body.decode("latin-1")}
        before = copy.deepcopy(stored)
        try:
            found = patch.result(kind, stored, body, TYPES[version], version, type_name=type_name)
            value, _ = found.readable(stored, TYPES[version])
            json.dumps([found.value, value])
            twice = (
                patch.result(kind, found.value, body, TYPES[version], version, type_name=type_name)
                if kind == "merge" and b"null" not in body
                else found
            )
        except errors.ApiError as error:
            expect(stored == before, "the stored object was changed", sent)
            return f"{kind} {error.code}"
        except Exception as error:
            raise Failure(f"{type(error).__name__}: {error}", sent) from error
        expect(stored == before, "the stored object was changed", sent)
        expect(twice.value == found.value, "applied twice is not applied once", sent)
        return f"{kind} applied"


def _patch(kind: str, stored: dict[str, Any], dice: random.Random) -> bytes:
    value: Any
    if kind == "json":
        value = [_operation(stored, dice) for _ in range(dice.choice((1, 1, 2, 5)))]
    else:
        other = dice.choice(recorded.bodies()) if dice.random() < 0.5 else stored
        value = mutations.value({key: other[key] for key in other if dice.random() < 0.7}, dice, recorded.bodies())
        if kind == "strategic":
            _direct(value, dice)
    text = json.dumps(value).encode()
    return mutations.spoilt(text, dice) if dice.random() < 0.1 else text


def _direct(value: Any, dice: random.Random) -> None:
    """Directives of strategic merge patches, put somewhere."""
    holders = [holder for holder, _ in mutations.places(value) if isinstance(holder, dict)]
    for holder in dice.sample(holders, min(len(holders), dice.randrange(3))):
        name = dice.choice(list(holder)) if holder else "containers"
        directives = {
            "$patch": dice.choice(("delete", "replace", "merge", "x", None, {})),
            "$retainKeys": [name],
            f"$setElementOrder/{name}": dice.choice(([], [{"name": "a"}], ["a"], None, "a", [{}])),
            f"$deleteFromPrimitiveList/{name}": dice.choice((["a"], [1], None, "a", {})),
        }
        key = dice.choice(list(directives))
        holder[key] = directives[key]


def _operation(stored: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"op": dice.choice(OPERATIONS), "path": _pointer(stored, dice), "value": dice.choice(mutations.JUNK)}
    if dice.random() < 0.4:
        made["from"] = _pointer(stored, dice)
    if dice.random() < 0.2:
        made = mutations.value(made, dice, recorded.bodies())
    return made


def _pointer(value: Any, dice: random.Random) -> str:
    steps = []
    while isinstance(value, (dict, list)) and value and dice.random() < 0.8:
        step = dice.choice(list(value)) if isinstance(value, dict) else dice.randrange(len(value))
        value = value[step]
        steps.append(str(step).replace("~", "~0").replace("/", "~1"))
    if dice.random() < 0.3:
        steps.append(dice.choice(("-", "-1", "0", "01", "99", "", "x", "~", "~2", "name", str(2**70))))
    return "".join(f"/{step}" for step in steps)
