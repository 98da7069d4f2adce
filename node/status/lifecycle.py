"""Simulated pod lifecycle for nodes without a kubelet: the next status, by annotations. Pure; time is an argument.

    podstrat.dev/simulate: Running | Pending | Succeeded | Failed | CrashLoopBackOff     what becomes of it (Running)
    podstrat.dev/simulate-seconds: "5"                                                 how long a container runs (2)
    podstrat.dev/simulate-backoff: "10"                                                how long a crash loop waits (10)

All state is in the status itself, so a restart changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zlib import crc32

from podstrat.node.model import TERMINAL, Object, Operation
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.status.admission import Rejection
from podstrat.strategy.resources import is_sidecar

WHAT = "podstrat.dev/simulate"
SECONDS = "podstrat.dev/simulate-seconds"
BACKOFF = "podstrat.dev/simulate-backoff"
NODE_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
PENDING, IN_PROGRESS = RESIZE_CONDITIONS = ("PodResizePending", "PodResizeInProgress")
RESIZE_SECONDS = 0.5
"""How long a simulated resize takes: long enough to be seen by a watch."""
CHOICES = ("Running", "Pending", "Succeeded", "Failed", "CrashLoopBackOff")


class Step(NamedTuple):
    """What is to be written now, and when to look again."""

    status: dict[str, Any]
    """Fields of the pod's status with their new values; empty: it is as it should be."""
    next: float = NEVER
    """Seconds of the wall clock."""
    stopped: bool = False
    """No container runs, and none will again: what the pod holds can be given back."""


def step(pod: Object, now: float, *, ready: bool, released: bool, rejected: Rejection | None = None) -> Step:
    """`ready`: all that the pod holds is prepared. `released`: it is given back, so that the pod's end may be told.

    `rejected`: why the node cannot run the pod. It counts as long as the pod has not started.
    """
    status: Object = pod.get("status") or {}
    if status.get("phase") in TERMINAL:
        return Step({}, stopped=True)
    what, seconds, backoff = _wishes(pod)
    if pod["metadata"].get("deletionTimestamp"):
        return _ending(pod, now, "Failed", 143, released)  # ended by SIGTERM
    started = _started(status)
    if started is None and rejected is not None:
        return Step(_rejected(pod, rejected, now), stopped=True)
    if started is None and (not ready or what == "Pending"):
        reason = "ContainerCreating" if what != "Pending" else "ImagePullBackOff"
        return Step(_changed(status, _waiting(pod, reason)))
    if started is None:
        until = NEVER if what in ("Running", "Pending") else now + seconds
        return Step(_changed(status, _running(pod, now, 0)), until)
    if what in ("Succeeded", "Failed"):
        if now < started + seconds and not _terminated(status):
            return Step({}, started + seconds)
        return _ending(pod, now, what, 0 if what == "Succeeded" else 1, released)
    if what == "CrashLoopBackOff":
        return _looping(pod, now, started, seconds, backoff)
    resized = _resized(pod, now)
    if resized is not None:
        return resized
    return Step(_changed(status, {"conditions": _conditions(pod, now, True)}))  # a readiness gate may have moved


def operations(life: Mapping[str, Any]) -> list[Operation]:
    """The same as parts of a JSON patch."""
    return [{"op": "add", "path": f"/status/{key}", "value": value} for key, value in life.items()]


def after(pod: Object, life: Mapping[str, Any]) -> Object:
    """The pod as it will be when that is written."""
    return {**pod, "status": {**(pod.get("status") or {}), **life}}


# The stations


def _looping(pod: Object, now: float, started: float, seconds: float, backoff: float) -> Step:
    """Runs, crashes, waits, runs again."""
    status = pod["status"]
    first = (status.get("containerStatuses") or [{}])[0]
    restarts = int(first.get("restartCount") or 0)
    if "running" in (first.get("state") or {}):
        if now < started + seconds:
            return Step({}, started + seconds)
        return Step(_changed(status, _crashed(pod, now, restarts)), now + backoff)
    ended = _seconds(((first.get("lastState") or {}).get("terminated") or {}).get("finishedAt")) or now
    if now < ended + backoff:
        return Step({}, ended + backoff)
    return Step(_changed(status, _running(pod, now, restarts + 1)), now + seconds)


def _ending(pod: Object, now: float, phase: str, code: int, released: bool) -> Step:
    """First the containers end, then what they held is given back, then the pod has ended."""
    status = pod.get("status") or {}
    desired: dict[str, Any] = {}
    if _started(status) and not _terminated(status):
        desired["containerStatuses"] = [_status(pod, each, _dead(pod, each, now, code), False) for each in _containers(pod)]
        desired |= _inits(pod, now)
    if released:
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        desired |= {"phase": phase, "conditions": _conditions(pod, now, False, reason)}
    return Step(_changed(status, desired), stopped=True)


def _waiting(pod: Object, reason: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason}}
    desired: dict[str, Any] = {"phase": "Pending"}
    desired["containerStatuses"] = [_status(pod, each, state, False) for each in _containers(pod)]
    if inits := pod["spec"].get("initContainers"):
        desired["initContainerStatuses"] = [
            _status(pod, each, {"waiting": {"reason": "PodInitializing"}}, False, "initContainerStatuses") for each in inits
        ]
    return desired


def _running(pod: Object, now: float, restarts: int) -> dict[str, Any]:
    host = host_address(pod["spec"].get("nodeName") or "")
    address = host if pod["spec"].get("hostNetwork") else _address(pod)
    state = {"running": {"startedAt": text(now)}}
    return {
        "phase": "Running",
        "startTime": (pod.get("status") or {}).get("startTime") or text(now),
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": _conditions(pod, now, True),
        "containerStatuses": [_status(pod, each, state, True, restarts=restarts) for each in _containers(pod)],
        **_inits(pod, now),
    }


def _crashed(pod: Object, now: float, restarts: int) -> dict[str, Any]:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}}
    return {
        "conditions": _conditions(pod, now, False, "ContainersNotReady"),
        "containerStatuses": [
            _status(pod, each, state, False, restarts=restarts, last=_dead(pod, each, now, 1)) for each in _containers(pod)
        ],
    }


def _rejected(pod: Object, why: Rejection, now: float) -> dict[str, Any]:
    """As a kubelet rejects a pod: no container statuses, the node's own conditions drop out, those of others stay."""
    conditions = [each for each in (pod.get("status") or {}).get("conditions") or () if each["type"] not in NODE_CONDITIONS]
    return {"phase": "Failed", "reason": why.reason, "message": why.text, "startTime": text(now), "conditions": conditions}


def _resized(pod: Object, now: float) -> Step | None:
    """In-place resize: first the resources are allocated and the resize is in progress, a moment later it is done."""
    status = pod["status"]
    resources = {each["name"]: _resources(each) for each in _containers(pod)}
    rows = status.get("containerStatuses") or ()
    if all((row.get("resources") or {}) == resources.get(row["name"], {}) for row in rows):
        return None
    others = [each for each in _conditions(pod, now, True) if each["type"] not in RESIZE_CONDITIONS]
    before = next((each for each in status.get("conditions") or () if each["type"] == IN_PROGRESS), None)
    if before is None:
        condition: dict[str, Any] = {"type": IN_PROGRESS, "status": "True", "lastTransitionTime": text(now)}
        if generation := pod["metadata"].get("generation"):
            condition["observedGeneration"] = generation
        allocated = [{**row, **_allocated(resources.get(row["name"], {}))} for row in rows]
        return Step(_changed(status, {"conditions": [*others, condition], "containerStatuses": allocated}), now + RESIZE_SECONDS)
    statuses = [
        {**row, **_allocated(resources.get(row["name"], {})), "resources": resources.get(row["name"], {})} for row in rows
    ]
    return Step(_changed(status, {"conditions": others, "containerStatuses": statuses}))


def _resources(container: Object) -> dict[str, Any]:
    """Requests and limits of a container, as its status shows them."""
    resources = container.get("resources") or {}
    return {key: dict(resources[key]) for key in ("limits", "requests") if resources.get(key)}


def _allocated(resources: Mapping[str, Any]) -> dict[str, Any]:
    return {"allocatedResources": resources["requests"]} if "requests" in resources else {}


# The parts


def _status(
    pod: Object,
    container: Object,
    state: Object,
    ready: bool,
    key: str = "containerStatuses",
    *,
    restarts: int | None = None,
    last: Object | None = None,
) -> dict[str, Any]:
    """A container's status; what it says about devices is not ours, and stays."""
    name, image = container["name"], container.get("image") or ""
    before = _before(pod, name, key)
    count = int(before.get("restartCount") or 0) if restarts is None else restarts
    status = {
        "name": name,
        "image": image,
        "imageID": f"simulated://{image}",
        "ready": ready,
        "started": ready,
        "restartCount": count,
        "state": dict(state),
        "lastState": dict(last if last is not None else before.get("lastState") or {}),
    }
    if resources := _resources(container):
        # A resize is shown when it has happened; until then what was actuated before stays.
        status |= {"resources": before.get("resources") or resources, **_allocated(before.get("resources") or resources)}
    if "waiting" not in state or count:
        status["containerID"] = f"simulated://{pod['metadata']['uid']}/{name}/{count}"
    if "allocatedResourcesStatus" in before:
        status["allocatedResourcesStatus"] = before["allocatedResourcesStatus"]
    return status


def _inits(pod: Object, now: float) -> dict[str, Any]:
    """Init containers have done their work by the time the others start; sidecars run beside them."""
    inits = pod["spec"].get("initContainers")
    if not inits:
        return {}
    running = {"running": {"startedAt": text(now)}}
    key = "initContainerStatuses"
    return {
        key: [
            _status(pod, each, running, True, key)
            if is_sidecar(dict(each))
            else _status(pod, each, _dead(pod, each, now, 0), True, key)
            for each in inits
        ]
    }


def _dead(pod: Object, container: Object, now: float, code: int) -> dict[str, Any]:
    running = (_before(pod, container["name"], "containerStatuses").get("state") or {}).get("running") or {}
    began = running.get("startedAt") or text(now)
    reason = "Completed" if code == 0 else "Error"
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": began, "finishedAt": text(now)}}


def _conditions(pod: Object, now: float, ready: bool, reason: str = "") -> list[dict[str, Any]]:
    """The node's own conditions; those of others stay as and where they are."""
    conditions = [dict(each) for each in (pod.get("status") or {}).get("conditions") or ()]
    places = {each["type"]: i for i, each in enumerate(conditions)}
    for kind in NODE_CONDITIONS:
        state = "True" if ready or kind in ("Initialized", "PodScheduled", "PodReadyToStartContainers") else "False"
        if kind == "Ready" and not all(
            _is_true(conditions, gate["conditionType"]) for gate in pod["spec"].get("readinessGates") or ()
        ):
            state = "False"
        condition: dict[str, Any] = {"type": kind, "status": state}
        if state == "False":
            condition["reason"] = reason or "ReadinessGatesNotReady"
        if generation := pod["metadata"].get("generation"):
            condition["observedGeneration"] = generation
        old = conditions[places[kind]] if kind in places else {}
        same = old.get("status") == state and old.get("lastTransitionTime")
        condition["lastTransitionTime"] = old["lastTransitionTime"] if same else text(now)
        if kind in places:
            conditions[places[kind]] = condition
        else:
            conditions.append(condition)
    return conditions


def _is_true(conditions: list[dict[str, Any]], kind: str) -> bool:
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _changed(status: Object, desired: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in desired.items() if not _equal(status.get(key), value)}


def _equal(old: Any, new: Any) -> bool:
    """Whether a server that leaves out what is empty would say the same."""
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_equal, old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        return all(_equal(old.get(key), new.get(key)) for key in {*old, *new} - {"observedGeneration", "lastProbeTime"})
    return (old or None) == (new or None)


def _started(status: Object) -> float | None:
    """When the first container was last started; None: it never was."""
    for each in status.get("containerStatuses") or ():
        for state in (each.get("state") or {}, each.get("lastState") or {}):
            for kind in ("running", "terminated"):
                if began := _seconds((state.get(kind) or {}).get("startedAt")):
                    return began
    return None


def _terminated(status: Object) -> bool:
    statuses = status.get("containerStatuses") or ()
    return bool(statuses) and all("terminated" in (each.get("state") or {}) for each in statuses)


def _containers(pod: Object) -> Iterator[Object]:
    yield from pod["spec"]["containers"]


def _before(pod: Object, name: str, key: str) -> Object:
    for each in (pod.get("status") or {}).get(key) or ():
        if each["name"] == name:
            return dict(each)
    return {}


def _wishes(pod: Object) -> tuple[str, float, float]:
    annotations = pod["metadata"].get("annotations") or {}
    what = annotations.get(WHAT, "Running")
    return what if what in CHOICES else "Running", _number(annotations.get(SECONDS), 2.0), _number(annotations.get(BACKOFF), 10.0)


def _number(value: str | None, default: float) -> float:
    try:
        return max(0.0, float(value)) if value is not None else default
    except ValueError:
        return default


def _address(pod: Object) -> str:
    """An address of its own, always the same."""
    number = crc32(str(pod["metadata"]["uid"]).encode())
    return (pod.get("status") or {}).get("podIP") or f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255 or 1}"


def host_address(node: str) -> str:
    """The address of a simulated node, always the same: one of 198.18.0.0/15, which is reserved for tests."""
    number = crc32(node.encode())
    return f"198.{18 + (number >> 16 & 1)}.{number >> 8 & 255}.{number & 255 or 1}"


def text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(value: str | None) -> float | None:
    if not value:
        return None
    return datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
