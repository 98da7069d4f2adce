"""The chain of concerns: a review passes through every concern that is on in its phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from podstrat.strategy import errors, workloads
from podstrat.strategy.review.policy import PolicyEngine
from podstrat.strategy.review.reviewed import Reviewed, is_mirror
from podstrat.webhook import activation
from podstrat.webhook.concerns import gated, generation, health, observed, preflight
from podstrat.webhook.review import Request, Response
from podstrat.webhook.settings import UNIQUE_NAMES, Settings, rules_version
from podstrat.webhook.verdict import Verdict, refusal

Phase = Literal["mutate", "validate", "observed", "policy", "preflight"]
"""What an entry of a webhook configuration is for; its path is the phase."""
Concern = Callable[[Verdict], None]

OPERATIONS = frozenset(("CREATE", "UPDATE"))
PROBE = "podstrat.dev/probe"
"""The annotation of the dry runs of `podstrat webhook status`."""
PROBE_WARNING = "podstrat.dev/probe"
SUBRESOURCES = frozenset(("", "status", "resize", "ephemeralcontainers"))


class ReviewResult(NamedTuple):
    """An answered review, and what is counted in metrics."""

    response: Response
    edits: dict[str, int]
    """Patch operations, by concern."""
    denied: tuple[str, ...] = ()
    """The concerns that denied it."""


class Chain:
    """The concerns of a webhook. No clock, no network, no state between reviews."""

    def __init__(self, settings: Settings) -> None:
        self.decisions = activation.decide(settings)
        self._release = settings.server_version
        stricter = frozenset(settings.strict_rules)
        switches = ("UniqueResourceHealthNames",) if UNIQUE_NAMES in stricter else ()
        self.engine = PolicyEngine(rules_version(settings.server_version), settings.feature_gates, switches=switches)
        self._phases: dict[Phase, tuple[tuple[str, Concern], ...]] = {
            "mutate": tuple(self._mutating(settings)),
            "validate": tuple(self._validating(settings, stricter)),
            "observed": tuple(self._observed(settings)),
            "policy": tuple(self._policy(settings)),
            "preflight": (("preflight", self._preflight(settings)),) if self._preflight_in(settings, "validate") else (),
        }

    def names(self, phase: Phase) -> tuple[str, ...]:
        """The concerns that are on in a phase."""
        return tuple(name for name, _ in self._phases[phase])

    def _on(self, name: str) -> bool:
        return self.decisions[name].on

    def _mutating(self, settings: Settings) -> list[tuple[str, Concern]]:
        concerns: list[tuple[str, Concern]] = []
        if self._on("gated_fields"):
            # First: dropped fields are no part of the spec whose changes are counted.
            concerns.append(("gated_fields", gated.Policy(settings.gated_action, settings.gated_actions)))
        if self._on("generation"):
            concerns.append(("generation", generation.count))
        if self._on("backport"):
            concerns.append(("backport", generation.Backport(settings.backport_annotation)))
        if self._on("observed_generation"):
            concerns.append(("observed_generation", observed.keep))
        if self._preflight_in(settings, "mutate"):
            concerns.append(("preflight", self._preflight(settings)))
        return concerns

    def _validating(self, settings: Settings, stricter: frozenset[str]) -> list[tuple[str, Concern]]:
        concerns: list[tuple[str, Concern]] = []
        if self._on("node_restriction"):
            concerns.append(("node_restriction", health.OwnNode(settings.health_writers)))
        if self._on("health"):
            concerns.append(("health", health.Rules(stricter)))
        return concerns

    def _observed(self, settings: Settings) -> list[tuple[str, Concern]]:
        if not self._on("observed_generation") or settings.confirm == "off":
            return []
        return [("observed_generation", observed.Confirm(settings.confirm))]

    def _policy(self, settings: Settings) -> list[tuple[str, Concern]]:
        """On the final pod: /mutate fails open, and a label opts out of it."""
        if not self._on("gated_fields") or {settings.gated_action, *settings.gated_actions.values()} == {"warn"}:
            return []
        return [("gated_fields", gated.Confirm(settings.gated_action, settings.gated_actions, settings.confirm))]

    def _preflight_in(self, settings: Settings, phase: str) -> bool:
        return self._on("preflight") and settings.preflight_phase == phase

    def _preflight(self, settings: Settings) -> Concern:
        engine = PolicyEngine(settings.preflight_version, gates=settings.preflight_gates)
        return preflight.Preflight(engine, settings.preflight_action)

    # ---- one review ------------------------------------------------------------------------------------

    def review(self, phase: Phase, request: Request) -> ReviewResult:
        """Reviews a request. Probes of `podstrat webhook status` get a warning with the release that the replica works for."""
        result = self._review(phase, request)
        if request.dry_run and is_probe(request.object):
            text = f"{PROBE_WARNING} {phase}: release {self._release}"
            result.response.warnings = [*(result.response.warnings or ()), text]
        return result

    def _review(self, phase: Phase, request: Request) -> ReviewResult:
        """Requests that write neither a pod nor, for preflight, a workload are allowed."""
        concerns = self._phases[phase]
        if not concerns or not (writes_pod(request) or (phase == "preflight" and writes_template(request))):
            return _allowed(request)
        try:
            if request.object is None or (request.operation == "UPDATE") != (request.old_object is not None):
                raise errors.BadRequest("a CREATE review requires object, an UPDATE review object and oldObject")
            pod = Reviewed(self.engine, request.object, request.old_object, request.sub_resource)
            if phase == "mutate" and is_mirror(pod):
                return _allowed(request)
            return _evaluate(concerns, Verdict(request, pod))
        except errors.BadRequest as error:
            return _unreadable(phase, request, error)


def writes_pod(request: Request) -> bool:
    """Whether a request writes a pod, in an API version that the engine knows."""
    kind, resource = request.kind, request.resource
    return (
        kind.kind == "Pod"
        and kind.version == "v1"
        and not kind.group
        and resource.resource == "pods"
        and not resource.group
        and request.operation in OPERATIONS
        and request.sub_resource in SUBRESOURCES
    )


def writes_template(request: Request) -> bool:
    """Whether a request writes a workload with a pod template, in an API version that the engine knows."""
    workload = workloads.KINDS.get(request.kind.kind)
    return (
        workload is not None
        and workload.api_version == "/".join(filter(None, (request.kind.group, request.kind.version)))
        and request.operation in OPERATIONS
        and not request.sub_resource
    )


def is_probe(obj: object) -> bool:
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and PROBE in annotations


def _evaluate(concerns: tuple[tuple[str, Concern], ...], verdict: Verdict) -> ReviewResult:
    edits: dict[str, int] = {}
    denied: list[str] = []
    for name, concern in concerns:
        edits_before, denials_before = len(verdict.edits), len(verdict.denials)
        concern(verdict)
        if len(verdict.edits) > edits_before:
            edits[name] = len(verdict.edits) - edits_before
        if len(verdict.denials) > denials_before:
            denied.append(name)
    if denied:
        verdict.notes["refused-by"] = ",".join(denied)
    elif edits:
        verdict.notes["changed-by"] = ",".join(edits)
    response, operations = verdict.response()
    return ReviewResult(response, edits if operations else {}, tuple(denied))


def _allowed(request: Request) -> ReviewResult:
    return ReviewResult(Response(uid=request.uid, allowed=True), {})


def _unreadable(phase: Phase, request: Request, error: errors.BadRequest) -> ReviewResult:
    """A pod that cannot be decoded: left unchanged by /mutate, denied by /validate."""
    if phase == "mutate":
        warning = f"podstrat cannot decode this pod and leaves it unchanged: {error.message}"
        return ReviewResult(Response(uid=request.uid, allowed=True, warnings=[warning[:200]]), {})
    return ReviewResult(Response(uid=request.uid, allowed=False, status=refusal([error])), {}, ("unreadable",))
