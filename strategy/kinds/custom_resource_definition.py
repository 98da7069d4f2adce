"""The strategy of CustomResourceDefinitions; their rules are in strategy.crds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.crds import definition
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.formats import times
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request, Store
from podstrat.strategy.verbs import deletion

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that holds a definition until its objects are gone."""
TERMINATING = {
    "type": "Terminating",
    "status": "True",
    "reason": "InstanceDeletionPending",
    "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
}
WEBHOOK_PORT = 443  # the default of ServiceReference.port
_META_OF_STATUS = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "generation", "selfLink")


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_CustomResourceDefinition"""
    spec = obj["spec"]
    names = spec["names"]
    if not names.get("singular"):
        _set(names, "singular", names["kind"].lower())
    if not names.get("listKind") and names["kind"]:
        names["listKind"] = names["kind"] + "List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", WEBHOOK_PORT)
    _note_storage(obj) if not obj["status"].get("storedVersions") else None


def _set(holder: Pod, key: str, value: str) -> None:
    if value:
        holder[key] = value


def _note_storage(obj: Pod) -> None:
    """The storage version is among those that objects are stored in."""
    storage = next((each["name"] for each in obj["spec"].get("versions") or () if each["storage"]), None)
    stored = obj["status"].get("storedVersions") or []
    if storage is not None and storage not in stored:
        obj["status"]["storedVersions"] = [*stored, storage]


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: strategy.PrepareForCreate"""
    obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None}
    obj["metadata"]["generation"] = 1
    _note_storage(obj)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: strategy.PrepareForUpdate"""
    plain.keep(obj, old)
    if obj["spec"] != old["spec"]:
        plain.count(obj, old)
    obj["status"] = dict(obj["status"])
    _note_storage(obj)
    return obj, []


def for_status(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: statusStrategy.PrepareForUpdate"""
    for key in _META_OF_STATUS:
        plain.keep_in(obj["metadata"], old["metadata"], key)
    obj["spec"] = old["spec"]
    return obj, []


def delete(stored: Pod, options: Mapping[str, Any], request: Request) -> deletion.Deleted:
    """The first delete marks a definition, which then loses its objects; only then it is removed.

    Upstream: REST.Delete
    """
    meta = stored["metadata"]
    if "deletionTimestamp" in meta:
        return deletion.background(stored, options, request)
    finalizers = meta.get("finalizers") or []
    marked = {
        **meta,
        "deletionTimestamp": times.format(request.now),
        "finalizers": finalizers if CLEANUP in finalizers else [*finalizers, CLEANUP],
    }
    status = stored["status"]
    conditions = [each for each in status.get("conditions") or () if each["type"] != "Terminating"]
    conditions.append({**TERMINATING, "lastTransitionTime": times.format(request.now)})
    obj = {**stored, "metadata": marked, "status": {**status, "conditions": conditions}}
    return deletion.Deleted(obj, (Store(obj),))


def create_warnings(obj: Pod, ctx: Context) -> list[str]:
    return list(definition.warnings(obj, None, ctx))


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> list[str]:
    return list(definition.warnings(obj, old, ctx))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, definition.on_create, create_warnings),
    updates={
        "": Update(for_update, definition.on_update, update_warnings),
        "status": Update(for_status, definition.on_status_update, plain.no_warnings),
    },
    delete=delete,
    reset={"": (("status",),), "status": (("metadata",), ("spec",))},
    returns_deleted=True,
    needs_version=True,
)
