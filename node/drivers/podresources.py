"""Poller of podresources: which devices the kubelet on this node has allocated to which pods.

The API has no watch, so it is polled periodically and when pods have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from podstrat.node.drivers.protocols import podresources
from podstrat.node.drivers.protocols.calls import CallFailed
from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Event, PodDevices, Reading, Registered, Report, Session
from podstrat.node.runtime.clock import Clock

MIN_INTERVAL = 0.2
"""Seconds between two polls at least: five a second leave the kubelet's limit of 100 to others."""


class Listing(NamedTuple):
    pods: set[str]
    """Pods whose devices have changed."""
    note: str | None
    """A log line."""
    events: list[Event]
    """Health of device-plugin devices, derived from allocatable."""


class Inventory(Protocol):
    """Receives the listings."""

    stale_since: float | None

    def uids(self) -> dict[tuple[str, str], str]: ...

    def shown_health(self) -> dict[tuple[str, str], str]: ...

    def devices_listed(self, listing: Iterable[PodDevices], before: Mapping[tuple[str, str], str], now: float) -> set[str]: ...

    def plugins_unavailable(self, now: float) -> None: ...


class PodResources:
    def __init__(self, socket: str, inventory: Inventory, clock: Clock, period: float = 10.0, timeout: float = 5.0) -> None:
        self.socket = socket
        self.inventory = inventory
        self.clock = clock
        self.period = period
        """Seconds between two polls: all clients share 100 calls a second, and each makes the kubelet collect garbage."""
        self.timeout = timeout
        self._asked = asyncio.Event()
        self._polled = 0.0
        self._sessions: dict[str, Session] = {}
        """Resources listed at least once: devices of one that is not listed any more are not healthy."""

    def wake(self) -> None:
        """Pods have changed: poll now."""
        self._asked.set()

    async def run(self) -> AsyncGenerator[Listing, None]:
        """Listings with changes, and the first one."""
        first = True
        while True:
            self._asked.clear()
            result = await self.ask()
            answered = self.inventory.stale_since is None
            if result.pods or result.note or result.events or (first and answered):
                yield result
            first = first and not answered
            await self._pause()

    async def ask(self) -> Listing:
        """Polls once. Without an answer (kubelet restart, rate limit) the last listing is kept and counts as stale."""
        self._polled = self.clock.now()
        before = self.inventory.uids()
        was_stale = self.inventory.stale_since is not None
        try:
            listing = await podresources.pods(self.socket, self.timeout)
        except CallFailed as failure:
            self.inventory.plugins_unavailable(self.clock.now())
            return Listing(set(), None if was_stale else f"{self.socket}: podresources unavailable: {failure}", [])
        pods = self.inventory.devices_listed(listing, before, self.clock.now())
        note = f"{self.socket}: podresources available again" if was_stale else None
        try:
            usable = await podresources.allocatable(self.socket, self.timeout)
        except CallFailed:
            return Listing(pods, note, [])
        return Listing(pods, note, list(self._read(listing, usable, self.inventory.shown_health())))

    def _read(
        self, listing: Iterable[PodDevices], usable: Mapping[str, Iterable[str]], health: Mapping[tuple[str, str], str]
    ) -> Iterator[Event]:
        """Health of device-plugin devices, from what is allocatable and what the kubelet shows in pod status.

        allocatable    shown        health
        yes            any          Healthy: its plugin is connected and lists it as healthy
        no             Unhealthy    Unhealthy: the plugin's word
        no             Healthy      Unknown: a default or a stale value; plugin gone, device vanished, or kubelet restarted
        no             nothing      Unhealthy if other devices of the resource are allocatable, else Unknown
        """
        by_resource: dict[str, set[str]] = {resource: set() for resource in {*usable, *self._sessions}}
        for pod in listing:
            for devices in pod.plugins.values():
                for resource, ids in devices.items():
                    by_resource.setdefault(resource, set()).update(ids)
        for resource, devices_of_resource in by_resource.items():
            if resource not in self._sessions:
                self._sessions[resource] = Session(resource, self.socket, len(self._sessions) + 1)
                yield Registered(resource, self.socket, True)
            good = set(usable.get(resource, ()))
            unshown = UNHEALTHY if good else UNKNOWN
            readings = [
                Reading("", each, HEALTHY if each in good else _lost(health.get((resource, each)), unshown))
                for each in sorted(good | devices_of_resource)
            ]
            yield Report(self._sessions[resource], readings, True)

    async def _pause(self) -> None:
        if (seconds := self._polled + MIN_INTERVAL - self.clock.now()) > 0:
            await self.clock.sleep(seconds)
        waits = [asyncio.ensure_future(each) for each in (self._asked.wait(), self.clock.sleep(self.period))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)


def _lost(health: str | None, unshown: str) -> str:
    if health is None:
        return unshown
    return UNHEALTHY if health == UNHEALTHY else UNKNOWN
