"""All of it together: what drivers say goes in, the pods that have to be looked at come out.

async with Drivers(settings, clock) as drivers:
    async for wake in feed.wakes(drivers.events(), health, claims, clock):
        writer.wake(wake.pods)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from typing import Any, NamedTuple, Protocol

from node.allocations import Allocations
from node.checkpoint import Checkpoint, Loaded, Pace
from node.claims import Claims
from node.clock import Clock, sleep_until
from node.health import Health, Row
from node.reports import Device, Event


class Wake(NamedTuple):
    """Something has happened."""

    changed: set[Device]
    pods: set[str]
    """The UIDs of the pods that hold a device that has changed."""
    notes: list[str]
    """For the log."""


async def wakes(events: AsyncIterator[Event], health: Health, claims: Claims, clock: Clock) -> AsyncGenerator[Wake, None]:
    """Wakes for what drivers say, and for what they do not say in time."""
    coming = asyncio.ensure_future(_next(events))
    try:
        while True:
            timer = asyncio.ensure_future(sleep_until(clock, health.next_deadline()))
            try:
                await asyncio.wait({coming, timer}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _cancelled(timer)
            now = clock.now()
            claims.settle(now)
            if coming.done():
                outcome = health.take(coming.result(), now)
                coming = asyncio.ensure_future(_next(events))
            else:
                outcome = health.expire(now)
            if outcome.changed or outcome.notes:
                yield Wake(outcome.changed, claims.pods_using(outcome.changed, now), outcome.notes)
    finally:
        await _cancelled(coming)


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


async def _cancelled(future: asyncio.Future[Any]) -> None:
    future.cancel()
    await asyncio.wait({future})


class Prepared(Protocol):
    """What is to be remembered besides: what drivers were asked to prepare."""

    changes: int

    def rows(self) -> list[Any]: ...

    def restore(self, rows: Iterable[Any]) -> None: ...


class Keeper:
    """Keeps the checkpoint up to date, without anybody having to wait for the disk."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        health: Health,
        allocations: Allocations,
        clock: Clock,
        wall: Callable[[], float],
        pace: Pace | None = None,
        prepared: Prepared | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.health = health
        self.allocations = allocations
        self.clock = clock
        self.wall = wall
        self.pace = pace or Pace()
        self.prepared = prepared
        self.failing = False
        self._saving = asyncio.Lock()
        self._next: asyncio.Task[str | None] | None = None

    def load(self) -> list[str]:
        """Takes up what was saved before the restart. The result is for the log."""
        now = self.clock.now()
        loaded = self.checkpoint.load(now, self.wall())
        try:
            self._restore(loaded, now)
        except (TypeError, ValueError) as error:
            loaded.notes.append(f"{self.checkpoint.path}: what it says makes no sense ({error}), starting without it")
        return loaded.notes

    async def run(self) -> AsyncGenerator[str, None]:
        """Saves when it is time, for ever. The notes are for the log."""
        while True:
            await self.clock.sleep(self.pace.change)
            if self.pace.due(*self._counts(), self.clock.now()) <= self.clock.now():
                if note := await self.save():
                    yield note

    async def save(self) -> str | None:
        """Saves now. A note, if that begins to fail or succeeds again: what is known stays known meanwhile."""
        # One after the other, or an older state could come to lie over a newer one; and those who come while one waits for its
        # turn are served by the same.
        if self._next is None:
            self._next = asyncio.ensure_future(self._in_turn())
        return await asyncio.shield(self._next)

    async def _in_turn(self) -> str | None:
        async with self._saving:
            self._next = None
            return await self._save()

    async def _save(self) -> str | None:
        counts, now = self._counts(), self.clock.now()
        content: dict[str, Any] = {"health": self.health.rows(now), "allocations": self.allocations.rows()}
        if self.prepared is not None:
            content["prepared"] = self.prepared.rows()
        try:
            await asyncio.to_thread(self.checkpoint.save, content, now, self.wall())
        except OSError as error:
            self.pace.failed(now)
            note = None if self.failing else f"{self.checkpoint.path} cannot be written: {error.strerror}"
            self.failing = True
            return note
        self.pace.saved(*counts, now)
        note = f"{self.checkpoint.path} can be written again" if self.failing else None
        self.failing = False
        return note

    def _counts(self) -> tuple[int, int]:
        prepared = self.prepared.changes if self.prepared is not None else 0
        return self.health.changes + self.allocations.changes + prepared, self.health.refreshes

    def _restore(self, loaded: Loaded, now: float) -> None:
        self.allocations.restore(loaded.content.get("allocations") or ())
        if self.prepared is not None:
            self.prepared.restore(loaded.content.get("prepared") or ())
        if loaded.fresh:
            self.health.restore([Row(*row) for row in loaded.content.get("health") or ()], now)
