"""The strategy and the rules of DaemonSets."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import DecodeError, Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.kinds import workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import label_selectors, meta, rollouts, selectors, templates
from podstrat.strategy.verbs import deletion

AT = "spec.template"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""The annotation that holds what internally is spec.templateGeneration."""
TYPES = ("RollingUpdate", "OnDelete")
COUNTS = (
    *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"),
    *("updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"),
)


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_DaemonSet, Convert_v1_DaemonSet_To_apps_DaemonSet"""
    workload.default_template(obj, obj["spec"]["template"], "apps.DaemonSet", ctx, filled)
    strategy = obj["spec"]["updateStrategy"]
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    elif "rollingUpdate" in strategy:
        # Internally both are values, not pointers.
        strategy["rollingUpdate"] = {"maxUnavailable": 0, "maxSurge": 0, **strategy["rollingUpdate"]}
    annotations = obj["metadata"].get("annotations")
    if annotations is None:
        annotations = obj["metadata"]["annotations"] = {}
    number = go.parse_int64(annotations.get(TEMPLATE_GENERATION, "0"))
    if isinstance(number, str):
        raise DecodeError(number)
    annotations[TEMPLATE_GENERATION] = str(number)


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: daemonSetStrategy.PrepareForCreate"""
    _set_template_generation(obj, max(_template_generation(obj), 1))
    return workload.new(obj, obj["spec"]["template"], AT, "apps.DaemonSetStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """The template is counted apart.

    Upstream: daemonSetStrategy.PrepareForUpdate
    """
    workload.keep(obj, old)
    new, stored = obj["spec"]["template"], old["spec"]["template"]
    dropped = workload.drop_disabled(new, stored, AT, ctx, seen)
    _set_template_generation(obj, _template_generation(old))
    if not semantic.equal(new, stored, "PodTemplateSpec", ctx.types):
        _set_template_generation(obj, _template_generation(old) + 1)
        workload.count(obj, old)
    else:
        workload.count_changes(obj, old, "apps.DaemonSetSpec", ctx)
    return obj, dropped


def for_status_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    _set_template_generation(obj, _template_generation(old))
    return workload.for_status(obj, old, ctx, seen)


def _template_generation(obj: Pod) -> int:
    return int((obj["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, 0))


def _set_template_generation(obj: Pod, number: int) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {**annotations, TEMPLATE_GENERATION: str(number)}


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDaemonSet"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from _spec(obj, ctx, None)
    yield from workload.declared(obj["spec"]["template"], AT, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDaemonSetUpdate"""
    yield from workload.updating(obj, old, ctx)
    if label_selectors.differ(obj["spec"], old["spec"]):
        yield label_selectors.about(obj["spec"], "spec", "field is immutable", ctx)
    stored = old["spec"]["template"]
    yield from _spec(obj, ctx, stored)
    yield from workload.declared(obj["spec"]["template"], AT, workload.about_template(ctx, stored))


def _spec(obj: Pod, ctx: Context, old: Pod | None) -> Errors:
    """No selector at all is told only by what it does not match.

    Upstream: ValidateDaemonSetSpec
    """
    spec = obj["spec"]
    faults = list(selectors.label_selector(spec["selector"], "spec.selector", ctx))
    yield from faults
    if not faults:
        yield from label_selectors.selects_template(spec)
    if spec["selector"] is not None and label_selectors.is_empty(spec["selector"]):
        yield label_selectors.about(spec, "spec", "empty selector is invalid for daemonset", ctx)
    yield from templates.template(spec["template"], AT, workload.about_template(ctx, old))
    yield from templates.runs_forever(spec["template"]["spec"], AT, "DaemonSet")
    yield from rollouts.not_negative(spec, "spec", "minReadySeconds")
    yield from _strategy(spec["updateStrategy"], ctx)
    yield from rollouts.not_negative(spec, "spec", "revisionHistoryLimit")


def _strategy(strategy: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDaemonSetUpdateStrategy"""
    if strategy["type"] == "RollingUpdate":
        yield from _rolling_update(strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate")
    elif strategy["type"] not in TYPES:
        text = internal.text("apps.DaemonSetUpdateStrategy", strategy, ctx.version)
        place = ("spec", "updateStrategy", "type")
        yield field.not_supported("spec.updateStrategy", strategy, TYPES, place)._replace(shown=text)


def _rolling_update(rolling: Pod, at: str) -> Errors:
    """Upstream: ValidateRollingUpdateDaemonSet"""
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    yield from rollouts.int_or_percent(unavailable, f"{at}.maxUnavailable")
    yield from rollouts.int_or_percent(surge, f"{at}.maxSurge")
    yield from rollouts.not_over_100_percent(unavailable, f"{at}.maxUnavailable")
    yield from rollouts.not_over_100_percent(surge, f"{at}.maxSurge")
    none, no_surge = not rollouts.number(unavailable), not rollouts.number(surge)
    if not none and not no_surge:
        yield rollouts.invalid(f"{at}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif none and no_surge:
        yield field.required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDaemonSetStatusUpdate"""
    yield from workload.updating(obj, old, ctx)
    status = obj.get("status") or {}
    yield from rollouts.not_negative(status, "status", *COUNTS)
    yield from rollouts.collisions(status, old)


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    return workload.template_warnings(obj["spec"]["template"], AT, ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    if _template_generation(obj) == _template_generation(old):
        return ()
    return workload.template_warnings(obj["spec"]["template"], AT, ctx)


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(for_status_update, status_rules, workload.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
)
