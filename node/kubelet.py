"""The kubelet beside us: which devices of device plugins it has given to which pods.

There is nothing to watch, so it is asked now and then, and whenever pods have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from typing import NamedTuple

from node.claims import Claims
from node.clock import Clock
from node.protocols import podresources
from node.protocols.calls import CallFailed
from node.protocols.podresources import PodDevices
from node.reports import HEALTHY, UNHEALTHY, UNKNOWN, Event, Reading, Registered, Report, Session


class Told(NamedTuple):
    pods: set[str]
    """Those that hold something else than before."""
    note: str | None
    """For the log."""
    events: list[Event]
    """What that says about the health of device plugins' devices."""


class Kubelet:
    def __init__(self, socket: str, claims: Claims, clock: Clock, period: float = 10.0, timeout: float = 5.0) -> None:
        self.socket = socket
        self.claims = claims
        self.clock = clock
        self.period = period
        """Seconds between two questions."""
        self.timeout = timeout
        self._asked = asyncio.Event()
        self._known: dict[str, Session] = {}
        """Resources that were ever mentioned: devices of one that is mentioned no more have not become healthy by that."""

    def wake(self) -> None:
        """Pods have changed: ask now."""
        self._asked.set()

    async def run(self) -> AsyncGenerator[Told, None]:
        """What it says, when that is news. The first answer is, whatever it is."""
        first = True
        while True:
            self._asked.clear()
            told = await self.ask()
            answered = self.claims.stale_since is None
            if told.pods or told.note or told.events or (first and answered):
                yield told
            first = first and not answered
            await self._pause()

    async def ask(self) -> Told:
        """Asks once. Where there is no answer (a restart, too many questions), what was known stays known, and counts as old."""
        before = self.claims.uids()
        was_stale = self.claims.stale_since is not None
        try:
            listing = await podresources.pods(self.socket, self.timeout)
        except CallFailed as failure:
            self.claims.plugins_unavailable(self.clock.now())
            return Told(set(), None if was_stale else f"{self.socket}: the kubelet does not answer: {failure}", [])
        pods = self.claims.plugins_listed(listing, before, self.clock.now())
        note = f"{self.socket}: the kubelet answers again" if was_stale else None
        try:
            usable = await podresources.allocatable(self.socket, self.timeout)
        except CallFailed:
            return Told(pods, note, [])
        return Told(pods, note, list(self._read(listing, usable)))

    def _read(self, listing: Iterable[PodDevices], usable: Mapping[str, Iterable[str]]) -> Iterator[Event]:
        """A device that was given away and can be given no more is unhealthy; if none of its kind can, its plugin has gone."""
        given: dict[str, set[str]] = {resource: set() for resource in {*usable, *self._known}}
        for pod in listing:
            for devices in pod.plugins.values():
                for resource, ids in devices.items():
                    given.setdefault(resource, set()).update(ids)
        for resource, held in given.items():
            if resource not in self._known:
                self._known[resource] = Session(resource, self.socket, len(self._known) + 1)
                yield Registered(resource, self.socket, True)
            good = set(usable.get(resource, ()))
            lost = UNHEALTHY if good else UNKNOWN
            readings = [Reading("", each, HEALTHY if each in good else lost) for each in sorted(good | held)]
            yield Report(self._known[resource], readings, True)

    async def _pause(self) -> None:
        waits = [asyncio.ensure_future(each) for each in (self._asked.wait(), self.clock.sleep(self.period))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)
