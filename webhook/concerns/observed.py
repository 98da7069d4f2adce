"""observedGeneration of the status and of its conditions: what has been observed stays known."""

from __future__ import annotations

from typing import Literal

from strategy import admission, field
from webhook.verdict import Verdict


def keep(verdict: Verdict) -> None:
    """A status write that leaves it out does not clear it."""
    verdict.edits += admission.observed(verdict.reviewed)


class Confirm:
    """Behind all mutating webhooks: what we kept is still there."""

    def __init__(self, action: Literal["warn", "deny"]) -> None:
        self._action = action

    def __call__(self, verdict: Verdict) -> None:
        lost = [admission.path(edit.place) for edit in admission.observed(verdict.reviewed)]
        if self._action == "deny":
            verdict.invalid(field.required(path, "another writer has cleared it") for path in lost)
        else:
            verdict.warnings += [f"{path}: was kept, and has been cleared by another webhook" for path in lost]
