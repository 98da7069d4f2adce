"""Desired status of a pod's devices and generation, and the JSON patch that gets there. Pure; the output order is stable.

The patch changes only fields that are ours and leaves concurrent writes of others alone. It begins with `test` operations, so
that it fails instead of hitting another pod of the same name, or another container at the same index of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Device, DeviceHealth, Object, Operation
from podstrat.node.state import sanitize
from podstrat.node.state.devices import HeldDevice, Holding
from podstrat.node.state.published import FIELD, LISTS
from podstrat.strategy.resources import is_sidecar

Entry = dict[str, Any]
"""One item of allocatedResourcesStatus."""

NODE_CONDITIONS = frozenset({"PodScheduled", "Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"})
MIRROR = "kubernetes.io/config.mirror"
HEALTH, MESSAGES, GENERATION, CONDITIONS = "health", "messages", "generation", "conditions"
"""What is written, by parts."""

_CAUSE = re.compile(
    r"status\.(containerStatuses|initContainerStatuses)\[(\d+)\]\.allocatedResourcesStatus\[(\d+)\](?:\.resources\[(\d+)\])?"
)
_WORST = {UNHEALTHY: 0, UNKNOWN: 1, HEALTHY: 2}


@dataclass(frozen=True)
class Settings:
    cdi: bool = False
    """Name a claim's device by its first CDI ID, as the kubelet does, and not as driver/pool/device, as the API promises."""
    messages: bool = True
    """Whether messages are written: gate ResourceHealthStatusMessage."""
    pod_level: bool = False
    """Also fill status.allocatedResourcesStatus of the pod, which only KEP-4680 has."""
    observed_generation: bool = True
    """The kubelet's gate PodObservedGenerationTracking. Off: only where there is a value already."""
    largest: int = 512 * 1024
    """Bytes of health in one pod. The server takes 1.5 MB for the whole pod."""


class RefusedEntry(NamedTuple):
    """A health entry that the server refuses. It is excluded for as long as its content is the same."""

    container: str
    name: str
    resource: str
    """Which device of the entry; empty: the whole entry."""
    content: str


@dataclass(frozen=True)
class Without:
    """What is excluded from writes for now, because the server refused or dropped it."""

    parts: frozenset[str] = frozenset()
    """HEALTH, MESSAGES, GENERATION, CONDITIONS."""
    refused: frozenset[RefusedEntry] = frozenset()


EVERYTHING = Without()


def guarded(
    pod: Object, holdings: Iterable[Holding], verdicts: Mapping[Device, DeviceHealth], settings: Settings
) -> list[Operation]:
    """The patch for the health of the pod's devices and its generation, with its guard; empty: up to date."""
    operations = changes(pod, holdings, verdicts, settings)
    return [guard(pod), *operations] if operations else []


def changes(
    pod: Object,
    holdings: Iterable[Holding],
    verdicts: Mapping[Device, DeviceHealth],
    settings: Settings,
    without: Without = EVERYTHING,
) -> list[Operation]:
    """The same without the guard, which precedes every write to a pod."""
    operations: list[Operation] = []
    if HEALTH not in without.parts:
        if MESSAGES in without.parts:
            settings = replace(settings, messages=False)
        desired = entries(holdings, verdicts, settings)
        operations += _health(pod, _accepted(desired, without.refused) if without.refused else desired, settings)
    if GENERATION not in without.parts:
        operations += _generation(pod, settings)
    # Not worth a write of their own, as in the kubelet.
    return [*operations, *_conditions(pod, settings)] if operations else []


def untaken(operations: Iterable[Operation], pod: Object) -> set[str]:
    """Parts that the server accepted and did not store: the patch is compared with the returned pod."""
    parts = set()
    for operation in operations:
        if operation["op"] != "add":
            continue
        path, value = operation["path"], operation["value"]
        if path.endswith(FIELD):
            present = _at(pod, path) or []
            if present != value:
                parts.add(MESSAGES if present == _without_messages(value) else HEALTH)
        elif path == "/status/observedGeneration" and int(_at(pod, path) or 0) < value:
            parts.add(GENERATION)
        elif path in ("/status/conditions", "/status/conditions/-"):
            kinds = {each["type"] for each in (pod.get("status") or {}).get("conditions") or ()}
            if not {each["type"] for each in (value if isinstance(value, list) else [value])} <= kinds:
                parts.add(CONDITIONS)
    return parts


def _at(pod: Object, path: str) -> Any:
    value: Any = pod
    for part in path.strip("/").split("/"):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = (value or {}).get(part)
    return value


def _without_messages(entries: list[Entry]) -> list[Entry]:
    return [
        {**entry, "resources": [{key: each[key] for key in each if key != "message"} for each in entry["resources"]]}
        for entry in entries
    ]


def refused_by(causes: Iterable[str], operations: Iterable[Operation], pod: Object) -> set[RefusedEntry]:
    """The entries behind the causes of a 422, by their field paths: `status.containerStatuses[0].allocated…[1]…`."""
    added = {operation["path"]: operation["value"] for operation in operations if operation["op"] == "add"}
    refused = set()
    for cause in causes:
        match = _CAUSE.match(cause)
        entries = match and added.get(f"/status/{match[1]}/{match[2]}/{FIELD}")
        if not match or not entries or int(match[3]) >= len(entries):
            continue
        container = _at(pod, f"/status/{match[1]}/{match[2]}")["name"]
        entry = entries[int(match[3])]
        devices = entry["resources"]
        if match[4] is not None and int(match[4]) < len(devices) and len(devices) > 1:
            device = devices[int(match[4])]
            refused.add(RefusedEntry(container, entry["name"], device["resourceID"], _content(device)))
        else:
            refused.add(RefusedEntry(container, entry["name"], "", _content(entry)))
    return refused


def entries_of(operations: Iterable[Operation], pod: Object) -> set[RefusedEntry]:
    """Every entry of the patch, for a 422 that does not say which one it means."""
    return {
        RefusedEntry(_at(pod, operation["path"].rpartition("/")[0])["name"], entry["name"], "", _content(entry))
        for operation in operations
        if operation["op"] == "add" and operation["path"].endswith(FIELD) and operation["path"] != f"/status/{FIELD}"
        for entry in operation["value"]
    }


def _accepted(entries: Mapping[str, list[Entry]], refused: frozenset[RefusedEntry]) -> dict[str, list[Entry]]:
    accepted: dict[str, list[Entry]] = {}
    for container, mine in entries.items():
        accepted[container] = []
        for entry in mine:
            if RefusedEntry(container, entry["name"], "", _content(entry)) in refused:
                continue
            devices = [
                each
                for each in entry["resources"]
                if RefusedEntry(container, entry["name"], each["resourceID"], _content(each)) not in refused
            ]
            if devices:
                accepted[container].append({**entry, "resources": devices})
    return accepted


def _content(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def guard(pod: Object) -> Operation:
    """Fails for another pod of the same name."""
    return {"op": "test", "path": "/metadata/uid", "value": pod["metadata"]["uid"]}


def entries(holdings: Iterable[Holding], verdicts: Mapping[Device, DeviceHealth], settings: Settings) -> dict[str, list[Entry]]:
    """The entries of each container, and under the empty name those of the pod itself: by name, and in them by resourceID."""
    verdicts_by_name: dict[str, dict[str, dict[str, DeviceHealth]]] = {}
    for holding in holdings:
        devices = verdicts_by_name.setdefault(holding.container, {}).setdefault(holding.name, {})
        for each in holding.devices:
            name, verdict = resource_id(each, settings), verdicts[each.device]
            # Two devices may have one CDI ID. Then the worse one is shown: a fault is never hidden.
            if name not in devices or _WORST[verdict.health] < _WORST[devices[name].health]:
                devices[name] = verdict
    limit = _limit(verdicts_by_name, settings)
    return {
        container: [{"name": name, "resources": _resources(names[name], limit, settings)} for name in sorted(names)]
        for container, names in verdicts_by_name.items()
    }


def resource_id(holding: HeldDevice, settings: Settings) -> str:
    return holding.cdi if settings.cdi and holding.cdi else holding.device.id


def observed_generation(pod: Object, settings: Settings) -> int:
    """The generation that the status speaks of; 0: none. It never falls, and a mirror pod has none: its spec is a file."""
    before = int((pod.get("status") or {}).get("observedGeneration") or 0)
    if MIRROR in (pod["metadata"].get("annotations") or {}) or not (before or settings.observed_generation):
        return before
    return max(before, int(pod["metadata"].get("generation") or 0))


# Health


def _health(pod: Object, entries: Mapping[str, list[Entry]], settings: Settings) -> Iterator[Operation]:
    status = pod.get("status") or {}
    for key, containers in LISTS:
        specs = {container["name"]: container for container in pod["spec"].get(containers) or ()}
        for i, each in enumerate(status.get(key) or ()):
            if each["name"] in specs:
                new = [] if _has_finished(each, specs[each["name"]], key) else entries.get(each["name"], [])
                yield from _replaced(f"/status/{key}/{i}", each, new)
    if settings.pod_level:
        yield from _changed("/status", status, entries.get("", []))


def _has_finished(status: Object, container: Object, key: str) -> bool:
    """An init container that has ended well has given back what it held."""
    if key != "initContainerStatuses" or is_sidecar(dict(container)):
        return False
    ended = (status.get("state") or {}).get("terminated")
    return ended is not None and not ended.get("exitCode")


def _replaced(path: str, status: Object, new: list[Entry]) -> Iterator[Operation]:
    """The same for a container. Its place in the list is only good as long as it is the same one that stands there."""
    changes = list(_changed(path, status, new))
    if changes:
        for key in ("name", "containerID"):
            if status.get(key):
                yield {"op": "test", "path": f"{path}/{key}", "value": status[key]}
    yield from changes


def _changed(path: str, holder: Object, new: list[Entry]) -> Iterator[Operation]:
    old = holder.get(FIELD) or []
    if old == new:
        return
    if new:
        yield {"op": "add", "path": f"{path}/{FIELD}", "value": new}
    else:
        yield {"op": "remove", "path": f"{path}/{FIELD}"}


@dataclass(frozen=True)
class _Limit:
    message: int
    """Bytes of each message."""
    devices: int
    """Of one entry."""


def _limit(containers: Mapping[str, Mapping[str, Mapping[str, DeviceHealth]]], settings: Settings) -> _Limit:
    """Size guard: messages are shortened first, then healthy devices are omitted."""
    verdicts = [
        (len(name), verdict) for names in containers.values() for devices in names.values() for name, verdict in devices.items()
    ]
    bare = sum(length for length, _ in verdicts) + 50 * len(verdicts)
    for message in (1024, 256, 64) if settings.messages else (0,):
        if bare + sum(min(len((verdict.message or "").encode()), message) for _, verdict in verdicts) <= settings.largest:
            return _Limit(message, len(verdicts))
    if bare <= settings.largest:
        return _Limit(0, len(verdicts))
    return _Limit(0, max(1, settings.largest * len(verdicts) // bare // max(1, sum(map(len, containers.values())))))


def _resources(devices: Mapping[str, DeviceHealth], limit: _Limit, settings: Settings) -> list[Entry]:
    names: Iterable[str] = devices
    if len(devices) > limit.devices:
        names = sorted(devices, key=lambda name: (_WORST[devices[name].health], name))[: limit.devices]
    return [_resource(name, devices[name], limit, settings) for name in sorted(names)]


def _resource(name: str, verdict: DeviceHealth, limit: _Limit, settings: Settings) -> Entry:
    resource = {"resourceID": name, "health": verdict.health}
    if verdict.message and settings.messages and limit.message:
        resource["message"] = sanitize.cut(verdict.message, limit.message)
    return resource


# Generation


def _generation(pod: Object, settings: Settings) -> Iterator[Operation]:
    before = int((pod.get("status") or {}).get("observedGeneration") or 0)
    now = observed_generation(pod, settings)
    if now > before:
        yield {"op": "add", "path": "/status/observedGeneration", "value": now}


def _conditions(pod: Object, settings: Settings) -> Iterator[Operation]:
    """The node's own conditions speak of the same generation as the status."""
    generation = int(pod["metadata"].get("generation") or 0)
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        return
    for i, condition in enumerate((pod.get("status") or {}).get("conditions") or ()):
        before = int(condition.get("observedGeneration") or 0)
        if condition["type"] in NODE_CONDITIONS and (before or settings.observed_generation) and generation > before:
            path = f"/status/conditions/{i}"
            yield {"op": "test", "path": f"{path}/type", "value": condition["type"]}
            yield {"op": "add", "path": f"{path}/observedGeneration", "value": generation}
