"""The scale subresource: a Scale is a view on an object's replicas, and a write to it is an update of the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from podstrat.strategy import errors, patch
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.kinds import SCALE
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import incoming, preconditions, update
from podstrat.strategy.verbs.judged import Judged

if TYPE_CHECKING:
    from podstrat.strategy.patch.managed import Managers

REPLICAS: Pod = {"f:spec": {"f:replicas": {}}}
"""The one field that a Scale is about, as managers own it."""
METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
"""What the metadata of a Scale has of its object's."""


def of(obj: Pod, kind: Kind) -> Pod:
    """The Scale of an object.

    Upstream: scaleFromDeployment and its like
    """
    assert kind.strategy.scale is not None
    replicas = obj["spec"].get("replicas", 0)
    status: Pod = {"replicas": (obj.get("status") or {}).get("replicas", 0)}
    if text := kind.strategy.scale.selector(obj):
        status["selector"] = text
    return view(obj, replicas, status)


def view(obj: Pod, replicas: Any, status: Pod) -> Pod:
    """The Scale of an object with these replicas and this status."""
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in METADATA if key in obj["metadata"]},
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
    entries = _to_parent(old, scale["metadata"].get("managedFields"), kind, ctx)
    metadata = parent_metadata(old, scale, entries)
    obj = {**old, "metadata": metadata, "spec": {**old["spec"], "replicas": replicas}}
    with errors.keeping(warnings):
        preconditions.unchanged(obj, old, request)
    return update.judge(kind.strategy.updates[""], obj, old, warnings, Seen(), ctx)


def parent_metadata(old: Pod, scale: Pod, entries: list[Pod] | None) -> Pod:
    """The metadata of an object after a write to its Scale, with these entries of managers."""
    metadata = dict(old["metadata"])
    if "resourceVersion" in scale["metadata"]:
        metadata["resourceVersion"] = scale["metadata"]["resourceVersion"]
    metadata.pop("managedFields", None)
    if entries:
        metadata["managedFields"] = entries
    return metadata


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
        manager: managed.Entry(REPLICAS, entry.time)
        for manager, entry in managed.decode(entries, managed.of(kind, ctx.types), trusted=True).items()
        if owns_replicas(entry.fields)
    }
    return managed.encode(owners, SCALE.api_version)


def owns_replicas(fields: Pod) -> bool:
    return "f:replicas" in (fields.get("f:spec") or {})


def _to_parent(old: Pod, entries: list[Pod] | None, kind: Kind, ctx: Context) -> list[Pod] | None:
    """The entries of an object after a write to its Scale: the manager of the replicas there manages them here, without a time.

    Upstream: ScaleHandler.ToParent
    """
    managed = patch.managed
    before = managed.decode(old["metadata"].get("managedFields"), managed.of(kind, ctx.types), trusted=True)
    after = managed.decode(entries, managed.of(SCALE, ctx.types), trusted=True)
    return managed.encode(hand_over(before, after, REPLICAS, owns_replicas), kind.api_version)


def hand_over(before: Managers, after: Managers, replicas: Pod, owns: Callable[[Pod], bool]) -> Managers:
    """The managers of an object: those it had, with the replicas, a tree of fields, in the hands of the managers of its Scale."""
    managed, fieldset = patch.managed, patch.fieldset
    managers = {}
    for manager, entry in before.items():
        if owns(entry.fields) and manager not in after:
            others = fieldset.difference(entry.fields, replicas)
            if not others:
                continue
            entry = entry._replace(fields=others)
        managers[manager] = entry
    for manager, entry in after.items():
        if owns_replicas(entry.fields) and manager not in managers:
            managers[manager] = managed.Entry(replicas, before[manager].time if manager in before else None)
    return managers
