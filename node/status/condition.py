"""The pod condition podstrat.dev/DevicesHealthy: a roll-up of the health of all devices of a pod.

    True      every device is healthy: usable as a readiness gate
    False     a device is unhealthy: usable in a Job's podFailurePolicy
    Unknown   no device is unhealthy, and the health of one is not known

It is the only thing written beside a kubelet, which leaves conditions of foreign types alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from podstrat.node.model import UNHEALTHY, UNKNOWN, Device, DeviceHealth, Object, Operation
from podstrat.node.state import sanitize
from podstrat.node.state.devices import Holding
from podstrat.node.status.patch import guard

TYPE = "podstrat.dev/DevicesHealthy"
NAMED = 8
"""Devices that the message names; 8 resource IDs of usual length fit into the 1024 bytes of a message."""


def guarded(pod: Object, holdings: Iterable[Holding], verdicts: Mapping[Device, DeviceHealth], now: str) -> list[Operation]:
    """The patch that sets the condition, with its guard; empty: up to date. `now` is an RFC 3339 time."""
    operations = changes(pod, holdings, verdicts, now)
    return [guard(pod), *operations] if operations else []


def changes(
    pod: Object,
    holdings: Iterable[Holding],
    verdicts: Mapping[Device, DeviceHealth],
    now: str,
    pending: Collection[Device] = (),
) -> list[Operation]:
    """The same without the guard.

    `pending`: devices whose health is not known yet after a restart. Where nothing else is wrong, the stored condition stays: a
    restart of the writer must not take a pod with a readiness gate out of service.
    """
    old = _stored(pod, TYPE)[1]
    holdings = list(holdings)
    new = desired(pod, holdings, verdicts)
    if new is not None and new["status"] == "Unknown" and old is not None:
        if all(each.device in pending for row in holdings for each in row.devices if verdicts[each.device].health == UNKNOWN):
            return []
    return placed(pod, new, now, bool((pod.get("status") or {}).get("conditions"))) if new is not None else []


def placed(pod: Object, new: dict[str, Any], now: str, has_list: bool) -> list[Operation]:
    """The operations that set a condition; empty: it is so already. `has_list`: whether there is a list to add to by then."""
    i, old = _stored(pod, new["type"])
    if old is not None and all(old.get(key) == value for key, value in new.items()):
        return []
    moved = now if old is None or old.get("status") != new["status"] else old["lastTransitionTime"]
    return list(_placed({**new, "lastTransitionTime": moved}, i, has_list))


def _stored(pod: Object, kind: str) -> tuple[int | None, Any]:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next(((i, each) for i, each in enumerate(conditions) if each["type"] == kind), (None, None))


def desired(pod: Object, holdings: Iterable[Holding], verdicts: Mapping[Device, DeviceHealth]) -> dict[str, Any] | None:
    """The condition without its time; None: the pod has no devices, and the condition is not a readiness gate."""
    devices = sorted({each.device for holding in holdings for each in holding.devices})
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
        yield {"op": "test", "path": f"/status/conditions/{i}/type", "value": condition["type"]}
        yield {"op": "replace", "path": f"/status/conditions/{i}", "value": condition}
    elif some:
        yield {"op": "add", "path": "/status/conditions/-", "value": condition}
    else:
        yield {"op": "add", "path": "/status/conditions", "value": [condition]}


def _is_gate(pod: Object) -> bool:
    return any(gate["conditionType"] == TYPE for gate in pod["spec"].get("readinessGates") or ())


def _listed(devices: list[Device], verdicts: Mapping[Device, DeviceHealth]) -> str:
    texts = [f"{device.id}: {text}" if (text := verdicts[device].message) else device.id for device in devices[:NAMED]]
    if len(devices) > NAMED:
        texts.append(f"and {len(devices) - NAMED} more")
    return sanitize.cut("; ".join(texts))
