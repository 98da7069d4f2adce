"""The strategy and the rules of Deployments."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import DecodeError, Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.kinds import workload
from podstrat.strategy.kinds.kind import Create, Dropped, Scaled, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import label_selectors, meta, rollouts, templates
from podstrat.strategy.verbs import deletion

AT = "spec.template"
ROLLBACK = "deprecated.deployment.rollback.to"
TYPES = ("Recreate", "RollingUpdate")
TERMINATING = "DeploymentReplicaSetTerminatingReplicas"
COUNTS = (
    *("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    *("unavailableReplicas", "terminatingReplicas", "collisionCount"),
)


# ---- defaults --------------------------------------------------------------------------------------


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_Deployment, Convert_v1_Deployment_To_apps_Deployment"""
    workload.default_template(obj, obj["spec"]["template"], "apps.Deployment", ctx, filled)
    strategy = obj["spec"]["strategy"]
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    if ROLLBACK in (obj["metadata"].get("annotations") or ()):
        _read_rollback(obj["metadata"]["annotations"])


def _read_rollback(annotations: dict[str, str]) -> None:
    """The revision to roll back to is a number that lives in an annotation; an empty one is none."""
    text = annotations[ROLLBACK]
    if not text:
        del annotations[ROLLBACK]
        return
    number = go.parse_int64(text)
    if isinstance(number, str):
        raise DecodeError(f"failed to parse annotation[{ROLLBACK}]={text} as int64: {number}")
    annotations[ROLLBACK] = str(number)


# ---- prepare ---------------------------------------------------------------------------------------


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return workload.new(obj, obj["spec"]["template"], AT, "apps.DeploymentStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Annotations count as changes of the spec: controllers read them.

    Upstream: deploymentStrategy.PrepareForUpdate
    """
    workload.keep(obj, old)
    dropped = workload.drop_disabled(obj["spec"]["template"], old["spec"]["template"], AT, ctx, seen)
    if (obj["metadata"].get("annotations") or {}) != (old["metadata"].get("annotations") or {}):
        workload.count(obj, old)
    else:
        workload.count_changes(obj, old, "apps.DeploymentSpec", ctx)
    return obj, dropped


def for_status_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    workload.keep(obj, old, "spec")
    workload.keep_in(obj["metadata"], old["metadata"], "labels")
    drop_terminating(obj, old, ctx)
    return obj, []


def drop_terminating(obj: Pod, old: Pod, ctx: Context) -> None:
    """Upstream: dropDisabledStatusFields"""
    if TERMINATING not in ctx.gates and "terminatingReplicas" not in (old.get("status") or {}):
        (obj.get("status") or {}).pop("terminatingReplicas", None)


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDeployment"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from spec_rules(obj, ctx, None)
    yield from workload.declared(obj["spec"]["template"], AT, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDeploymentUpdate"""
    yield from workload.updating(obj, old, ctx)
    stored = old["spec"]["template"]
    yield from spec_rules(obj, ctx, stored)
    if label_selectors.differ(obj["spec"], old["spec"]):
        yield label_selectors.about(obj["spec"], "spec", "field is immutable", ctx)
    yield from workload.declared(obj["spec"]["template"], AT, workload.about_template(ctx, stored))


def spec_rules(obj: Pod, ctx: Context, old: Pod | None) -> Errors:
    """Upstream: ValidateDeploymentSpec"""
    spec = obj["spec"]
    yield from rollouts.not_negative(spec, "spec", "replicas")
    yield from replicated(spec, ctx, old)
    yield from _strategy(spec["strategy"], ctx)
    yield from rollouts.not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
    if (revision := int((obj["metadata"].get("annotations") or {}).get(ROLLBACK, 0))) < 0:
        place = ("metadata", "annotations", ROLLBACK)
        yield field.invalid("spec.rollback.version", revision, validation.NOT_NEGATIVE, place)
    yield from _deadline(spec)


def replicated(spec: Pod, ctx: Context, old: Pod | None) -> Errors:
    """Selector and template, of a deployment as of a replica set. A selector that cannot be used leaves the template unjudged.

    Upstream: ValidatePodTemplateSpecForReplicaSet
    """
    if not (yield from label_selectors.usable(spec, "deployment", ctx)):
        yield label_selectors.about(spec, "spec", "invalid label selector", ctx)
        return
    yield from label_selectors.selects_template(spec)
    template = spec["template"]
    yield from templates.template(template, AT, workload.about_template(ctx, old))
    yield from templates.runs_forever(template["spec"], AT, "ReplicaSet")


def _strategy(strategy: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDeploymentStrategy"""
    rolling, at = strategy.get("rollingUpdate"), "spec.strategy.rollingUpdate"
    if strategy["type"] == "Recreate":
        if rolling is not None:
            yield field.forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
    elif strategy["type"] == "RollingUpdate":
        yield from _rolling_update(rolling or {}, at)
    else:
        text = internal.text("apps.DeploymentStrategy", strategy, ctx.version)
        place = ("spec", "strategy", "type")
        yield field.not_supported("spec.strategy", strategy, TYPES, place)._replace(shown=text)


def _rolling_update(rolling: Pod, at: str) -> Errors:
    """Upstream: ValidateRollingUpdateDeployment"""
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    yield from rollouts.int_or_percent(unavailable, f"{at}.maxUnavailable")
    yield from rollouts.int_or_percent(surge, f"{at}.maxSurge")
    if not rollouts.number(unavailable) and not rollouts.number(surge):
        yield rollouts.invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    yield from rollouts.not_over_100_percent(unavailable, f"{at}.maxUnavailable")


def _deadline(spec: Pod) -> Errors:
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is None:
        return
    yield from rollouts.not_negative(spec, "spec", "progressDeadlineSeconds")
    if deadline <= spec.get("minReadySeconds", 0):
        yield field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDeploymentStatusUpdate"""
    yield from workload.updating(obj, old, ctx)
    status = obj.get("status") or {}
    yield from rollouts.not_negative(status, "status", *COUNTS)
    yield from rollouts.counted(status, ("updatedReplicas", "readyReplicas", "availableReplicas"))
    yield from rollouts.collisions(status, old)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    yield from workload.name_warnings(obj)
    yield from workload.template_warnings(obj["spec"]["template"], AT, ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    if not workload.was_counted(obj, old):
        return ()
    return workload.template_warnings(obj["spec"]["template"], AT, ctx)


def selector_text(obj: Pod) -> str:
    return label_selectors.text(obj["spec"]["selector"])


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(for_status_update, status_rules, workload.no_warnings),
    },
    delete=deletion.background,
    scale=Scaled(selector_text),
    reset={"": (("status",),), "status": (("spec",), ("metadata", "labels"))},
)
