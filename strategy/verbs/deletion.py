"""Deletion: immediate, or graceful with a grace period; finalizers delay it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod
from podstrat.strategy.formats import times
from podstrat.strategy.request import Effect, Remove, Request, Store

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


class Deleted(NamedTuple):
    pod: Pod | None
    """The pod as the answer shows it; None for one without any content."""
    effects: tuple[Effect, ...]


def pod(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """The first delete sets a deadline, a later one may bring it forward; without finalizers a deadline of none removes.

    Upstream: rest.BeforeDelete, podStrategy.CheckGracefulDelete, Store.Delete
    """
    seconds = options.get("gracePeriodSeconds")
    if seconds is not None and seconds < 0:
        seconds = 1
    if "deletionTimestamp" in stored["metadata"]:
        return _again(stored, seconds, options, request)
    grace = _first_grace(stored, seconds)
    meta = dict(stored["metadata"])
    meta["deletionTimestamp"] = times.format(request.now + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    # An object of a server that knew no generation keeps none.
    if meta.get("generation", 0) > 0:
        meta["generation"] += 1
    return _finish({**stored, "metadata": with_finalizers(meta, options)}, grace)


def _first_grace(stored: Pod, seconds: int | None) -> int:
    spec = stored["spec"]
    if not spec.get("nodeName") or (stored.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    grace: int = spec.get("terminationGracePeriodSeconds", 0) if seconds is None else seconds
    return 1 if grace < 0 else grace


def _again(stored: Pod, seconds: int | None, options: Mapping[str, Any], request: Request) -> Deleted:
    meta = stored["metadata"]
    grace: int = meta.get("deletionGracePeriodSeconds", 0)
    if not grace:
        return _free(stored, options, request)
    if seconds is None or seconds >= grace:
        return Deleted(stored, ())
    deadline = times.to_datetime(meta["deletionTimestamp"]) - timedelta(seconds=grace - seconds)
    if deadline < request.now:
        # Not into the past: one second, unless none was asked for.
        deadline = request.now
        seconds = 1 if seconds else 0
    changed = {**meta, "deletionTimestamp": times.format(deadline), "deletionGracePeriodSeconds": seconds}
    return _finish({**stored, "metadata": with_finalizers(changed, options)}, seconds)


def _free(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """A delete of a pod that only finalizers hold. If none is left it is removed as it is stored, without a write before.

    Upstream: Store.updateForGracefulDeletionAndFinalizers, markAsDeleting
    """
    meta = with_finalizers(stored["metadata"], options)
    if not meta.get("finalizers"):
        return _unheld(stored, options)
    deadline = min(times.to_datetime(meta["deletionTimestamp"]), request.now)
    meta = {**meta, "deletionTimestamp": times.format(deadline), "deletionGracePeriodSeconds": 0}
    return Deleted(changed := {**stored, "metadata": meta}, (Store(changed),))


def _unheld(stored: Pod, options: Mapping[str, Any]) -> Deleted:
    """An object that no finalizer holds any more. A dry run stops where it would be read again, and has none to show."""
    body = None if options.get("dryRun") and stored["metadata"].get("finalizers") else stored
    return Deleted(body, (Remove(),))


# ---- kinds without a grace period ------------------------------------------------------------------


def background(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """An object whose dependents are collected after it, unless the options say otherwise: only finalizers delay its removal.

    Upstream: Store.Delete, markAsDeleting
    """
    return _immediate(stored, options, request, None)


def orphaning(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """The same for kinds whose dependents stay, unless the options say otherwise.

    Upstream: rest.DefaultGarbageCollectionPolicy
    """
    return _immediate(stored, options, request, ORPHAN)


def _immediate(stored: Pod, options: Mapping[str, Any], request: Request, default: str | None) -> Deleted:
    meta = with_finalizers(stored["metadata"], options, default)
    if not meta.get("finalizers"):
        return _unheld(stored, options)
    marked = {**meta, "deletionGracePeriodSeconds": 0}
    marked.setdefault("deletionTimestamp", times.format(request.now))
    if "deletionGracePeriodSeconds" not in meta and meta.get("generation", 0) > 0:
        marked["generation"] += 1
    obj = {**stored, "metadata": marked}
    return Deleted(obj, () if obj == stored else (Store(obj),))


# ---- finalizers ------------------------------------------------------------------------------------


def _finish(pod: Pod, grace: int) -> Deleted:
    """A pod that goes at once is marked first, and then removed: watches see both."""
    if grace == 0 and not pod["metadata"].get("finalizers"):
        return Deleted(pod, (Store(pod), Remove()))
    return Deleted(pod, (Store(pod),))


def with_finalizers(meta: Pod, options: Mapping[str, Any], default: str | None = None) -> Pod:
    """What happens to dependents is left to the garbage collector by a finalizer.

    Upstream: deletionFinalizersForGarbageCollection
    """
    stored: list[str] = meta.get("finalizers") or []
    finalizer = _collector(options, stored, default)
    finalizers = [each for each in stored if each not in (FOREGROUND, ORPHAN)]
    if finalizer is not None:
        if finalizer in stored:
            finalizers = [each for each in stored if each == finalizer or each not in (FOREGROUND, ORPHAN)]
        else:
            finalizers.append(finalizer)
    if finalizers == stored:
        return meta
    changed = {**meta, "finalizers": finalizers}
    if not finalizers:
        del changed["finalizers"]
    return changed


def _collector(options: Mapping[str, Any], stored: list[str], default: str | None) -> str | None:
    """The finalizer that the options, or else the object, or else its kind ask for."""
    orphan, policy = options.get("orphanDependents"), options.get("propagationPolicy")
    if orphan is not None:
        return ORPHAN if orphan else None
    if policy is not None:
        return {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(policy)
    if ORPHAN in stored:
        return ORPHAN
    return FOREGROUND if FOREGROUND in stored else default
