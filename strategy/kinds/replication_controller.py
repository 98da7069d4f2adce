"""The strategy and the rules of ReplicationControllers."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.kinds import workload
from podstrat.strategy.kinds.kind import Create, Dropped, Scaled, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, rollouts, templates
from podstrat.strategy.verbs import deletion

AT = "spec.template"
IN_BYTES = ("253 characters", "253 bytes")
"""How the length of a name is worded here since 1.35."""
COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """A controller without labels or without a selector takes the labels of the template: it is the same map.

    Upstream: SetDefaults_ReplicationController
    """
    template = obj["spec"].get("template")
    workload.default_template(obj, template, "ReplicationController", ctx, filled)
    labels = None if template is None else template["metadata"].get("labels")
    if labels is not None:
        if not obj["spec"].get("selector"):
            obj["spec"]["selector"] = labels
        if not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = labels


def read_back(obj: Pod, ctx: Context) -> Pod:
    """Labels and selector that were taken from the template are not the same map any more."""
    labels = (obj["spec"].get("template") or {"metadata": {}})["metadata"].get("labels")
    if labels is None:
        return obj
    result = dict(obj)
    if obj["metadata"].get("labels") is labels:
        result["metadata"] = {**obj["metadata"], "labels": dict(labels)}
    if obj["spec"].get("selector") is labels:
        result["spec"] = {**obj["spec"], "selector": dict(labels)}
    return result


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return workload.new(obj, obj["spec"].get("template"), AT, "ReplicationControllerStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: rcStrategy.PrepareForUpdate"""
    workload.keep(obj, old)
    dropped = workload.drop_disabled(obj["spec"].get("template"), old["spec"].get("template"), AT, ctx, seen)
    workload.count_changes(obj, old, "ReplicationControllerSpec", ctx)
    return obj, dropped


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicationController, and the declarative rules of the type"""
    yield from _metadata(obj, ctx)
    yield from _spec(obj["spec"], ctx, None)
    yield from _declared(obj, ctx, None)


def _metadata(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Metadata on create: since 1.37 the name is judged by the declarative rules, and since 1.35 generateName not beside a name.

    Where the labels are those of the template, that is where a fault in them is.
    """
    metadata = obj["metadata"]
    template = obj["spec"].get("template") or {"metadata": {}}
    labels = metadata.get("labels")
    is_shared = labels is not None and labels is template["metadata"].get("labels")
    if ctx.version >= V1_35 and metadata.get("name") and metadata.get("generateName"):
        metadata = {key: value for key, value in metadata.items() if key != "generateName"}
    for error in meta.on_create(metadata, ctx, label_errors=label_errors):
        if ctx.declares and error.field == "metadata.name":
            continue
        if ctx.version >= V1_35 and error.field == "metadata.name":
            error = error._replace(detail=error.detail.replace(*IN_BYTES))
        if is_shared and error.field == "metadata.labels":
            error = error._replace(place=("spec", "template", *error.where))
        yield error


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """In 1.34 the rules of a create came first.

    Upstream: ValidateReplicationControllerUpdate
    """
    stored = old["spec"].get("template")
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from workload.generic(obj, old, ctx, label_errors)
    if ctx.version < V1_35:
        yield from _metadata(obj, ctx, label_errors)
        yield from _spec(obj["spec"], ctx, stored)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    yield from _spec(obj["spec"], ctx, stored)
    yield from _declared(obj, ctx, stored)


def _spec(spec: Pod, ctx: Context, old: Pod | None) -> Errors:
    """Upstream: ValidateReplicationControllerSpec"""
    in_place = not ctx.declares
    if in_place:
        yield from rollouts.not_negative(spec, "spec", "minReadySeconds")
    selector = spec.get("selector") or {}
    if not selector:
        yield field.required("spec.selector")
    if in_place:
        yield from rollouts.not_negative(spec, "spec", "replicas")
    template = spec.get("template")
    if template is None:
        yield field.required(AT)
        return
    labels = template["metadata"].get("labels")
    if not selector.items() <= (labels or {}).items():
        yield templates.labels_selected(labels, AT)
    yield from templates.template(template, AT, workload.about_template(ctx, old))
    yield from templates.runs_forever(template["spec"], AT, "ReplicationController")


def _declared(obj: Pod, ctx: Context, old: Pod | None) -> Errors:
    """Declarative rules come behind all others. Up to 1.36 none of these was enforced so.

    Upstream: the generated validation of ReplicationController
    """
    if ctx.declares:
        name = obj["metadata"].get("name", "")
        if ctx.old is None:
            yield from _declared_name(name)
        yield from rollouts.not_negative(obj["spec"], "spec", "replicas", "minReadySeconds")
    yield from workload.declared(obj["spec"].get("template"), AT, workload.about_template(ctx, old))


def _declared_name(name: str) -> Errors:
    if not name:
        yield field.required("metadata.name", "name or generateName is required")
    else:
        faults = [fault.replace(*IN_BYTES) for fault in validation.dns_subdomain(name)]
        yield from validation.each("metadata.name", name, faults)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicationControllerStatusUpdate"""
    yield from workload.updating(obj, old, ctx)
    status = obj.get("status") or {}
    yield from rollouts.not_negative(status, "status", *COUNTS)
    yield from rollouts.counted(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"))


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    yield from workload.name_warnings(obj)
    yield from workload.template_warnings(obj["spec"].get("template"), AT, ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    """The server exchanges its arguments here: it is the stored template that is warned about."""
    if not workload.was_counted(obj, old):
        return ()
    return workload.template_warnings(old["spec"].get("template"), AT, ctx)


def selector_text(obj: Pod) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((obj["spec"].get("selector") or {}).items()))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(workload.for_status, status_rules, workload.no_warnings),
    },
    delete=deletion.orphaning,
    scale=Scaled(selector_text),
    reset=workload.RESET,
    read_back=read_back,
)
