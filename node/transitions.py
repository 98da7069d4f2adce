"""Events about devices that have become unhealthy or have recovered: few, however often they change their mind.

What happens to a pod within a while becomes one event of each kind. Time is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from node import readings
from node.deadlines import NEVER
from node.reports import HEALTHY, NOT_KNOWN, UNHEALTHY, Device, Verdict

NAMED = 8


class Event(NamedTuple):
    """An event to be recorded on a pod."""

    uid: str
    type: str
    reason: str
    message: str


@dataclass
class _Pod:
    verdicts: dict[Device, Verdict] = field(default_factory=dict)
    """The last that was known. Unknown is not: it neither breaks a device nor mends it."""
    worsened: set[Device] = field(default_factory=set)
    recovered: set[Device] = field(default_factory=set)
    due: float = NEVER


class Transitions:
    def __init__(self, pause: float = 2.0) -> None:
        self.pause = pause
        """Seconds that a pod's transitions are collected before there is an event."""
        self._pods: dict[str, _Pod] = {}

    def see(self, uid: str, verdicts: Mapping[Device, Verdict], now: float) -> None:
        """How the pod's devices are now. The first time is no transition, unless a device is unhealthy."""
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
        if (pod.worsened or pod.recovered) and pod.due == NEVER:
            pod.due = now + self.pause

    def forget(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def next(self) -> float:
        """When to ask for events."""
        return min((pod.due for pod in self._pods.values()), default=NEVER)

    def due(self, now: float) -> list[Event]:
        """The events to be recorded now."""
        found = []
        for uid, pod in self._pods.items():
            if pod.due <= now:
                if pod.worsened:
                    found.append(Event(uid, "Warning", "DeviceUnhealthy", _text("unhealthy", pod.worsened, pod.verdicts)))
                if pod.recovered:
                    found.append(Event(uid, "Normal", "DeviceRecovered", _text("healthy again", pod.recovered, {})))
                pod.worsened, pod.recovered, pod.due = set(), set(), NEVER
        return found


def _text(what: str, devices: Iterable[Device], verdicts: Mapping[Device, Verdict]) -> str:
    ordered = sorted(devices)
    named = [
        f"{device.id} ({verdicts[device].message})" if device in verdicts and verdicts[device].message else device.id
        for device in ordered[:NAMED]
    ]
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    return readings.cut(f"{'Device' if len(ordered) == 1 else 'Devices'} {what}: {', '.join(named)}{more}")
