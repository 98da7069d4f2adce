"""A rule of good practice: what it is called, how bad it is to break it, why, and what to do instead.

A rule is a function that looks at one subject, a webhook, a configuration, a Deployment or a role, and says what it finds. The
list of good practice has fifty points (docs/operations.md); a rule says which of them it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning", "info"]
Place = tuple[str | int, ...]

ERROR: Severity = "error"
WARNING: Severity = "warning"
INFO: Severity = "info"


class Found(NamedTuple):
    """One thing that a rule has found."""

    place: Place
    """Where, in the object that is looked at."""
    said: str
    """What is the case there: a sentence without its full stop."""
    severity: Severity | None = None
    """How bad it is, where that is not the same everywhere."""


Finds = Iterator[Found]
Check = Callable[[Any], Finds]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``reason`` and ``fix`` are sentences; ``title`` is a line for lists."""

    id: str
    severity: Severity
    points: tuple[int, ...]
    """Of the list of good practice; none for what the API server itself would refuse."""
    title: str
    reason: str
    fix: str
    check: Check


def rule(id: str, severity: Severity, points: tuple[int, ...], title: str, reason: str, fix: str) -> Callable[[Check], Rule]:
    """Makes a rule of the function that looks."""

    def made(check: Check) -> Rule:
        return Rule(id, severity, points, title, reason, fix, check)

    return made
