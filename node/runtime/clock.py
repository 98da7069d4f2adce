"""The boot clock: monotonic, and counting through suspend."""

from __future__ import annotations

import asyncio
import math
import time
from pathlib import Path
from typing import Protocol

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    def now(self) -> float:
        """Seconds, from some moment on."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class BootClock:
    """Seconds since the machine started, those it was suspended for included."""

    PATIENCE = 1.0
    """Timers do not count while the machine is suspended. So a long sleep is made of short ones, and ends in time after all."""

    def now(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    async def sleep(self, seconds: float) -> None:
        until = self.now() + seconds
        while (seconds_left := until - self.now()) > 0:
            await asyncio.sleep(min(seconds_left, self.PATIENCE))


async def sleep_until(clock: Clock, when: float) -> None:
    """Forever, if the time is infinite."""
    if when == math.inf:
        await asyncio.Event().wait()
    await clock.sleep(max(0.0, when - clock.now()))


async def wait_until(event: asyncio.Event, clock: Clock, when: float) -> None:
    """Until the event is set, or the time has come."""
    waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(sleep_until(clock, when))]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def boot_id() -> str:
    """The boot ID of the machine; empty where there is none."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""
