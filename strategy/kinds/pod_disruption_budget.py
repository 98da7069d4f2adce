"""The strategy and the rules of PodDisruptionBudgets."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import conditions, rollouts, selectors
from podstrat.strategy.verbs import deletion

POLICIES = ("AlwaysAllow", "IfHealthyBudget")
V1BETA1_KEY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["metadata"]["generation"] = 1
    obj["status"] = codec.zero("policy.PodDisruptionBudgetStatus", ctx.types)
    _strip_v1beta1(obj, None)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: podDisruptionBudgetStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    _strip_v1beta1(obj, old)
    if not semantic.equal(obj["spec"], old["spec"], "policy.PodDisruptionBudgetSpec", ctx.types):
        plain.count(obj, old)
    return obj, []


def _strip_v1beta1(obj: Pod, old: Pod | None) -> None:
    """The key that stands for an empty selector of v1beta1 is kept alone, and taken out elsewhere.

    Upstream: StripPDBV1beta1Label
    """
    selector = obj["spec"].get("selector")
    if not selector or (old is not None and selector == old["spec"].get("selector")):
        return
    labels, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    if not labels and len(expressions) == 1 and expressions[0]["key"] == V1BETA1_KEY:
        if expressions[0]["operator"] in ("Exists", "DoesNotExist") and not expressions[0].get("values"):
            return
    result = dict(selector)
    if V1BETA1_KEY in labels:
        result["matchLabels"] = {key: value for key, value in labels.items() if key != V1BETA1_KEY}
    if any(each["key"] == V1BETA1_KEY for each in expressions):
        result["matchExpressions"] = [each for each in expressions if each["key"] != V1BETA1_KEY]
    obj["spec"]["selector"] = {key: value for key, value in result.items() if value}


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Metadata is judged only where nothing else is wrong.

    Upstream: ValidatePodDisruptionBudget, rest.BeforeCreate
    """
    faults = list(spec_rules(obj["spec"], ctx))
    yield from faults or plain.named(obj, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    yield from plain.generic(obj, old, ctx)
    yield from spec_rules(obj["spec"], ctx)


def spec_rules(spec: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodDisruptionBudgetSpec"""
    if "minAvailable" in spec and "maxUnavailable" in spec:
        text = internal.text("policy.PodDisruptionBudgetSpec", spec, ctx.version)
        yield field.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set", show=text)
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            yield from rollouts.int_or_percent(spec[name], f"spec.{name}")
            yield from rollouts.not_over_100_percent(spec[name], f"spec.{name}")
    yield from selectors.label_selector(spec.get("selector"), "spec.selector", ctx)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in POLICIES:
        yield field.not_supported("spec.unhealthyPodEvictionPolicy", policy, POLICIES)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodDisruptionBudgetStatusUpdate"""
    yield from plain.generic(obj, old, ctx)
    status = obj.get("status") or {}
    yield from conditions.each(status.get("conditions") or (), "status.conditions", ctx)
    yield from rollouts.not_negative(status, "status", *COUNTS)


STRATEGY = Strategy(
    default=plain.no_default,
    create=Create(for_create, create_rules, plain.silent),
    updates={
        "": Update(for_update, update_rules, plain.no_warnings),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
    needs_version=True,
)
