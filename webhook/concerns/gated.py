"""Fields of disabled feature gates: a cluster policy, independent of the API server's own gates.

It runs in /mutate, before the server's strategy drops such fields silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from podstrat.strategy import field
from podstrat.strategy.field import FieldError
from podstrat.strategy.review import edits
from podstrat.strategy.review.edits import Dropped
from podstrat.webhook.verdict import Verdict

Action = Literal["drop", "refuse", "warn"]


class Policy:
    """Drops, denies or warns about fields whose gate is off."""

    def __init__(self, action: Action, actions: Mapping[str, Action]) -> None:
        self._action = action
        self._actions = dict(actions)

    def _by_action(self, verdict: Verdict) -> dict[Action, list[Dropped]]:
        by_action: dict[Action, list[Dropped]] = {"drop": [], "refuse": [], "warn": []}
        for each in edits.gated_fields(verdict.reviewed):
            by_action[self._actions.get(each.gate, self._action)].append(each)
        return by_action

    def __call__(self, verdict: Verdict) -> None:
        by_action = self._by_action(verdict)
        verdict.invalid(map(_error, by_action["refuse"]))
        for each in by_action["warn"]:
            verdict.warnings.append(f"{each.path}: the feature gate {each.gate} is off; the server may drop this field")
        for each in by_action["drop"]:
            verdict.warnings.append(f"{each.path}: dropped, because the feature gate {each.gate} is off")
        verdict.edit([each.edit for each in by_action["drop"]])


class Confirm(Policy):
    """In /policy, after all mutating webhooks: dropped and refused fields have not come back."""

    def __init__(self, action: Action, actions: Mapping[str, Action], dropped: Literal["off", "warn", "deny"]) -> None:
        super().__init__(action, actions)
        self._dropped = dropped

    def __call__(self, verdict: Verdict) -> None:
        by_action = self._by_action(verdict)
        back = by_action["drop"] if self._dropped == "deny" else []
        verdict.invalid(map(_error, [*by_action["refuse"], *back]))
        if self._dropped == "warn":
            verdict.warnings += [f"{each.path}: was dropped, and has come back" for each in by_action["drop"]]


def _error(dropped: Dropped) -> FieldError:
    return field.forbidden(dropped.path, f"the feature gate {dropped.gate} is off in this cluster")
