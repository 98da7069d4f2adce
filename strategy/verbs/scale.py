"""The scale subresource: a Scale is a view on an object's replicas, and a write to it is an update of the object."""

from __future__ import annotations

from podstrat.strategy import errors, patch
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.kinds import SCALE
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import incoming, preconditions, update
from podstrat.strategy.verbs.judged import Judged

REPLICAS: Pod = {"f:spec": {"f:replicas": {}}}
"""The one field that a Scale is about, as managers own it."""
SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def of(obj: Pod, kind: Kind) -> Pod:
    """The Scale of an object.

    Upstream: scaleFromDeployment and its like
    """
    assert kind.strategy.scale is not None
    replicas = obj["spec"].get("replicas", 0)
    status: Pod = {"replicas": (obj.get("status") or {}).get("replicas", 0)}
    if text := kind.strategy.scale.selector(obj):
        status["selector"] = text
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in SHOWN if key in obj["metadata"]},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def run(request: Request, stored: Pod | None, kind: Kind, ctx: Context, decoder: Decoder) -> Judged:
    """A write to the Scale of an object, as the update of the object that it comes to.

    Upstream: ScaleREST.Update, scaleUpdatedObjectInfo.UpdatedObject
    """
    live = None
    if stored is not None:
        live = of(stored, kind)
        if entries := _to_scale(stored, kind, ctx):
            live["metadata"]["managedFields"] = entries
    _, (scale, warnings, _) = incoming.for_update(request, live, SCALE, ctx, decoder, any_version=True)
    old = preconditions.exists(stored, request)
    with errors.keeping(warnings):
        if faults := list(SCALE.strategy.create.rules(scale, ctx)):
            raise errors.invalid(SCALE, request.name, faults, ctx.version)
    replicas = scale["spec"].get("replicas", 0)
    metadata = dict(old["metadata"])
    if "resourceVersion" in scale["metadata"]:
        metadata["resourceVersion"] = scale["metadata"]["resourceVersion"]
    entries = _to_parent(old, scale["metadata"].get("managedFields"), kind, ctx)
    metadata.pop("managedFields", None)
    if entries:
        metadata["managedFields"] = entries
    obj = {**old, "metadata": metadata, "spec": {**old["spec"], "replicas": replicas}}
    with errors.keeping(warnings):
        preconditions.unchanged(obj, old, request)
    return update.judge(kind.strategy.updates[""], obj, old, warnings, Seen(), ctx)


# ---- who owns the replicas -------------------------------------------------------------------------


def _to_scale(obj: Pod, kind: Kind, ctx: Context) -> list[Pod] | None:
    """The entries of an object's managers that own its replicas, as those of its Scale.

    Upstream: ScaleHandler.ToSubresource
    """
    entries = obj["metadata"].get("managedFields")
    if not entries:
        return None
    managed = patch.managed
    owners = {
        known: managed.Entry(REPLICAS, entry.time)
        for known, entry in managed.decode(entries, managed.of(kind, ctx.types), trusted=True).items()
        if _owns_replicas(entry.fields)
    }
    return managed.encode(owners, SCALE.api_version)


def _owns_replicas(fields: Pod) -> bool:
    return "f:replicas" in (fields.get("f:spec") or {})


def _to_parent(old: Pod, entries: list[Pod] | None, kind: Kind, ctx: Context) -> list[Pod] | None:
    """The entries of an object after a write to its Scale: the manager of the replicas there manages them here, without a time.

    Upstream: ScaleHandler.ToParent
    """
    managed, fieldset = patch.managed, patch.fieldset
    what = managed.of(kind, ctx.types)
    before = managed.decode(old["metadata"].get("managedFields"), what, trusted=True)
    after = managed.decode(entries, managed.of(SCALE, ctx.types), trusted=True)
    made = {}
    for known, entry in before.items():
        if _owns_replicas(entry.fields) and known not in after:
            left = fieldset.difference(entry.fields, REPLICAS)
            if not left:
                continue
            entry = entry._replace(fields=left)
        made[known] = entry
    for known, entry in after.items():
        if _owns_replicas(entry.fields) and known not in made:
            made[known] = managed.Entry(REPLICAS, before[known].time if known in before else None)
    return managed.encode(made, kind.api_version)
