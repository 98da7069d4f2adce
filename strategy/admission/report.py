"""What the admission chain did to a request: the steps of its plugins, and what they could not look up."""

from __future__ import annotations

from typing import NamedTuple

from podstrat.strategy.errors import ApiError
from podstrat.strategy.field import Place


class Step(NamedTuple):
    """One plugin that changed, refused or warned."""

    plugin: str
    phase: str
    """mutating or validating."""
    changes: tuple[str, ...] = ()
    """The paths of the fields that it set."""
    warnings: tuple[str, ...] = ()
    refusal: ApiError | None = None
    round: int = 0
    """1 if the mutating phase ran again because a policy or webhook changed the object."""

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"{self.plugin} refused: {self.refusal.message}"
        if self.warnings:
            return f"{self.plugin} warned: {'; '.join(self.warnings)}"
        return f"{self.plugin} set {', '.join(self.changes)}"


class Hint(NamedTuple):
    """A look-up that the world could not answer."""

    plugin: str
    text: str

    def __str__(self) -> str:
        return f"{self.plugin}: {self.text}"


class Located(NamedTuple):
    """A part of what a plugin refuses or warns of, and the fields that it is about."""

    plugin: str
    text: str
    places: tuple[Place, ...]
    """From the root of the object; a field that is wanted and not set is named as well."""


class Report:
    """What became of a request in the chain."""

    __slots__ = ("audit", "hints", "located", "steps")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.hints: list[Hint] = []
        self.located: list[Located] = []
        self.audit: dict[str, str] = {}
        """Annotations of the audit log."""

    @property
    def refused_by(self) -> str:
        """The plugin that refused the request; empty if none did."""
        return next((step.plugin for step in self.steps if step.refusal is not None), "")

    def __repr__(self) -> str:
        return f"Report(steps={self.steps!r}, hints={self.hints!r})"
