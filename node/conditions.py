"""A condition of our own that sums up a pod's devices.

True means that all devices are healthy: so it can be a readiness gate. False means that one is not: a Job's podFailurePolicy can
look for that. It is the one thing that may be written beside a kubelet, which leaves conditions it does not know alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from node import readings, status
from node.claims import Share
from node.holdings import Holding, Object
from node.reports import UNHEALTHY, UNKNOWN, Device, Verdict
from node.status import Operation

TYPE = "podstrat.dev/DevicesHealthy"
NAMED = 8
"""Devices that the message names."""


def patch(pod: Object, held: Iterable[Holding], verdicts: Mapping[Device, Verdict], now: str) -> list[Operation]:
    """What is to be written so that the pod has the condition it should have; empty: nothing. `now` is an RFC 3339 time."""
    found = changes(pod, held, verdicts, now)
    return [status.guard(pod), *found] if found else []


def changes(pod: Object, held: Iterable[Holding], verdicts: Mapping[Device, Verdict], now: str) -> list[Operation]:
    """The same without the guard."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    i, old = next(((i, each) for i, each in enumerate(conditions) if each["type"] == TYPE), (None, None))
    new = wanted(pod, held, verdicts)
    if new is None or (old is not None and all(old.get(key) == value for key, value in new.items())):
        return []
    moved = now if old is None or old.get("status") != new["status"] else old["lastTransitionTime"]
    new["lastTransitionTime"] = moved
    return list(_placed(new, i, bool(conditions)))


def with_the_kubelets_word(share: Share) -> Share:
    """Beside a kubelet: what we know nothing of is as the kubelet says in the pod's status, if it says something."""
    said = status.said(share.pod, share.holdings)
    heard = {
        device: said.get(device, verdict) if verdict.health == UNKNOWN else verdict for device, verdict in share.verdicts.items()
    }
    return share._replace(verdicts=heard)


def wanted(pod: Object, held: Iterable[Holding], verdicts: Mapping[Device, Verdict]) -> dict[str, Any] | None:
    """The condition without its time; None: the pod has no devices, and nobody waits for the condition."""
    devices = sorted({each.device for holding in held for each in holding.devices})
    if not devices and not _is_gate(pod):
        return None
    bad = [device for device in devices if verdicts[device].health == UNHEALTHY]
    unknown = [device for device in devices if verdicts[device].health == UNKNOWN]
    if bad:
        state, reason, message = "False", "DeviceUnhealthy", _listed(bad, verdicts)
    elif unknown:
        state, reason, message = "Unknown", "DeviceHealthUnknown", _listed(unknown, verdicts)
    else:
        state, reason, message = "True", "DevicesHealthy" if devices else "NoDevices", ""
    condition: dict[str, Any] = {"type": TYPE, "status": state, "reason": reason}
    if message:
        condition["message"] = message
    if generation := pod["metadata"].get("generation"):
        condition["observedGeneration"] = generation
    return condition


def _placed(condition: dict[str, Any], i: int | None, some: bool) -> Iterator[Operation]:
    if i is not None:
        yield {"op": "test", "path": f"/status/conditions/{i}/type", "value": TYPE}
        yield {"op": "replace", "path": f"/status/conditions/{i}", "value": condition}
    elif some:
        yield {"op": "add", "path": "/status/conditions/-", "value": condition}
    else:
        yield {"op": "add", "path": "/status/conditions", "value": [condition]}


def _is_gate(pod: Object) -> bool:
    return any(gate["conditionType"] == TYPE for gate in pod["spec"].get("readinessGates") or ())


def _listed(devices: list[Device], verdicts: Mapping[Device, Verdict]) -> str:
    named = [f"{device.id}: {text}" if (text := verdicts[device].message) else device.id for device in devices[:NAMED]]
    if len(devices) > NAMED:
        named.append(f"and {len(devices) - NAMED} more")
    return readings.cut("; ".join(named))
