"""Introspection of a running node writer: gauges for /metrics, probes, and rows of devices and pods for the admin socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from podstrat.node.admin import http
from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Device, DeviceHealth
from podstrat.node.owner.prepare import Preparer
from podstrat.node.roles import OWNER, Role
from podstrat.node.router import Parts
from podstrat.node.runtime.clock import Clock
from podstrat.node.server.informer import Collection

Gauge = tuple[str, str, list[tuple[dict[str, str], float]]]
"""Name, help, samples."""


MOST_DEVICES = 64
"""Series of the per-device gauge: four full nodes of sixteen devices, and nothing while all is well."""
DEVICE_HELP = f"1 for each device of a pod that is not Healthy; unhealthy ones first, at most {MOST_DEVICES}."


class Subject(NamedTuple):
    """What is inspected."""

    node: str
    server: str
    """Address of the API server."""
    role: Role
    parts: Parts
    preparer: Preparer
    collections: dict[str, Collection]
    """By kind."""
    counters: Callable[[], dict[str, dict[str, int]]]
    """Counters of writes and events, by result."""


class Introspection:
    def __init__(self, subject: Subject, clock: Clock) -> None:
        self.subject, self.clock = subject, clock

    def pages(self) -> dict[str, http.Page]:
        """The pages of the admin socket."""
        values: dict[str, Callable[[], Any]] = {"/devices": self.devices, "/pods": self.pods, "/status": self.status}
        return {path: http.json_page(value) for path, value in values.items()}

    @property
    def ready(self) -> bool:
        return self.subject.parts.inventory.ready

    def gauges(self) -> Iterator[Gauge]:
        parts, now = self.subject.parts, self.clock.now()
        yield "devices", "Devices by driver and health.", _by_health(parts.health.all(now))
        yield "device_unhealthy", DEVICE_HELP, list(self._not_healthy(now))
        yield "drivers", "Registered driver endpoints.", [({}, float(len(parts.drivers.registered())))]
        yield "streams", "Open health streams.", [({}, float(parts.drivers.open_streams()))]
        yield "pods", "Pods of this node.", [({}, float(len(parts.inventory.uids())))]
        yield "backlog", "Pods waiting for a status write.", [({}, float(parts.writer.backlog()))]
        yield "holding", "1 while status writes are on hold.", [({}, float(bool(parts.writer.holding)))]
        silence = [
            ({"kind": kind}, now - collection.heard)
            for kind, collection in self.subject.collections.items()
            if collection.heard is not None
        ]
        yield "silence_seconds", "Seconds since the last response or watch event of the API server, by kind.", silence
        yield "role", "The role of the writer.", [({"role": self.subject.role.name}, 1.0)]

    def _not_healthy(self, now: float) -> Iterator[tuple[dict[str, str], float]]:
        """Devices of pods that are not healthy, unhealthy ones first; at most MOST_DEVICES, so that cardinality is bounded."""
        inventory = self.subject.parts.inventory
        verdicts: dict[Device, DeviceHealth] = {}
        for uid in inventory.uids().values():
            share = inventory.share(uid, now)
            verdicts.update(
                (device, each) for device, each in (share.verdicts if share else {}).items() if each.health != HEALTHY
            )
        ordered = sorted(verdicts.items(), key=lambda item: (item[1].health != UNHEALTHY, item[0]))
        for device, verdict in ordered[:MOST_DEVICES]:
            labels = {"driver": device.driver, "pool": device.pool, "device": device.name, "health": verdict.health}
            yield labels, 1.0

    def devices(self) -> list[dict[str, Any]]:
        """Devices that a driver reports or a pod holds."""
        parts, now = self.subject.parts, self.clock.now()
        verdicts = dict(parts.health.all(now))
        for uid in parts.inventory.uids().values():
            share = parts.inventory.share(uid, now)
            for device, verdict in share.verdicts.items() if share else ():
                verdicts.setdefault(device, verdict)
        return [
            {
                "driver": device.driver,
                "pool": device.pool,
                "device": device.name,
                "health": verdict.health,
                "pods": ", ".join(self._names(parts.inventory.holders(device))),
                "message": verdict.message or "",
            }
            for device, verdict in sorted(verdicts.items())
        ]

    def pods(self) -> list[dict[str, Any]]:
        inventory, now = self.subject.parts.inventory, self.clock.now()
        rows = []
        for (namespace, name), uid in sorted(inventory.uids().items()):
            pod, share = inventory.pod(uid) or {}, inventory.share(uid, now)
            verdicts = list(share.verdicts.values()) if share else []
            status = pod.get("status") or {}
            rows.append(
                {
                    "namespace": namespace,
                    "pod": name,
                    "phase": status.get("phase") or "",
                    "devices": len(verdicts),
                    "healthy": sum(each.health == HEALTHY for each in verdicts),
                    "generation": pod["metadata"].get("generation") or 0,
                    "observed": status.get("observedGeneration") or 0,
                    "state": self._state(uid),
                }
            )
        return rows

    def status(self) -> dict[str, Any]:
        subject, parts = self.subject, self.subject.parts
        return {
            "node": subject.node,
            "role": subject.role.name,
            "reason": subject.role.reason,
            "server": subject.server,
            "ready": self.ready,
            "backlog": parts.writer.backlog(),
            "holding": parts.writer.holding,
            "paused": sorted(parts.writer.paused()),
            "drivers": [{"driver": each.driver, "endpoint": each.endpoint} for each in parts.drivers.registered()],
            **subject.counters(),
            "prepared": subject.preparer.records(),
            "preparing": subject.preparer.tasks(),
        }

    def _names(self, uids: Iterable[str]) -> list[str]:
        inventory = self.subject.parts.inventory
        pods = [pod["metadata"] for uid in uids if (pod := inventory.pod(uid)) is not None]
        return sorted(f"{meta['namespace']}/{meta['name']}" for meta in pods)

    def _state(self, uid: str) -> str:
        """Preparation state of a pod, in one word."""
        preparer = self.subject.preparer
        if self.subject.role.name != OWNER:
            return ""
        if preparer.failure(uid):
            return "failing"
        if preparer.ready(uid):
            return "prepared"
        return "released" if preparer.released(uid) else "preparing"


def _by_health(devices: Iterable[tuple[Device, DeviceHealth]]) -> list[tuple[dict[str, str], float]]:
    counts: dict[tuple[str, str], int] = {}
    for device, verdict in devices:
        for health in (HEALTHY, UNHEALTHY, UNKNOWN):
            counts.setdefault((device.driver, health), 0)
        counts[device.driver, verdict.health] += 1
    return [({"driver": driver, "health": health}, float(n)) for (driver, health), n in sorted(counts.items())]
