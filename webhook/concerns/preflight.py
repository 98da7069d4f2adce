"""Preflight: evaluates pods and pod templates by the rules of another release, for upgrade planning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import ApiError
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.review import edits
from podstrat.strategy.review.edits import Dropped
from podstrat.strategy.review.reviewed import Reviewed, judged
from podstrat.strategy.workloads import KINDS
from podstrat.webhook.verdict import Verdict


class PreflightDenial(ApiError):
    """The other release's error, with its version."""

    def __init__(self, version: str, cause: ApiError) -> None:
        super().__init__(f"Kubernetes {version} would refuse it: {cause.message}", cause.details)
        self.code = cause.code
        self.reason = cause.reason


class Preflight:
    """Evaluates every request with an engine of the other release."""

    def __init__(self, engine: Engine, action: Literal["warn", "deny"]) -> None:
        self._engine = engine
        self._action = action

    def __call__(self, verdict: Verdict) -> None:
        kind = verdict.request.kind.kind
        if kind in KINDS:
            self._template(verdict, kind)
        else:
            self._pod(verdict)

    def _pod(self, verdict: Verdict) -> None:
        request = verdict.reviewed
        pod = Reviewed(self._engine, request.pod, request.old, request.subresource)
        outcome = judged(pod)
        if outcome is not None:
            self._report(verdict, outcome, "pod", edits.gated_fields(pod))

    def _template(self, verdict: Verdict, kind: str) -> None:
        """The template of a workload: its author sees the result here, while that of its pods goes to a controller."""
        at = KINDS[kind].template
        template: Any = verdict.request.object
        for step in at.split("."):
            template = template.get(step) if isinstance(template, dict) else None
        if not isinstance(template, dict):
            return
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "template"}, "spec": template.get("spec") or {}}
        outcome = self._engine.template(template, at, kind)
        dropped = edits.gated_fields(Reviewed(self._engine, pod, None, "")) if outcome.ok else []
        self._report(verdict, outcome, "template", (each._replace(path=f"{at}.{each.path}") for each in dropped))

    def _report(self, verdict: Verdict, outcome: Outcome, what: str, dropped: Iterable[Dropped]) -> None:
        version = self._engine.version
        if outcome.refusal is not None and self._action == "deny":
            verdict.denials.append(PreflightDenial(version, outcome.refusal))
        elif outcome.errors:
            verdict.warnings += [f"Kubernetes {version} would refuse this {what}: {error}" for error in outcome.errors]
        elif outcome.refusal is not None:
            verdict.warnings.append(f"Kubernetes {version} would refuse this {what}: {outcome.refusal.message}")
        else:
            verdict.warnings += [f"Kubernetes {version}: {warning}" for warning in outcome.warnings]
        for each in dropped:
            verdict.warnings.append(f"Kubernetes {version} would drop {each.path}: the feature gate {each.gate} is off")
