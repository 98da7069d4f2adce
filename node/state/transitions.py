"""Debounce of health transitions: what happens to a pod's devices within `pause` becomes one event of each kind.

Time is an argument.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from podstrat.node.model import HEALTHY, NOT_KNOWN, UNHEALTHY, Device, DeviceHealth, PodEvent
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.state import sanitize

NAMED = 8
"""Devices that a message names; 8 resource IDs of usual length fit into the 1024 bytes of an event message."""


@dataclass
class _Pod:
    verdicts: dict[Device, DeviceHealth] = field(default_factory=dict)
    """The last that was known. Unknown is not: it neither breaks a device nor mends it."""
    worsened: set[Device] = field(default_factory=set)
    recovered: set[Device] = field(default_factory=set)
    due: float = NEVER


class Transitions:
    def __init__(self, pause: float = 2.0) -> None:
        self.pause = pause
        """Seconds that a pod's transitions are collected before there is an event."""
        self.changes = 0
        """Counts changes that belong in the checkpoint."""
        self._pods: dict[str, _Pod] = {}

    def see(self, uid: str, verdicts: Mapping[Device, DeviceHealth], now: float) -> None:
        """The health of the pod's devices now. The first one is not a transition, unless a device is unhealthy."""
        pod = self._pods.setdefault(uid, _Pod())
        for device, verdict in verdicts.items():
            before = pod.verdicts.get(device, NOT_KNOWN).health
            if verdict.health == UNHEALTHY and before != UNHEALTHY:
                pod.worsened.add(device)
            elif verdict.health == HEALTHY and before == UNHEALTHY:
                pod.recovered.add(device)
            elif verdict.health not in (HEALTHY, UNHEALTHY):
                continue
            pod.verdicts[device] = verdict
            self.changes += before != verdict.health
        if (pod.worsened or pod.recovered) and pod.due == NEVER:
            pod.due = now + self.pause

    def forget(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def retain(self, uids: Collection[str]) -> None:
        """All pods are listed: what was restored of others is dropped."""
        for uid in self._pods.keys() - set(uids):
            del self._pods[uid]

    def rows(self) -> list[Any]:
        """Rows for the checkpoint: unhealthy devices, whose event is recorded already."""
        return [
            [uid, *device]
            for uid, pod in self._pods.items()
            for device, verdict in pod.verdicts.items()
            if verdict.health == UNHEALTHY
        ]

    def restore(self, rows: Iterable[Any]) -> None:
        """After a restart: a device that was unhealthy before is not reported again, and its recovery is."""
        for uid, driver, pool, name in rows:
            pod = self._pods.setdefault(uid, _Pod())
            pod.verdicts[Device(driver, pool, name)] = DeviceHealth(UNHEALTHY)

    def next(self) -> float:
        """When to ask for events."""
        return min((pod.due for pod in self._pods.values()), default=NEVER)

    def due(self, now: float) -> list[PodEvent]:
        """The events to be recorded now."""
        events = []
        for uid, pod in self._pods.items():
            if pod.due <= now:
                if pod.worsened:
                    events.append(PodEvent(uid, "Warning", "DeviceUnhealthy", _text("unhealthy", pod.worsened, pod.verdicts)))
                if pod.recovered:
                    events.append(PodEvent(uid, "Normal", "DeviceRecovered", _text("healthy again", pod.recovered, {})))
                pod.worsened, pod.recovered, pod.due = set(), set(), NEVER
        return events


def _text(what: str, devices: Iterable[Device], verdicts: Mapping[Device, DeviceHealth]) -> str:
    ordered = sorted(devices)
    texts = [
        f"{device.id} ({verdicts[device].message})" if device in verdicts and verdicts[device].message else device.id
        for device in ordered[:NAMED]
    ]
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    return sanitize.cut(f"{'Device' if len(ordered) == 1 else 'Devices'} {what}: {', '.join(texts)}{more}")
