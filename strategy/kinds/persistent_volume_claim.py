"""The strategy and the rules of PersistentVolumeClaims."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import defaults, field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding import plain_defaults
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import claim_templates, meta
from podstrat.strategy.verbs import deletion

CROSS_NAMESPACE = "CrossNamespaceVolumeDataSource"
SNAPSHOTS = ("snapshot.storage.k8s.io", "VolumeSnapshot")
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
IMMUTABLE = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
SMALLER = "field can not be less than status.capacity"
RESIZE_STATUSES = (
    *("ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending", "NodeResizeInProgress"),
    "NodeResizeInfeasible",
)


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_PersistentVolumeClaim"""
    if not filled:
        plain_defaults.fill(obj, "PersistentVolumeClaim", defaults.plain(ctx))
    defaults.round_requirements(obj["spec"]["resources"])
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    defaults.round_up(status.get("capacity"))
    defaults.round_up(status.get("allocatedResources"))


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: persistentvolumeclaimStrategy.PrepareForCreate"""
    obj["status"] = {"phase": "Pending"}
    _drop_sources(obj["spec"], {}, ctx)
    _fill_sources(obj["spec"])
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: persistentvolumeclaimStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    _drop_sources(obj["spec"], old["spec"], ctx)
    _fill_sources(obj["spec"])
    return obj, []


def _drop_sources(spec: Pod, old: Pod, ctx: Context) -> None:
    """A source that is neither a claim nor a snapshot goes, and the namespace of a reference, unless stored so.

    Upstream: DropDisabledFields, EnforceDataSourceBackwardsCompatibility
    """
    reference = spec.get("dataSourceRef")
    stored = (old.get("dataSourceRef") or {}).get("namespace")
    if reference and CROSS_NAMESPACE not in ctx.gates and "namespace" in reference and stored is None:
        spec["dataSourceRef"] = {key: value for key, value in reference.items() if key != "namespace"}
    source = spec.get("dataSource")
    if source is None or "dataSource" in old or "dataSourceRef" in old:
        return
    group_kind = source.get("apiGroup") or "", source.get("kind", "")
    if group_kind not in (("", "PersistentVolumeClaim"), SNAPSHOTS):
        del spec["dataSource"]


def _fill_sources(spec: Pod) -> None:
    """Upstream: NormalizeDataSources"""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: ValidatePersistentVolumeClaim"""
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    yield from claim_templates.spec(obj["spec"], "spec", ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePersistentVolumeClaimUpdate"""
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    if ctx.version < V1_35:
        # The rules of a create came first, and then again.
        yield from create_rules(obj, ctx, label_errors)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    yield from create_rules(obj, ctx, label_errors)
    yield from _beta_class(obj, old)
    new, stored = _comparable(obj, old)
    if not semantic.equal(new, stored, "PersistentVolumeClaimSpec", ctx.types):
        difference = internal.diff("PersistentVolumeClaimSpec", stored, new, ctx.version)
        yield field.forbidden("spec", IMMUTABLE + difference)
    size = _size(obj["spec"])
    if size < _size(old["spec"]):
        capacity = quantity.parse(((old.get("status") or {}).get("capacity") or {}).get("storage", "0"))
        if size <= capacity:
            yield field.forbidden("spec.resources.requests.storage", SMALLER)
    mode = obj["spec"].get("volumeMode")
    if mode != old["spec"].get("volumeMode"):
        yield field.invalid("volumeMode", mode, "field is immutable", ("spec", "volumeMode"), show=go.to_json(mode))
    yield from _attributes_class(obj["spec"], old["spec"], ctx)


def _beta_class(obj: Pod, old: Pod) -> Errors:
    """The old annotation for the storage class may become the field, and otherwise stays.

    Upstream: validateStorageClassUpgradeFromAnnotation, ValidateImmutableAnnotation
    """
    new, stored = ((each["metadata"].get("annotations") or {}).get(BETA_CLASS, "") for each in (obj, old))
    if _upgrades_class(obj, old):
        return
    if new != stored:
        path = f"metadata.annotations[{BETA_CLASS}]"
        yield field.invalid(path, new, "field is immutable", ("metadata", "annotations", BETA_CLASS))


def _upgrades_class(obj: Pod, old: Pod) -> bool:
    new, stored = ((each["metadata"].get("annotations") or {}) for each in (obj, old))
    name = obj["spec"].get("storageClassName")
    if BETA_CLASS not in stored or "storageClassName" in old["spec"] or name is None:
        return False
    return bool(name == stored[BETA_CLASS]) and (BETA_CLASS not in new or new[BETA_CLASS] == stored[BETA_CLASS])


def _comparable(obj: Pod, old: Pod) -> tuple[Pod, Pod]:
    """Both specs with what may change taken over from the other."""
    new, stored = dict(obj["spec"]), dict(old["spec"])
    _fill_sources(stored)
    if not stored.get("volumeName"):
        plain.keep_in(stored, new, "volumeName")
    annotated = any(BETA_CLASS in (each["metadata"].get("annotations") or ()) for each in (obj, old))
    if _upgrades_class(obj, old) or ("storageClassName" not in stored and not annotated):
        new.pop("storageClassName", None)
    if (obj.get("status") or {}).get("phase") == "Bound":
        requests = new["resources"].get("requests")
        if requests is not None:
            size = (stored["resources"].get("requests") or {}).get("storage", "0")
            new["resources"] = {**new["resources"], "requests": {**requests, "storage": size}}
        plain.keep_in(new, stored, "volumeAttributesClassName")
    return new, stored


def _size(spec: Pod) -> quantity.Quantity:
    return quantity.parse((spec["resources"].get("requests") or {}).get("storage", "0"))


def _attributes_class(spec: Pod, old: Pod, ctx: Context) -> Errors:
    """Once a claim has a class of attributes, it has one."""
    at = "spec.volumeAttributesClassName"
    if old.get("volumeAttributesClassName") is None or "VolumeAttributesClass" not in ctx.gates:
        return
    name = spec.get("volumeAttributesClassName")
    if name is None:
        yield field.forbidden(at, "update from non-nil value to nil is forbidden")
    elif not name and old["volumeAttributesClassName"]:
        yield field.forbidden(at, "update from non-nil value to an empty string is forbidden")


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePersistentVolumeClaimStatusUpdate"""
    yield from plain.updating(obj, old, ctx)
    status = obj.get("status") or {}
    for key in ("capacity", "allocatedResources"):
        if key == "allocatedResources":
            yield from _resize_statuses(status.get("allocatedResourceStatuses") or {}, ctx)
        for name, text in (status.get(key) or {}).items():
            place = ("status", key, name)
            if key == "allocatedResources":
                yield from _resource_key(name, f"status.{key}[{name}]", place, ctx)
            amount = quantity.parse(text).value()
            if amount < 0:
                yield field.invalid(f"status.{key}[{name}]", amount, "must be a valid resource quantity", place)


def _resize_statuses(statuses: dict[str, str], ctx: Context) -> Errors:
    for name, text in statuses.items():
        at, place = f"status.allocatedResourceStatuses[{name}]", ("status", "allocatedResourceStatuses", name)
        yield from _resource_key(name, at, place, ctx)
        if text not in RESIZE_STATUSES:
            yield field.not_supported(at, name, sorted(RESIZE_STATUSES), place)


def _resource_key(name: str, at: str, place: field.Place, ctx: Context) -> Errors:
    """Upstream: validateResourceClaimKey"""
    if faults := validation.label_key(name, ctx.name_unit):
        yield from validation.each(at, name, faults, place)
    elif "/" not in name and name != "storage":
        yield field.invalid(at, name, "must be a standard resource type or fully qualified", place)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    storage = (obj["spec"]["resources"].get("requests") or {}).get("storage")
    if storage is not None and not quantity.parse(storage).is_whole:
        yield f"spec.resources.requests[storage]: fractional byte value {go.quote(storage)} is invalid, must be an integer"


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, plain.as_on_create(create_warnings)),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
    returns_deleted=True,
)
