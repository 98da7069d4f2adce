"""Planner: from a pod's UID to the status patch it needs. Combines device health, the simulated life, and permanent failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from podstrat.node.model import TERMINAL, Object, Operation, Plan, PodEvent
from podstrat.node.owner.prepare import REASON
from podstrat.node.runtime.clock import Clock
from podstrat.node.state import published
from podstrat.node.state.inventory import Inventory, Share
from podstrat.node.status import admission, condition, lifecycle, patch
from podstrat.node.status.admission import Rejection
from podstrat.node.status.patch import Without

FAILED = "podstrat.dev/PermanentDriverFailure"
"""The condition of a pod that failed because of a permanent driver error: for a Job's podFailurePolicy."""


ADMISSION_WAIT = 0.1
"""Seconds until a pod is looked at again that came before its simulated node was known."""


@dataclass(frozen=True)
class Settings:
    owner: bool = True
    """Whether pod status is ours; beside a kubelet only our own condition is."""
    condition: bool = True
    status: patch.Settings = field(default_factory=patch.Settings)
    health: bool = True
    """The kubelet's gate ResourceHealthStatus."""
    simulate: bool = False
    """Whether the pod's life is simulated."""


class Preparation(Protocol):
    """The state of a pod's devices, where the writer prepares them."""

    def ready(self, uid: str) -> bool: ...

    def released(self, uid: str) -> bool: ...

    def failure(self, uid: str) -> str | None: ...

    def stopped(self, uid: str) -> None: ...


class Node(Protocol):
    """A simulated node."""

    node: Object | None
    """The Node object; None: not known."""
    tried: bool
    """Whether it was tried to find out."""


class Planner:
    def __init__(
        self,
        settings: Settings,
        inventory: Inventory,
        preparation: Preparation,
        clock: Clock,
        wall: Callable[[], float],
        wake_at: Callable[[str, float], None],
        node: Node | None = None,
        record: Callable[[PodEvent], None] = lambda event: None,
    ) -> None:
        """`node`: the simulated node, which admits pods. `record`: takes the event about a pod that it rejects."""
        self.settings = settings
        self.inventory, self.preparation = inventory, preparation
        self.clock, self.wall = clock, wall
        self._wake_at, self._node, self._record = wake_at, node, record
        self._rejected: set[str] = set()
        """Pods whose rejection was recorded."""
        self.failures: dict[str, str] = {}
        """Beside a kubelet: permanent errors of drivers, by the UID of the pod."""

    def share(self, uid: str) -> Share | None:
        """The pod's devices and their health."""
        return self.inventory.share(uid, self.clock.now())

    def plan(self, uid: str, without: Without) -> Plan | None:
        """The patch that the pod needs; None: not known yet, do not write."""
        share = self.share(uid)
        if share is None:
            return None
        if share.pending and self.clock.now() < self.inventory.settings.settled:
            self._wake_at(uid, self.inventory.settings.settled)
        if self.settings.owner and not self.preparation.ready(uid) and not published.rows(share.pod):
            # As the kubelet: no entries before everything is prepared. What is shown already stays.
            without = Without(without.parts | {patch.HEALTH}, without.refused)
        now = self.wall()
        failure = self.failures.get(uid, "") if not self.settings.owner else ""
        return compose(share, self.settings, without, lifecycle.text(now), self._life(uid, share.pod, now), failure)

    def _life(self, uid: str, pod: Object, now: float) -> Mapping[str, Any]:
        """Status fields beyond device health that are ours to set."""
        if not self.settings.owner:
            return {}
        if failure := self.preparation.failure(uid):
            return failed(pod, failure, lifecycle.text(now))
        if not self.settings.simulate:
            return {}
        if self._node is not None and not self._node.tried:
            self._wake_at(uid, self.clock.now() + ADMISSION_WAIT)
            return {}
        ready, released = self.preparation.ready(uid), self.preparation.released(uid)
        rejected = self._rejection(uid, pod)
        if rejected is not None and uid not in self._rejected and pod["status"].get("phase") not in TERMINAL:
            self._rejected.add(uid)
            self._record(PodEvent(uid, "Warning", rejected.reason, rejected.message))
        step = lifecycle.step(pod, now, ready=ready, released=released, rejected=rejected)
        if step.stopped:
            self.preparation.stopped(uid)
        if step.next != float("inf"):
            self._wake_at(uid, self.clock.now() + max(0.05, step.next - now))
        return step.status

    def forget(self, uid: str) -> None:
        """The pod is deleted."""
        self.failures.pop(uid, None)
        self._rejected.discard(uid)

    def _rejection(self, uid: str, pod: Object) -> Rejection | None:
        """Why the simulated node cannot run the pod."""
        node = self._node.node if self._node is not None else None
        if node is None or _has_statuses(pod):
            return None
        others = [
            other
            for each in self.inventory.uids().values()
            if each != uid and (other := self.inventory.pod(each)) is not None and _has_statuses(other)
        ]
        return admission.rejection(pod, node, [each for each in others if each["status"].get("phase") not in TERMINAL])


def _has_statuses(pod: Object) -> bool:
    """Whether the node has admitted the pod."""
    return "containerStatuses" in (pod.get("status") or {})


def compose(
    share: Share,
    settings: Settings,
    without: Without,
    now: str,
    life: Mapping[str, Any] | None = None,
    failure: str = "",
) -> Plan:
    """The plan for one pod. Pure. `life`: status fields with their new values. `now` is an RFC 3339 time.

    `failure`: beside a kubelet, the permanent error of a driver: it is reported as a condition, the pod is the kubelet's to fail.
    """
    pod, operations = share.pod, list[Operation]()
    if life:
        operations += lifecycle.operations(life)
        pod = lifecycle.after(pod, life)
    if settings.owner:
        if not settings.health:
            without = Without(without.parts | {patch.HEALTH}, without.refused)
        operations += patch.changes(pod, share.holdings, share.verdicts, settings.status, without)
    if settings.condition and patch.CONDITIONS not in without.parts:
        operations += condition.changes(pod, share.holdings, share.verdicts, now, share.pending)
    if failure and patch.CONDITIONS not in without.parts:
        has_list = bool((pod.get("status") or {}).get("conditions")) or bool(operations)
        operations += condition.placed(pod, _failure(pod, failure), now, has_list)
    if not operations:
        return Plan(pod, [])
    if life:
        # Whole lists are replaced: a concurrent write to them must fail the patch.
        version = share.pod["metadata"].get("resourceVersion")
        operations.insert(0, {"op": "test", "path": "/metadata/resourceVersion", "value": version})
    return Plan(pod, [patch.guard(pod), *operations])


def failed(pod: Object, error: str, now: str) -> dict[str, Any]:
    """The status of a pod that can never start."""
    status: Object = pod.get("status") or {}
    if status.get("phase") in TERMINAL:
        return {}
    failure = _failure(pod, error) | {"status": "True", "lastTransitionTime": now}
    others = [each for each in status.get("conditions") or () if each["type"] != FAILED]
    message = f"Preparing dynamic resources failed permanently: {error}"
    return {"phase": "Failed", "reason": REASON, "message": message, "conditions": [*others, failure]} | _given_up(status)


def _failure(pod: Object, error: str) -> dict[str, Any]:
    """The condition, without its time. It holds as long as the pod has not started."""
    pending = (pod.get("status") or {}).get("phase") in (None, "", "Pending")
    failure: dict[str, Any] = {"type": FAILED, "status": "True" if pending else "False", "reason": REASON, "message": error}
    if generation := pod["metadata"].get("generation"):
        failure["observedGeneration"] = generation
    return failure


def _given_up(status: Object) -> dict[str, Any]:
    """Waiting containers with the reason of the failure: kubectl shows it before the pod's."""
    state = {"waiting": {"reason": REASON}}
    return {
        key: [{**each, "state": state} if "waiting" in (each.get("state") or ()) else each for each in status[key]]
        for key in ("containerStatuses", "initContainerStatuses")
        if status.get(key)
    }
