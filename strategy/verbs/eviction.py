"""Eviction: disruption budgets are checked, the condition is written to the status, then the pod is deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podstrat.strategy import errors, field, options
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.formats import times
from podstrat.strategy.kinds import POD
from podstrat.strategy.request import Effect, Request, Store, StoreBudget
from podstrat.strategy.verbs import deletion, preconditions, reviewers, update
from podstrat.strategy.verbs.incoming import NAMESPACE_DIFFERS

CONDITION = {"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
MAX_DISRUPTED = 2000  # upstream: MaxDisruptedPodSize


class LeftCondition(Exception):
    """An eviction that failed after it had written the condition: the write stays."""

    def __init__(self, error: errors.ApiError, effects: tuple[Effect, ...]) -> None:
        super().__init__(error.message)
        self.error = error
        self.effects = effects


def evict(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> tuple[tuple[Effect, ...], list[str]]:
    """What happens to the store; and the warnings of reading the Eviction.

    Upstream: EvictionREST.Create
    """
    eviction, warnings, _ = decoder.read(request.body, "Eviction", "policy/v1", options.one(request, "fieldValidation"))
    with errors.keeping(warnings):
        return _effects(eviction, request, stored, ctx, decoder, warnings), warnings


def _effects(
    eviction: Pod, request: Request, stored: Pod | None, ctx: Context, decoder: Decoder, warnings: list[str]
) -> tuple[Effect, ...]:
    meta = eviction["metadata"]
    if meta.get("namespace", request.namespace) != request.namespace:
        raise errors.BadRequest(NAMESPACE_DIFFERS)
    if request.reviewers is not None:
        draft = reviewers.changed_other(request, eviction, "Eviction", "policy/v1", decoder, warnings)
        eviction = draft.value
        meta = eviction["metadata"]
    if meta.get("name", "") != request.name:
        raise errors.BadRequest("name in URL does not match name in Eviction object")
    delete_options = eviction.get("deleteOptions") or {}
    if delete_options.get(options.UNSAFE):
        raise errors.Invalid("Eviction", request.name, [_unsafe()], "policy")
    dry_run = _dry_run(request, delete_options)
    if request.reviewers is not None:
        reviewers.confirmed(request, draft, None, warnings)
    old = preconditions.exists(stored, request)
    effects = () if _needs_no_budget(old) else _use_budget(request.budgets, old, request, ctx, dry_run)
    try:
        return (*effects, *_evict(old, delete_options, request, ctx, dry_run))
    except LeftCondition as half:
        half.error.warnings = tuple(warnings)
        raise


def _unsafe() -> field.FieldError:
    text = "can not be set for pod eviction, try after removing the option"
    return field.invalid(f"deleteOptions.{options.UNSAFE}", True, text)


def _dry_run(request: Request, delete_options: Mapping[str, Any]) -> bool:
    """The query and the body agree on it.

    Upstream: propagateDryRun
    """
    query, body = list(options.several(request.options, "dryRun")), list(delete_options.get("dryRun") or ())
    if query and body and query != body:
        text = f"Non-matching dry-run options in request and content: [{' '.join(query)}] and [{' '.join(body)}]"
        raise errors.ServerError(text)
    return bool(query or body)


def _needs_no_budget(pod: Pod) -> bool:
    """Upstream: canIgnorePDB"""
    phase = (pod.get("status") or {}).get("phase", "")
    return phase in ("Pending", "Succeeded", "Failed") or "deletionTimestamp" in pod["metadata"]


def _evict(old: Pod, delete_options: Mapping[str, Any], request: Request, ctx: Context, dry_run: bool) -> tuple[Effect, ...]:
    """The condition, unless it is a dry run, then the delete. A delete that fails leaves the condition behind.

    Upstream: addConditionAndDeletePod
    """
    before: tuple[Effect, ...] = ()
    preconditions_left = delete_options.get("preconditions") or {}
    if not dry_run:
        preconditions.for_eviction(delete_options.get("preconditions"), old, request)
        old = _with_condition(old, request, ctx)
        before = (Store(old),)
        # A resourceVersion, be it empty, is replaced by that of the write of the condition.
        preconditions_left = {key: value for key, value in preconditions_left.items() if key != "resourceVersion"}
    try:
        options.check_delete(delete_options, ctx.version)
        preconditions.for_delete(preconditions_left, old, request)
    except errors.ApiError as error:
        raise LeftCondition(error, before) from None
    effects = deletion.pod(old, delete_options, request).effects
    return () if dry_run else (*before, *effects)


def _with_condition(old: Pod, request: Request, ctx: Context) -> Pod:
    """Written through the status path, with its resets and rules: it can fail."""
    conditions = (old.get("status") or {}).get("conditions") or []
    status = {**(old.get("status") or {}), "conditions": _targeted(conditions, request)}
    pod = {**old, "metadata": dict(old["metadata"]), "status": status}
    judged = update.judge(POD.strategy.updates["status"], pod, old, [], Seen(), ctx)
    if judged.errors:
        raise errors.invalid(POD, request.name, judged.errors, ctx.version)
    return judged.pod


def _targeted(conditions: Sequence[Pod], request: Request) -> list[Pod]:
    now = times.format(request.now)
    condition = {"type": "DisruptionTarget", "status": "True", "lastProbeTime": None, "lastTransitionTime": now, **CONDITION}
    copies = [dict(each) for each in conditions]
    for i, before in enumerate(copies):
        if before["type"] == "DisruptionTarget":
            if before["status"] == "True":
                condition["lastTransitionTime"] = before.get("lastTransitionTime")
            copies[i] = condition
            return copies
    return [*copies, condition]


# ---- budgets ---------------------------------------------------------------------------------------


def _use_budget(
    budgets: Sequence[Mapping[str, Any]], pod: Pod, request: Request, ctx: Context, dry_run: bool
) -> tuple[Effect, ...]:
    """The one budget that covers the pod lets it go, and counts it.

    Upstream: EvictionREST.checkAndDecrement
    """
    if not budgets:
        return ()
    if len(budgets) > 1:
        raise errors.ServerError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    budget = budgets[0]
    if _unhealthy_may_go(budget, pod):
        return ()
    status = budget.get("status") or {}
    name = budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refused(f"The disruption budget {name} is still being processed by the server.", retry_after=10)
    if status.get("disruptionsAllowed", 0) < 0:
        raise errors.Forbidden("poddisruptionbudget.policy", name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or {}) > MAX_DISRUPTED:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise errors.Forbidden("poddisruptionbudget.policy", name, text)
    if not status.get("disruptionsAllowed", 0):
        raise _refused(_why_not(name, status, ctx))
    if dry_run:
        return ()
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: times.format(request.now)}
    new_status = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
    return (StoreBudget({**budget, "status": new_status}),)


def _unhealthy_may_go(budget: Mapping[str, Any], pod: Pod) -> bool:
    """A pod that is not ready does not count: always, or while the budget is healthy, as its policy says."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def _why_not(name: str, status: Mapping[str, Any], ctx: Context) -> str:
    """What the 429 gives as its cause; 1.34 knew one sentence only."""
    needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    too_few = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    if ctx.version < V1_35:
        return too_few
    conditions = status.get("conditions") or ()
    condition: Pod = next((each for each in conditions if each["type"] == "DisruptionAllowed" and each["status"] == "False"), {})
    words, reason = condition.get("message"), condition.get("reason", "")
    base = f"The disruption budget {name} does not allow evicting pods currently"
    if words and reason == "SyncFailed":
        return f"{base} because it failed sync: {words}"
    if healthy <= needed:
        return too_few
    return f"{base} ({reason}): {words}" if words else base


def _refused(cause: str, retry_after: int = 0) -> errors.TooManyRequests:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return errors.TooManyRequests(REFUSED, details)
