"""The type of a lint rule: id, severity, reason and fix.

A rule is a generator of findings about one subject: a webhook, a configuration, a Deployment or a role. It names the points of
good practice (docs/operations.md) that it covers.
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


class Problem(NamedTuple):
    """One finding."""

    place: Place
    """Where in the object."""
    text: str
    """The finding: a sentence without its full stop."""
    severity: Severity | None = None
    """Overrides the severity of the rule."""


Finds = Iterator[Problem]
Check = Callable[[Any], Finds]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``reason`` and ``fix`` are sentences; ``title`` is a line for lists."""

    id: str
    severity: Severity
    points: tuple[int, ...]
    """Points of good practice; empty for what the API server itself rejects."""
    title: str
    reason: str
    fix: str
    check: Check


def rule(id: str, severity: Severity, points: tuple[int, ...], title: str, reason: str, fix: str) -> Callable[[Check], Rule]:
    """Decorator: makes a rule of a check."""

    def made(check: Check) -> Rule:
        return Rule(id, severity, points, title, reason, fix, check)

    return made
