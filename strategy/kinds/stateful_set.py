"""The strategy and the rules of StatefulSets."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import defaults, field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation
from podstrat.strategy.kinds import deployment, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Scaled, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import claim_templates, label_selectors, meta, pod_spec, rollouts, templates
from podstrat.strategy.verbs import deletion

AT = "spec.template"
MAX_UNAVAILABLE, RECREATE = "MaxUnavailableStatefulSet", "StatefulSetRecreateStrategy"
RETENTION = ("Retain", "Delete")
COUNTS = (
    *("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    *("observedGeneration", "collisionCount"),
)
IMMUTABLE = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
"""What may not change, in the order in which 1.37 tells it."""
MUTABLE = (
    *("replicas", "template", "updateStrategy", "minReadySeconds", "persistentVolumeClaimRetentionPolicy"),
    *("ordinals", "revisionHistoryLimit"),
)
FORBIDDEN = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
ALL_REVISIONS = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"


# ---- defaults --------------------------------------------------------------------------------------


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_StatefulSet, Convert_v1_StatefulSet_To_apps_StatefulSet"""
    spec = obj["spec"]
    workload.default_template(obj, spec["template"], "apps.StatefulSet", ctx, filled)
    strategy = spec["updateStrategy"]
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "RollingUpdate" and rolling is not None:
        rolling.setdefault("partition", 0)
        if MAX_UNAVAILABLE in ctx.gates:
            rolling.setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    for key in ("whenDeleted", "whenScaled"):
        if not retention.get(key):
            retention[key] = "Retain"
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        claim["status"].setdefault("phase", "Pending")
        defaults.round_requirements(claim["spec"]["resources"])


# ---- prepare ---------------------------------------------------------------------------------------


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    _drop_max_unavailable(obj, None, ctx)
    return workload.new(obj, obj["spec"]["template"], AT, "apps.StatefulSetStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: statefulSetStrategy.PrepareForUpdate"""
    workload.keep(obj, old)
    _drop_max_unavailable(obj, old, ctx)
    dropped = workload.drop_disabled(obj["spec"]["template"], old["spec"]["template"], AT, ctx, seen)
    workload.count_changes(obj, old, "apps.StatefulSetSpec", ctx)
    return obj, dropped


def _drop_max_unavailable(obj: Pod, old: Pod | None, ctx: Context) -> None:
    """Upstream: dropStatefulSetDisabledFields"""
    if MAX_UNAVAILABLE in ctx.gates:
        return
    stored = {} if old is None else old["spec"]["updateStrategy"].get("rollingUpdate") or {}
    rolling = obj["spec"]["updateStrategy"].get("rollingUpdate")
    if rolling is not None and "maxUnavailable" not in stored:
        rolling.pop("maxUnavailable", None)


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Its name is part of the hostnames of its pods, hence a DNS label.

    Upstream: ValidateStatefulSet
    """
    yield from meta.on_create(obj["metadata"], ctx, validation.dns_label)
    yield from _spec(obj["spec"], ctx, None, new=True)
    yield from workload.declared(obj["spec"]["template"], AT, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateStatefulSetUpdate"""
    yield from workload.updating(obj, old, ctx)
    stored = old["spec"]["template"]
    # A set that was stored with a broken spec may keep it.
    broken = any(_spec(old["spec"], ctx, stored, new=False))
    yield from _spec(obj["spec"], ctx, stored, new=False, judge_template=not broken)
    yield from _unchanged(obj["spec"], old["spec"], ctx)
    yield from workload.declared(obj["spec"]["template"], AT, workload.about_template(ctx, stored))


def _unchanged(spec: Pod, old: Pod, ctx: Context) -> Errors:
    fields = ctx.types.fields("apps.StatefulSetSpec")
    changed = [key for key in fields if not semantic.same(spec.get(key), old.get(key), fields[key], ctx.types)]
    if ctx.version < V1_37:
        if any(key not in MUTABLE for key in changed):
            yield field.forbidden("spec", FORBIDDEN)
        return
    for key in IMMUTABLE:
        if key in changed:
            yield _immutable(key, spec.get(key), ctx)


def _immutable(key: str, value: object, ctx: Context) -> field.FieldError:
    text = None
    if key == "volumeClaimTemplates" and isinstance(value, list):
        text = internal.text("[]PersistentVolumeClaim", value, ctx.version)
    elif key == "selector" and isinstance(value, dict):
        text = internal.text("LabelSelector", value, ctx.version)
    elif key == "serviceName":
        value = value or ""
    return field.invalid(f"spec.{key}", value, "field is immutable", show=text)


def _spec(spec: Pod, ctx: Context, old: Pod | None, new: bool, judge_template: bool = True) -> Errors:
    """Upstream: ValidateStatefulSetSpec"""
    policy = spec.get("podManagementPolicy", "")
    if policy not in ("OrderedReady", "Parallel"):
        text = "must be 'OrderedReady' or 'Parallel'"
        yield field.invalid("spec.podManagementPolicy", policy, text, show=go.to_json(policy))
    yield from _strategy(spec["updateStrategy"], ctx)
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for key in ("whenDeleted", "whenScaled"):
        if retention.get(key) not in RETENTION:
            yield field.not_supported(f"spec.persistentVolumeClaimRetentionPolicy.{key}", retention.get(key, ""), RETENTION)
    if new:
        for i, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            yield from claim_templates.spec(claim["spec"], f"spec.volumeClaimTemplates[{i}].spec", ctx)
    yield from rollouts.not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from rollouts.not_negative(spec.get("ordinals") or {}, "spec.ordinals", "start")
    if new and spec.get("serviceName"):
        yield from validation.each("spec.serviceName", spec["serviceName"], validation.dns_label(spec["serviceName"]))
    if not (yield from label_selectors.usable(spec, "statefulset", ctx)):
        yield label_selectors.about(spec, "spec", "", ctx)
    elif judge_template:
        yield from _template(spec, workload.about_template(ctx, old))
    yield from templates.runs_forever(spec["template"]["spec"], AT, "StatefulSet")


def _strategy(strategy: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateStatefulSetSpec, its update strategy"""
    kind, rolling, at = strategy.get("type", ""), strategy.get("rollingUpdate"), "spec.updateStrategy.rollingUpdate"
    recreates = RECREATE in ctx.gates
    if kind == "OnDelete" or (kind == "Recreate" and recreates):
        if rolling is not None:
            text = internal.text("apps.RollingUpdateStatefulSetStrategy", rolling, ctx.version)
            yield field.invalid(at, rolling, "only allowed for updateStrategy 'RollingUpdate'", show=text)
    elif kind == "RollingUpdate":
        if rolling is not None:
            yield from _rolling_update(rolling, at)
    else:
        text = internal.text("apps.StatefulSetUpdateStrategy", strategy, ctx.version)
        choices = "'RollingUpdate', 'OnDelete', or 'Recreate'" if recreates else "'RollingUpdate' or 'OnDelete'"
        place = ("spec", "updateStrategy", "type")
        yield field.invalid("spec.updateStrategy", strategy, f"must be {choices}", place, show=text)


def _rolling_update(rolling: Pod, at: str) -> Errors:
    """Upstream: validateRollingUpdateStatefulSet"""
    yield from rollouts.not_negative(rolling, at, "partition")
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        at = f"{at}.maxUnavailable"
        yield from rollouts.int_or_percent(unavailable, at)
        if rollouts.number(unavailable) == 0:
            yield rollouts.invalid(at, unavailable, "cannot be 0")
        yield from rollouts.not_over_100_percent(unavailable, at)


def _template(spec: Pod, ctx: Context) -> Errors:
    """The template as the pods will have it; labels and annotations are judged twice.

    Upstream: ValidatePodTemplateSpecForStatefulSet
    """
    yield from label_selectors.selects_template(spec)
    yield from templates.metadata(spec["template"], AT, ctx)
    yield from _with_claims(spec, ctx)
    yield from templates.behind_spec(spec["template"], AT, ctx)
    yield from templates.metadata(spec["template"], AT, ctx)


def _with_claims(spec: Pod, ctx: Context) -> Errors:
    """The spec of the template as the pods will have it: each claim template is a volume, in the place of one of that name.

    Hostname and subdomain will be the set's own, so what the template says is not looked at. The claims come first: they shift
    the indices of the volumes in the server's paths, not the places.
    Upstream: volumesToAddForTemplates
    """
    pod = {key: value for key, value in spec["template"]["spec"].items() if key not in ("hostname", "subdomain")}
    places: list[field.Place] = []
    if spec.get("volumeClaimTemplates"):
        pod["volumes"], places = _all_volumes(spec)
    for error in pod_spec.spec(pod, None, f"{AT}.spec", ctx):
        where = error.where
        if places and where[:4] == ("spec", "template", "spec", "volumes") and len(where) > 4:
            error = error._replace(place=(*places[int(where[4])], *where[5:]))
        yield error


def _all_volumes(spec: Pod) -> tuple[list[Pod], list[field.Place]]:
    """The volumes of the pods, and where each of them is said."""
    claims: dict[str, int] = {}
    for i, claim in enumerate(spec["volumeClaimTemplates"]):
        claims.setdefault(claim["metadata"].get("name", ""), i)
    volumes: list[Pod] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    places: list[field.Place] = [("spec", "volumeClaimTemplates", i, "metadata") for i in claims.values()]
    for i, volume in enumerate(spec["template"]["spec"].get("volumes") or ()):
        if volume["name"] not in claims:
            volumes.append(volume)
            places.append(("spec", "template", "spec", "volumes", i))
    return volumes, places


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Here the status is judged before the metadata.

    Upstream: ValidateStatefulSetStatusUpdate
    """
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from workload.generic(obj, old, ctx, label_errors)
    status = obj.get("status") or {}
    yield from rollouts.not_negative(status, "status", *COUNTS)
    counted = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    yield from rollouts.counted(status, counted, "status.readyReplicas")
    yield from rollouts.collisions(status, old)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    """Upstream: statefulSetStrategy.WarningsOnCreate"""
    yield from workload.template_warnings(obj["spec"]["template"], AT, ctx)
    yield from _claim_warnings(obj["spec"], "")
    yield from _revision_warnings(obj["spec"])


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    """Upstream: statefulSetStrategy.WarningsOnUpdate"""
    if workload.was_counted(obj, old):
        yield from workload.template_warnings(obj["spec"]["template"], AT, ctx)
    yield from _claim_warnings(obj["spec"], ".Spec")
    yield from _revision_warnings(obj["spec"])


def _claim_warnings(spec: Pod, part: str) -> Iterable[str]:
    for i, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        storage = (claim["spec"]["resources"].get("requests") or {}).get("storage")
        if storage is not None and not quantity.parse(storage).is_whole:
            at = f"spec.volumeClaimTemplates[{i}]{part}.resources.requests[storage]"
            yield f"{at}: fractional byte value {go.quote(storage)} is invalid, must be an integer"


def _revision_warnings(spec: Pod) -> Iterable[str]:
    if spec.get("revisionHistoryLimit", 0) < 0:
        yield ALL_REVISIONS


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(workload.for_status, status_rules, workload.no_warnings),
    },
    delete=deletion.background,
    scale=Scaled(deployment.selector_text),
    reset=workload.RESET,
)
