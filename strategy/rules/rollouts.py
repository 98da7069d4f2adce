"""How a workload replaces its pods: numbers or percentages of pods, and the replicas that its status counts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation

PERCENT = validation.pattern_text(
    "a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", "1%", "93%"
)
OVER_100 = "must not be greater than 100%"
MOST = 2**63 - 1

IntOrString = int | str

_percent = re.compile("[0-9]+%").fullmatch
_integer = re.compile("[+-]?[0-9]+").fullmatch


def not_negative(holder: Pod, at: str, *names: str) -> Errors:
    """Numbers that count something are not negative; one that is left out is no error.

    Upstream: ValidateNonnegativeField
    """
    for name in names:
        number = holder.get(name)
        if number is not None and number < 0:
            yield field.invalid(f"{at}.{name}", number, validation.NOT_NEGATIVE)


def int_or_percent(value: IntOrString, at: str) -> Errors:
    """A number that is not negative, or a percentage.

    Upstream: ValidatePositiveIntOrPercent
    """
    if isinstance(value, str):
        if not _percent(value):
            yield invalid(at, value, PERCENT)
    elif value < 0:
        yield invalid(at, value, validation.NOT_NEGATIVE)


def not_over_100_percent(value: IntOrString, at: str) -> Errors:
    """Upstream: IsNotMoreThan100Percent"""
    if isinstance(value, str) and _percent(value) and number(value) > 100:
        yield invalid(at, value, OVER_100)


def invalid(at: str, value: IntOrString, detail: str) -> field.FieldError:
    return field.invalid(at, value, detail, show=go.to_json(value))


def number(value: IntOrString) -> int:
    """The number, or that of the percentage; a text that is neither counts as 0.

    Upstream: getIntOrPercentValue
    """
    if isinstance(value, int):
        return value
    text = value[:-1] if _percent(value) else value
    if not _integer(text):
        return 0
    return min(int(text[:20]) if len(text) > 19 else int(text), MOST)


# ---- status ----------------------------------------------------------------------------------------


def counted(status: Pod, names: Iterable[str], ready: str = "readyReplicas") -> Errors:
    """No part of the replicas is more than all of them, and no more are available than are ready."""
    replicas = status.get("replicas", 0)
    for name in names:
        if (number := status.get(name, 0)) > replicas:
            yield field.invalid(f"status.{name}", number, "cannot be greater than status.replicas")
    if (available := status.get("availableReplicas", 0)) > status.get("readyReplicas", 0):
        yield field.invalid("status.availableReplicas", available, f"cannot be greater than {ready}")


def collisions(status: Pod, old: Pod) -> Errors:
    """The count of hash collisions does not go down, and does not go away."""
    before = (old.get("status") or {}).get("collisionCount")
    if before is not None and status.get("collisionCount", 0) < before:
        yield field.invalid("status.collisionCount", status.get("collisionCount", 0), "cannot be decremented")
