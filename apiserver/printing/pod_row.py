"""The table row of a pod: what ``kubectl get pods -o wide`` shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from podstrat.apiserver.printing import ages

Object = dict[str, Any]

NONE: Final = "<none>"
# How a pod ended, for clients that leave out the rows of such pods.
_ENDED: Final = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}
_FAILED_CONTAINER_SHOWS: Final = (1, 35)
"""Since then a container that failed is not hidden behind one that completed."""


class _Start(NamedTuple):
    """How far the init containers have come."""

    reached: Sequence[Object]
    """The statuses up to the one that holds the pod up, if any does."""
    ready: int
    """Sidecars that are ready."""
    held_up_by: str
    """What the container that holds the pod up shows."""


def cells(pod: Object, now: datetime, version: tuple[int, int]) -> list[Any]:
    """Name, ready containers, status, restarts, age, IP, node, nominated node, readiness gates.

    Upstream: printPod
    """
    metadata = pod.get("metadata") or {}
    spec = pod.get("spec") or {}
    status = pod.get("status") or {}
    sidecars = {each.get("name", "") for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"}
    start = _start(spec, status, sidecars)
    reason, ready, counted = start.held_up_by, start.ready, start.reached
    # A pod whose condition says that it is initialized is believed, whatever its init containers say.
    if not reason or _condition(status, "Initialized"):
        containers = status.get("containerStatuses") or ()
        reason = _running(reason or _phase(status), status, version)
        ready += sum(_runs(each) for each in containers)
        counted = [*(each for each in start.reached if each.get("name") in sidecars), *containers]
    return [
        metadata.get("name", ""),
        f"{ready}/{len(spec.get('containers') or ()) + len(sidecars)}",
        _leaving(metadata, status) or reason,
        _restarts(counted, now),
        ages.since(metadata.get("creationTimestamp"), now),
        _address(status) or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def conditions(pod: Object) -> list[Object]:
    """What the row says about itself: whether the pod has ended."""
    phase = (pod.get("status") or {}).get("phase", "")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


def _phase(status: Object) -> str:
    """What is shown as long as no container has anything to say: gates that hold the pod, a reason, the phase."""
    if any(each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated" for each in _conditions(status)):
        return "SchedulingGated"
    return status.get("reason") or status.get("phase") or ""


def _start(spec: Object, status: Object, sidecars: set[str]) -> _Start:
    """The first init container that has neither succeeded nor, as a sidecar, started holds up all that follow."""
    statuses = status.get("initContainerStatuses") or ()
    ready = 0
    for i, each in enumerate(statuses):
        terminated = _state(each).get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if each.get("name") in sidecars and each.get("started"):
            ready += bool(each.get("ready"))
            continue
        waiting = (_state(each).get("waiting") or {}).get("reason", "")
        if terminated is not None:
            held_up_by = f"Init:{_ending(terminated)}"
        elif waiting and waiting != "PodInitializing":
            held_up_by = f"Init:{waiting}"
        else:
            held_up_by = f"Init:{i}/{len(spec.get('initContainers') or ())}"
        return _Start(statuses[: i + 1], ready, held_up_by)
    return _Start(statuses, ready, "")


def _running(otherwise: str, status: Object, version: tuple[int, int]) -> str:
    """What the containers show: the first of them that waits or has ended, but a pod does not count as completed too soon."""
    reason, failed, runs = otherwise, "", False
    for each in reversed(status.get("containerStatuses") or ()):
        state = _state(each)
        if waiting := (state.get("waiting") or {}).get("reason"):
            reason = waiting
        elif (terminated := state.get("terminated")) is not None:
            reason = _ending(terminated)
            failed = reason if terminated.get("exitCode") else failed
        else:
            runs = runs or _runs(each)
    if reason != "Completed":
        return reason
    if runs and any(each.get("type") == "Ready" and each.get("status") == "True" for each in _conditions(status)):
        return "Running"
    if failed and version >= _FAILED_CONTAINER_SHOWS:
        return failed
    return "NotReady" if runs else reason


def _leaving(metadata: Object, status: Object) -> str:
    """What a pod shows that is being deleted: nothing of its own once it has ended."""
    if not metadata.get("deletionTimestamp"):
        return ""
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return "" if status.get("phase") in _ENDED else "Terminating"


def _ending(terminated: Object) -> str:
    """Why a container has ended: its reason, or else its signal or exit code."""
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _runs(container: Object) -> bool:
    """Whether a container counts as ready. One that waits or has ended does not, though its status may still say so."""
    state = _state(container)
    waits = (state.get("waiting") or {}).get("reason") or state.get("terminated") is not None
    return bool(container.get("ready")) and state.get("running") is not None and not waits


def _restarts(containers: Iterable[Object], now: datetime) -> str:
    """How often containers were started again, and how long ago the last of them had ended."""
    count, last = 0, ""
    for each in containers:
        count += each.get("restartCount", 0)
        ended = (each.get("lastState") or {}).get("terminated") or {}
        last = max(last, ended.get("finishedAt") or "")
    return f"{count} ({ages.since(last, now)} ago)" if count and last else str(count)


def _gates(spec: Object, status: Object) -> str:
    """How many of the readiness gates have a true condition."""
    gates = spec.get("readinessGates") or ()
    if not gates:
        return NONE
    return f"{sum(_condition(status, each.get('conditionType', '')) for each in gates)}/{len(gates)}"


def _address(status: Object) -> str:
    """The pod's first address. The older field for one address counts more than the list."""
    addresses: Sequence[Object] = status.get("podIPs") or ()
    return str(status.get("podIP") or (addresses[0].get("ip", "") if addresses else ""))


def _condition(status: Object, type_: str) -> bool:
    """Whether the first condition of a type is true."""
    return next((each.get("status") == "True" for each in _conditions(status) if each.get("type") == type_), False)


def _conditions(status: Object) -> Sequence[Object]:
    return status.get("conditions") or ()


def _state(container: Object) -> Object:
    return container.get("state") or {}
