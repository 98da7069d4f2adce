"""What is to be written about a pod, all parts together: its life where that is ours, its devices' health, our own condition.

Pure: what is known goes in, the patch comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from node import conditions, lifecycle, status
from node.claims import ENDED, Share
from node.holdings import Object
from node.preparing import REASON
from node.status import Operation, Without
from node.writer import Plan

FAILED = "podstrat.dev/PermanentDriverFailure"
"""The condition of a pod that was failed because a driver said that there is no use in trying: for a Job's podFailurePolicy."""


@dataclass(frozen=True)
class Settings:
    owner: bool = True
    """The pod's status is ours. Otherwise only our own condition is."""
    condition: bool = True
    status: status.Settings = field(default_factory=status.Settings)
    health: bool = True
    """The kubelet's gate ResourceHealthStatus."""


def plan(share: Share, settings: Settings, without: Without, now: str, life: Mapping[str, Any] | None = None) -> Plan:
    """`life`: the fields of the status that the pod's life is in, with their new values. `now` is an RFC 3339 time."""
    pod, found = share.pod, list[Operation]()
    if life:
        found += lifecycle.operations(life)
        pod = lifecycle.after(pod, life)
    if settings.owner:
        if not settings.health:
            without = Without(without.parts | {status.HEALTH}, without.refused)
        found += status.changes(pod, share.holdings, share.verdicts, settings.status, without)
    if settings.condition and status.CONDITIONS not in without.parts:
        found += conditions.changes(pod, share.holdings, share.verdicts, now)
    if not found:
        return Plan(pod, [])
    if life:
        # Whole lists are replaced: nobody else may have written to them meanwhile.
        version = share.pod["metadata"].get("resourceVersion")
        found.insert(0, {"op": "test", "path": "/metadata/resourceVersion", "value": version})
    return Plan(pod, [status.guard(pod), *found])


def failed(pod: Object, why: str, now: str) -> dict[str, Any]:
    """The status of a pod that can never start."""
    if (pod.get("status") or {}).get("phase") in ENDED:
        return {}
    condition: dict[str, Any] = {"type": FAILED, "status": "True", "reason": REASON, "message": why, "lastTransitionTime": now}
    if generation := pod["metadata"].get("generation"):
        condition["observedGeneration"] = generation
    others = [each for each in (pod.get("status") or {}).get("conditions") or () if each["type"] != FAILED]
    message = f"Preparing dynamic resources failed permanently: {why}"
    told = {"phase": "Failed", "reason": REASON, "message": message, "conditions": [*others, condition]}
    return told | _given_up(pod.get("status") or {})


def _given_up(status: Object) -> dict[str, Any]:
    """Containers that still wait do so for nothing, and say why: kubectl shows their reason before the pod's."""
    state = {"waiting": {"reason": REASON}}
    return {
        key: [{**each, "state": state} if "waiting" in (each.get("state") or ()) else each for each in status[key]]
        for key in ("containerStatuses", "initContainerStatuses")
        if status.get(key)
    }
