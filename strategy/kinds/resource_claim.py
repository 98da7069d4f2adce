"""The strategy and the rules of ResourceClaims."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.gates import devices as gated
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import claim_status, declarative, device_claims, meta
from podstrat.strategy.verbs import deletion

TYPE = "resource.ResourceClaim"
KEPT_BY_STATUS = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "selfLink")


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    default_spec(obj["spec"])
    for result in _results(obj):
        _default_tolerations(result)


def default_spec(spec: Pod) -> None:
    """Upstream: SetDefaults_ExactDeviceRequest, SetDefaults_DeviceSubRequest, SetDefaults_DeviceToleration"""
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        for each in (*(() if exactly is None else (exactly,)), *(request.get("firstAvailable") or ())):
            if not each.get("allocationMode"):
                each["allocationMode"] = "ExactCount"
            if each["allocationMode"] == "ExactCount" and not each.get("count"):
                each["count"] = 1
            _default_tolerations(each)


def _default_tolerations(holder: Pod) -> None:
    for toleration in holder.get("tolerations") or ():
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


def _results(obj: Pod) -> list[Pod]:
    allocation = (obj.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or []


# ---- prepare ---------------------------------------------------------------------------------------


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: resourceclaimStrategy.PrepareForCreate"""
    obj["status"] = codec.zero("resource.ResourceClaimStatus", ctx.types)
    return gated.drop(obj, None, gated.CLAIM, ctx), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: resourceclaimStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    return obj, gated.drop(obj, old, gated.CLAIM, ctx)


def for_status(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Only the status is written: the metadata stays as well.

    Upstream: resourceclaimStatusStrategy.PrepareForUpdate
    """
    plain.keep(obj, old, "spec")
    for name in KEPT_BY_STATUS:
        plain.keep_in(obj["metadata"], old["metadata"], name)
    _drop_deallocated(obj, old, ctx)
    return obj, gated.drop(obj, old, gated.CLAIM, ctx)


def _drop_deallocated(obj: Pod, old: Pod, ctx: Context) -> None:
    """What drivers report about a device goes with its allocation.

    Upstream: dropDeallocatedStatusDevices
    """
    status, stored = obj.get("status") or {}, old.get("status") or {}
    if "DRAResourceClaimDeviceStatus" not in ctx.gates and not stored.get("devices"):
        return
    gone = claim_status.allocated(stored.get("allocation")) - claim_status.allocated(status.get("allocation"))
    reports = status.get("devices") or []
    others = [report for report in reports if claim_status.ident(report) not in gone]
    if len(others) != len(reports):
        status["devices"] = others
    if not others:
        status.pop("devices", None)


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: resourceclaimStrategy.Validate, ValidateResourceClaim"""
    yield from declarative.last(_create(obj, ctx), TYPE, ctx)


def _create(obj: Pod, ctx: Context) -> Errors:
    yield from device_claims.admin_requests(obj["spec"], ("spec",), ctx)
    yield from meta.on_create(obj["metadata"], ctx)
    yield from device_claims.spec(obj["spec"], "spec", ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """A changed spec is refused as such; 1.34 also judges it, twice.

    Upstream: ValidateResourceClaimUpdate
    """
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    judged = ctx.version < V1_35
    if judged:
        yield from device_claims.spec(obj["spec"], "spec", ctx)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    if not semantic.equal(obj["spec"], old["spec"], "resource.ResourceClaimSpec", ctx.types):
        text = "null" if ctx.declares else internal.text("resource.ResourceClaimSpec", obj["spec"], ctx.version)
        yield field.invalid("spec", obj["spec"], "field is immutable", show=text)
    if judged:
        yield from device_claims.spec(obj["spec"], "spec", ctx, stored=True)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: resourceclaimStatusStrategy.ValidateUpdate, ValidateResourceClaimStatusUpdate"""
    yield from declarative.last(_status(obj, old, ctx), TYPE, ctx)


def _status(obj: Pod, old: Pod, ctx: Context) -> Errors:
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    yield from device_claims.admin_results(_results(obj), _results(old), ctx)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    yield from claim_status.update(obj, old, ctx)


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, plain.silent),
    updates={
        "": Update(for_update, update_rules, plain.no_warnings),
        "status": Update(for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
    returns_deleted=True,
    reads_request=True,
)
