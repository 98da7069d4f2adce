"""Health that a pod's status already shows for the devices it holds. Pure: pod and holdings in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.node.model import Device, DeviceHealth, Object
from podstrat.node.state.devices import Holding

FIELD = "allocatedResourcesStatus"
LISTS = (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"))
"""Lists of the status that have the field, and the lists of the spec that they belong to."""


def rows(pod: Object) -> frozenset[tuple[str, str, str, str]]:
    """Container, entry, resource ID and health of everything shown. A set: the kubelet changes the order between writes."""
    status = pod.get("status") or {}
    return frozenset(
        (each["name"], entry["name"], device["resourceID"], device.get("health") or "")
        for key, _ in LISTS
        for each in status.get(key) or ()
        for entry in each.get(FIELD) or ()
        for device in entry.get("resources") or ()
    )


def verdicts(pod: Object, holdings: Iterable[Holding]) -> dict[Device, DeviceHealth]:
    """By device: found under driver/pool/device, or under its first CDI ID."""
    status = pod.get("status") or {}
    entries = {
        (each["name"], entry["name"], device["resourceID"]): DeviceHealth(device["health"], device.get("message"))
        for key, _ in LISTS
        for each in status.get(key) or ()
        for entry in each.get(FIELD) or ()
        for device in entry.get("resources") or ()
    }
    verdicts = {}
    for holding in holdings:
        for each in holding.devices:
            for name in (each.device.id, "" if each.hidden else each.cdi):
                if verdict := entries.get((holding.container, holding.name, name)):
                    verdicts[each.device] = verdict
    return verdicts
