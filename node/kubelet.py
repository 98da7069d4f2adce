"""The kubelet beside us: which devices of device plugins it has given to which pods.

There is nothing to watch, so it is asked now and then, and whenever pods have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import NamedTuple

from node.claims import Claims
from node.clock import Clock
from node.protocols import podresources
from node.protocols.calls import CallFailed


class Told(NamedTuple):
    pods: set[str]
    """Those that hold something else than before."""
    note: str | None
    """For the log."""


class Kubelet:
    def __init__(self, socket: str, claims: Claims, clock: Clock, period: float = 10.0, timeout: float = 5.0) -> None:
        self.socket = socket
        self.claims = claims
        self.clock = clock
        self.period = period
        """Seconds between two questions."""
        self.timeout = timeout
        self._asked = asyncio.Event()

    def wake(self) -> None:
        """Pods have changed: ask now."""
        self._asked.set()

    async def run(self) -> AsyncGenerator[Told, None]:
        while True:
            self._asked.clear()
            told = await self.ask()
            if told.pods or told.note:
                yield told
            await self._pause()

    async def ask(self) -> Told:
        """Asks once. Where there is no answer (a restart, too many questions), what was known stays known, and counts as old."""
        before = self.claims.uids()
        was_stale = self.claims.stale_since is not None
        try:
            listing = await podresources.pods(self.socket, self.timeout)
        except CallFailed as failure:
            self.claims.plugins_unavailable(self.clock.now())
            return Told(set(), None if was_stale else f"{self.socket}: the kubelet does not answer: {failure}")
        pods = self.claims.plugins_listed(listing, before, self.clock.now())
        return Told(pods, f"{self.socket}: the kubelet answers again" if was_stale else None)

    async def _pause(self) -> None:
        waits = [asyncio.ensure_future(each) for each in (self._asked.wait(), self.clock.sleep(self.period))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)
