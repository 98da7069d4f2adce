"""The concerns in their order: a review goes through all that are at work in its phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from strategy import admission, errors
from strategy.admission import Reviewed
from strategy.policy import PolicyEngine
from webhook import decisions
from webhook.concerns import gated, generation, health, observed, preflight
from webhook.review import Request, Response
from webhook.settings import UNIQUE_NAMES, Settings, rules_version
from webhook.verdict import Verdict, refusal

Phase = Literal["mutate", "validate"]
Concern = Callable[[Verdict], None]

OPERATIONS = frozenset(("CREATE", "UPDATE"))
SUBRESOURCES = frozenset(("", "status", "resize", "ephemeralcontainers"))


class Done(NamedTuple):
    """A review that has been answered, and what is counted about it."""

    response: Response
    edits: dict[str, int]
    """Operations of the patch, by concern."""
    denied: tuple[str, ...] = ()
    """The concerns that refused."""


class Chain:
    """All concerns of one webhook, ready to work. No clock, no network, nothing is kept from one review to the next."""

    def __init__(self, settings: Settings) -> None:
        self.decisions = decisions.decide(settings)
        stricter = frozenset(settings.strict_rules)
        switches = ("UniqueResourceHealthNames",) if UNIQUE_NAMES in stricter else ()
        self.engine = PolicyEngine(rules_version(settings.server_version), settings.feature_gates, switches=switches)
        self._phases: dict[Phase, tuple[tuple[str, Concern], ...]] = {
            "mutate": tuple(self._mutating(settings)),
            "validate": tuple(self._validating(settings, stricter)),
        }

    def names(self, phase: Phase) -> tuple[str, ...]:
        """The concerns that are at work in a phase."""
        return tuple(name for name, _ in self._phases[phase])

    def _on(self, name: str) -> bool:
        return self.decisions[name].on

    def _mutating(self, settings: Settings) -> list[tuple[str, Concern]]:
        found: list[tuple[str, Concern]] = []
        if self._on("gated_fields"):
            # First: what is dropped is not part of the spec that is counted.
            found.append(("gated_fields", gated.Policy(settings.gated_action, settings.gated_actions)))
        if self._on("generation"):
            found.append(("generation", generation.count))
        if self._on("backport"):
            found.append(("backport", generation.Backport(settings.backport_annotation)))
        if self._on("observed_generation"):
            found.append(("observed_generation", observed.keep))
        if self._on("preflight") and settings.preflight_phase == "mutate":
            found.append(("preflight", self._preflight(settings)))
        return found

    def _validating(self, settings: Settings, stricter: frozenset[str]) -> list[tuple[str, Concern]]:
        found: list[tuple[str, Concern]] = []
        if self._on("node_restriction"):
            found.append(("node_restriction", health.OwnNode(settings.health_writers)))
        if self._on("health"):
            found.append(("health", health.Rules(stricter)))
        if self._on("gated_fields") and {settings.gated_action, *settings.gated_actions.values()} != {"warn"}:
            found.append(("gated_fields", gated.Confirm(settings.gated_action, settings.gated_actions, settings.confirm)))
        if self._on("observed_generation") and settings.confirm != "off":
            found.append(("observed_generation", observed.Confirm(settings.confirm)))
        if self._on("preflight") and settings.preflight_phase == "validate":
            found.append(("preflight", self._preflight(settings)))
        return found

    def _preflight(self, settings: Settings) -> Concern:
        engine = PolicyEngine(settings.preflight_version, gates=settings.preflight_gates)
        return preflight.Preflight(engine, settings.preflight_action)

    # ---- one review ------------------------------------------------------------------------------------

    def review(self, phase: Phase, request: Request) -> Done:
        """What becomes of a request. Whatever is not about a pod that is written passes."""
        concerns = self._phases[phase]
        if not concerns or not is_about_a_pod(request):
            return _passed(request)
        try:
            if request.object is None or (request.operation == "UPDATE") != (request.old_object is not None):
                raise errors.BadRequest("a review of CREATE has an object, one of UPDATE an object and an oldObject")
            reviewed = Reviewed(self.engine, request.object, request.old_object, request.sub_resource)
            if phase == "mutate" and admission.is_mirror(reviewed):
                return _passed(request)
            return _judged(concerns, Verdict(request, reviewed))
        except errors.BadRequest as error:
            return _unreadable(phase, request, error)


def is_about_a_pod(request: Request) -> bool:
    """Whether a request writes a pod, in a version that is known here."""
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


def _judged(concerns: tuple[tuple[str, Concern], ...], verdict: Verdict) -> Done:
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
    return Done(response, edits if operations else {}, tuple(denied))


def _passed(request: Request) -> Done:
    return Done(Response(uid=request.uid, allowed=True), {})


def _unreadable(phase: Phase, request: Request, error: errors.BadRequest) -> Done:
    """A pod that does not fit the types we know. Where pods are changed it is left alone, where they are judged it is refused."""
    if phase == "mutate":
        words = f"podstrat cannot read this pod and leaves it alone: {error.message}"
        return Done(Response(uid=request.uid, allowed=True, warnings=[words[:200]]), {})
    return Done(Response(uid=request.uid, allowed=False, status=refusal([error])), {}, ("unreadable",))
