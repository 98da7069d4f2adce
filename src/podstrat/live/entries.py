"""Objects of a cluster as entries of the board: plain values, the few that a page shows, each of bounded length. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from podstrat.up import view

Object = dict[str, Any]

HEALTHY, UNHEALTHY, UNKNOWN, FREE = "Healthy", "Unhealthy", "Unknown", ""
_WORST = {UNHEALTHY: 0, UNKNOWN: 1, HEALTHY: 2, FREE: 3}
CLAIM = "claim:"
LONGEST = 1024
"""Characters of a text."""
MOST_DEVICES = 512
"""Devices of a node that are shown."""


class Device(NamedTuple):
    """A device of a node, and what is said of it."""

    group: str
    """Driver and pool, or the resource of a device plugin."""
    name: str
    health: str = FREE
    """Healthy, Unhealthy, Unknown; empty for one that no pod holds, since none reports it."""
    message: str = ""
    pods: tuple[str, ...] = ()


class Pod(NamedTuple):
    """What is kept of a pod."""

    key: str
    """namespace/name"""
    node: str
    over: bool
    """Whether it has ended: what it says of devices is what was."""
    devices: tuple[Device, ...]
    shown: Object


def pod(obj: Object) -> Pod:
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    key = f"{meta.get('namespace', '')}/{meta['name']}"
    devices = tuple(_devices(status, key))
    ready = any((each.get("type"), each.get("status")) == ("Ready", "True") for each in status.get("conditions") or ())
    node = spec.get("nodeName") or ""
    entry = {
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "uid": meta.get("uid", ""),
        "node": node,
        "phase": view.phase(obj),
        "ready": ready,
        "generation": meta.get("generation"),
        "observed": status.get("observedGeneration"),
        "going": bool(meta.get("deletionTimestamp")),
        "devices": [[each.name, each.health, each.message] for each in devices],
    }
    return Pod(key, node, status.get("phase") in ("Succeeded", "Failed"), devices, entry)


def _devices(status: Object, pod: str) -> Iterator[Device]:
    """Upstream: ContainerStatus.allocatedResourcesStatus"""
    devices: set[Device] = set()
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for entry in container.get("allocatedResourcesStatus") or ():
            for each in entry.get("resources") or ():
                device = _device(entry.get("name") or "", each, pod)
                if device not in devices and len(devices) < MOST_DEVICES:
                    devices.add(device)
                    yield device


def _device(entry: str, health: Object, pod: str) -> Device:
    """A claim's device is named driver/pool/device, or by a CDI id, vendor/class=name; a plugin's as the plugin names it."""
    resource = health.get("resourceID") or ""
    group, name = entry, resource
    if entry.startswith(CLAIM):
        end = "=" if "=" in resource else "/"
        group, _, name = resource.rpartition(end)
    return Device(group, name, health.get("health") or HEALTHY, _short(health.get("message")), (pod,))


# ---- nodes -----------------------------------------------------------------------------------------


def slice_devices(obj: Object) -> tuple[str, tuple[Device, ...]]:
    """The node of a ResourceSlice, and the devices that its driver offers there."""
    spec = obj.get("spec") or {}
    group = f"{spec.get('driver', '')}/{(spec.get('pool') or {}).get('name', '')}"
    devices = tuple(Device(group, each.get("name") or "") for each in (spec.get("devices") or ())[:MOST_DEVICES])
    return spec.get("nodeName") or "", devices


def node(name: str, obj: Object | None, offered: Iterable[Device], pods: Iterable[Pod]) -> Object:
    """A node with its devices by group, each with the worst that a pod on it says."""
    devices: dict[tuple[str, str], Device] = {(each.group, each.name): each for each in offered}
    living = [each for each in pods if not each.over]
    for device in (device for pod in living for device in pod.devices):
        before = devices.get((device.group, device.name))
        devices[device.group, device.name] = device if before is None else _both(before, device)
    groups: dict[str, list[Object]] = {}
    for device in sorted(devices.values(), key=_by_name)[:MOST_DEVICES]:
        groups.setdefault(device.group, []).append(device._asdict() | {"pods": list(device.pods)})
    conditions = ((obj or {}).get("status") or {}).get("conditions") or ()
    ready = next((each.get("status") for each in conditions if each.get("type") == "Ready"), "")
    return {"name": name, "ready": ready, "known": obj is not None, "groups": groups, "pods": len(living)}


def _both(one: Device, other: Device) -> Device:
    worst = min(one, other, key=lambda each: _WORST.get(each.health, 1))
    return worst._replace(pods=tuple(dict.fromkeys((*one.pods, *other.pods))))


def _by_name(device: Device) -> tuple[str, int, str]:
    """gpu-2 before gpu-10."""
    return device.group, len(device.name), device.name


# ---- the timeline ----------------------------------------------------------------------------------


def event(obj: Object) -> Object:
    """An Event of v1."""
    about = obj.get("involvedObject") or {}
    meta = obj["metadata"]
    series = obj.get("series") or {}
    time = series.get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("eventTime") or meta.get("creationTimestamp")
    return {
        "time": time,
        "type": obj.get("type") or "",
        "reason": obj.get("reason") or "",
        "about": "/".join(filter(None, (about.get("kind"), about.get("namespace"), about.get("name")))),
        "message": _short(obj.get("message")),
        "count": series.get("count") or obj.get("count") or 1,
    }


def decision(record: Mapping[str, Any]) -> Object:
    """A decision as the embedded server tells it (apiserver/admission/decisions)."""
    names = ("time", "webhook", "mutating", "operation", "resource", "namespace", "name", "user", "decision", "message")
    entry = {name: record.get(name) for name in (*names, "milliseconds", "dry_run")}
    return entry | {"message": _short(entry["message"])}


def _short(text: Any) -> str:
    text = text if isinstance(text, str) else ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
