"""Deleting a pod: at once, or gracefully with a deadline; finalizers hold it back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from strategy import times
from strategy.context import Pod
from strategy.request import Effect, Remove, Request, Store

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


class Deleted(NamedTuple):
    pod: Pod
    """The pod as the answer shows it."""
    effects: tuple[Effect, ...]


def pod(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """The first delete sets a deadline, a later one may bring it forward; without finalizers a deadline of none removes.

    Upstream: rest.BeforeDelete, podStrategy.CheckGracefulDelete, Store.Delete
    """
    wanted = options.get("gracePeriodSeconds")
    if wanted is not None and wanted < 0:
        wanted = 1
    if "deletionTimestamp" in stored["metadata"]:
        return _again(stored, wanted, options, request)
    grace = _first_grace(stored, wanted)
    meta = dict(stored["metadata"])
    meta["deletionTimestamp"] = times.format(request.now + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    # An object of a server that knew no generation keeps none.
    if meta.get("generation", 0) > 0:
        meta["generation"] += 1
    return _finish({**stored, "metadata": _with_finalizers(meta, options)}, grace)


def _first_grace(stored: Pod, wanted: int | None) -> int:
    spec = stored["spec"]
    if not spec.get("nodeName") or (stored.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    grace: int = spec.get("terminationGracePeriodSeconds", 0) if wanted is None else wanted
    return 1 if grace < 0 else grace


def _again(stored: Pod, wanted: int | None, options: Mapping[str, Any], request: Request) -> Deleted:
    meta = stored["metadata"]
    grace: int = meta.get("deletionGracePeriodSeconds", 0)
    if not grace:
        # Not graceful any more: what holds it are finalizers.
        changed = _with_finalizers({**meta, "deletionGracePeriodSeconds": 0}, options)
        return _finish({**stored, "metadata": changed}, 0)
    if wanted is None or wanted >= grace:
        return Deleted(stored, ())
    deadline = times.to_datetime(meta["deletionTimestamp"]) - timedelta(seconds=grace - wanted)
    if deadline < request.now:
        # Not into the past: one second, unless none was asked for.
        deadline = request.now
        wanted = 1 if wanted else 0
    changed = {**meta, "deletionTimestamp": times.format(deadline), "deletionGracePeriodSeconds": wanted}
    return _finish({**stored, "metadata": _with_finalizers(changed, options)}, wanted)


def _finish(pod: Pod, grace: int) -> Deleted:
    if grace == 0 and not pod["metadata"].get("finalizers"):
        return Deleted(pod, (Remove(),))
    return Deleted(pod, (Store(pod),))


def _with_finalizers(meta: Pod, options: Mapping[str, Any]) -> Pod:
    """What happens to dependents is left to the garbage collector by a finalizer.

    Upstream: deletionFinalizersForGarbageCollection
    """
    stored: list[str] = meta.get("finalizers") or []
    wanted = _collector(options, stored)
    kept = [each for each in stored if each not in (FOREGROUND, ORPHAN)]
    if wanted is not None:
        if wanted in stored:
            kept = [each for each in stored if each == wanted or each not in (FOREGROUND, ORPHAN)]
        else:
            kept.append(wanted)
    if kept == stored:
        return meta
    changed = {**meta, "finalizers": kept}
    if not kept:
        del changed["finalizers"]
    return changed


def _collector(options: Mapping[str, Any], stored: list[str]) -> str | None:
    """The finalizer that the options, or else the object, ask for."""
    orphan, policy = options.get("orphanDependents"), options.get("propagationPolicy")
    if orphan is not None:
        return ORPHAN if orphan else None
    if policy is not None:
        return {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(policy)
    if ORPHAN in stored:
        return ORPHAN
    return FOREGROUND if FOREGROUND in stored else None
