"""The strategy and the rules of ReplicaSets."""

from __future__ import annotations

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import deployment, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Scaled, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import label_selectors, meta, rollouts
from podstrat.strategy.verbs import deletion

AT = "spec.template"
COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas")


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_ReplicaSet"""
    workload.default_template(obj, obj["spec"]["template"], "apps.ReplicaSet", ctx, filled)


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return workload.new(obj, obj["spec"]["template"], AT, "apps.ReplicaSetStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: rsStrategy.PrepareForUpdate"""
    workload.keep(obj, old)
    dropped = workload.drop_disabled(obj["spec"]["template"], old["spec"]["template"], AT, ctx, seen)
    workload.count_changes(obj, old, "apps.ReplicaSetSpec", ctx)
    return obj, dropped


def for_status_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    workload.keep(obj, old, "spec")
    deployment.drop_terminating(obj, old, ctx)
    return obj, []


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicaSet"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from _spec(obj["spec"], ctx, None)
    yield from workload.declared(obj["spec"]["template"], AT, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicaSetUpdate"""
    yield from workload.updating(obj, old, ctx)
    stored = old["spec"]["template"]
    yield from _spec(obj["spec"], ctx, stored)
    if label_selectors.differ(obj["spec"], old["spec"]):
        yield label_selectors.about(obj["spec"], "spec", "field is immutable", ctx)
    yield from workload.declared(obj["spec"]["template"], AT, workload.about_template(ctx, stored))


def _spec(spec: Pod, ctx: Context, old: Pod | None) -> Errors:
    """Upstream: ValidateReplicaSetSpec"""
    yield from rollouts.not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from deployment.replicated(spec, ctx, old)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicaSetStatusUpdate"""
    yield from workload.updating(obj, old, ctx)
    status = obj.get("status") or {}
    yield from rollouts.not_negative(status, "status", *COUNTS)
    yield from rollouts.counted(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, deployment.create_warnings),
    updates={
        "": Update(for_update, update_rules, deployment.update_warnings),
        "status": Update(for_status_update, status_rules, workload.no_warnings),
    },
    delete=deletion.background,
    scale=Scaled(deployment.selector_text),
    reset=workload.RESET,
)
