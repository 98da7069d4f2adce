"""What another release would say to each pod: for planning an upgrade."""

from __future__ import annotations

from typing import Literal

from strategy import admission
from strategy.admission import Reviewed
from strategy.engine import Engine
from strategy.errors import ApiError
from webhook.verdict import Verdict


class Refused(ApiError):
    """The other release's answer, under its name."""

    def __init__(self, version: str, cause: ApiError) -> None:
        super().__init__(f"Kubernetes {version} would refuse it: {cause.message}", cause.details)
        self.code = cause.code
        self.reason = cause.reason


class Preflight:
    """A whole engine of the release, asked about every request that brings a pod."""

    def __init__(self, engine: Engine, action: Literal["warn", "deny"]) -> None:
        self._engine = engine
        self._action = action

    def __call__(self, verdict: Verdict) -> None:
        asked = verdict.reviewed
        reviewed = Reviewed(self._engine, asked.pod, asked.old, asked.subresource)
        outcome = admission.judged(reviewed)
        if outcome is None:
            return
        version = self._engine.version
        if outcome.refusal is not None and self._action == "deny":
            verdict.denials.append(Refused(version, outcome.refusal))
        elif outcome.errors:
            verdict.warnings += [f"Kubernetes {version} would refuse this pod: {error}" for error in outcome.errors]
        elif outcome.refusal is not None:
            verdict.warnings.append(f"Kubernetes {version} would refuse this pod: {outcome.refusal.message}")
        else:
            verdict.warnings += [f"Kubernetes {version}: {warning}" for warning in outcome.warnings]
        for each in admission.gated_fields(reviewed):
            verdict.warnings.append(f"Kubernetes {version} would drop {each.path}: the feature gate {each.gate} is off")
