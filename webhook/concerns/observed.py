"""observedGeneration of the status and of its conditions: preserved when a writer clears it."""

from __future__ import annotations

from typing import Literal

from podstrat.strategy import field
from podstrat.strategy.review import edits
from podstrat.webhook.verdict import Verdict


def keep(verdict: Verdict) -> None:
    """Restores what a status update has cleared."""
    verdict.edits += edits.observed(verdict.reviewed)


class Confirm:
    """In /observed, after all mutating webhooks: the restored values are still there."""

    def __init__(self, action: Literal["warn", "deny"]) -> None:
        self._action = action

    def __call__(self, verdict: Verdict) -> None:
        lost = [edits.path(edit.place) for edit in edits.observed(verdict.reviewed)]
        if self._action == "deny":
            verdict.invalid(field.required(path, "another writer has cleared it") for path in lost)
        else:
            verdict.warnings += [f"{path}: was kept, and has been cleared by another webhook" for path in lost]
