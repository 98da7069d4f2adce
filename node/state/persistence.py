"""Checkpointing: saves health, allocations and prepared claims in the background, and restores them at start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Protocol

from podstrat.node.runtime.clock import Clock
from podstrat.node.state.allocations import Allocations
from podstrat.node.state.checkpoint import Checkpoint, Loaded, Pace
from podstrat.node.state.health import Health, Row
from podstrat.node.state.transitions import Transitions


class Prepared(Protocol):
    """Claims that drivers were asked to prepare."""

    changes: int

    def rows(self) -> list[Any]: ...

    def restore(self, rows: Iterable[Any]) -> None: ...


class Persistence:
    """Keeps the checkpoint up to date without blocking the event loop."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        health: Health,
        allocations: Allocations,
        clock: Clock,
        wall: Callable[[], float],
        pace: Pace | None = None,
        prepared: Prepared | None = None,
        transitions: Transitions | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.health = health
        self.allocations = allocations
        self.clock = clock
        self.wall = wall
        self.pace = pace or Pace()
        self.prepared = prepared
        self.transitions = transitions or Transitions()
        self.failing = False
        self._saving = asyncio.Lock()
        self._next: asyncio.Task[str | None] | None = None

    def load(self) -> list[str]:
        """Restores the checkpoint; returns log lines."""
        now = self.clock.now()
        loaded = self.checkpoint.load(now, self.wall())
        try:
            self._restore(loaded, now)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            loaded.notes.append(f"{self.checkpoint.path}: invalid content ({error}), starting empty")
        return loaded.notes

    async def run(self) -> AsyncGenerator[str, None]:
        """Saves when due, forever; yields log lines."""
        while True:
            await self.clock.sleep(self.pace.change)
            if self.pace.due(*self._counts(), self.clock.now()) <= self.clock.now():
                if note := await self.save():
                    yield note

    async def save(self) -> str | None:
        """Saves now; returns a log line when saving starts to fail or succeeds again. State in memory is unaffected."""
        # Serialized, or an older state could overwrite a newer one; callers that arrive while a save is queued share it.
        if self._next is None:
            self._next = asyncio.ensure_future(self._in_turn())
        return await asyncio.shield(self._next)

    async def _in_turn(self) -> str | None:
        async with self._saving:
            self._next = None
            return await self._save()

    async def _save(self) -> str | None:
        counts, now = self._counts(), self.clock.now()
        content: dict[str, Any] = {
            "health": self.health.rows(now),
            "heard": sorted(self.health.heard),
            "unhealthy": self.transitions.rows(),
            "allocations": self.allocations.rows(),
        }
        if self.prepared is not None:
            content["prepared"] = self.prepared.rows()
        try:
            await asyncio.to_thread(self.checkpoint.save, content, now, self.wall())
        except OSError as error:
            self.pace.failed(now)
            note = None if self.failing else f"{self.checkpoint.path}: cannot write checkpoint: {error.strerror}"
            self.failing = True
            return note
        self.pace.saved(*counts, now)
        note = f"{self.checkpoint.path}: checkpoint written again" if self.failing else None
        self.failing = False
        return note

    def _counts(self) -> tuple[int, int]:
        prepared = self.prepared.changes if self.prepared is not None else 0
        changes = self.health.changes + self.allocations.changes + self.transitions.changes + prepared
        return changes, self.health.refreshes

    def _restore(self, loaded: Loaded, now: float) -> None:
        self.allocations.restore(loaded.content.get("allocations") or ())
        self.transitions.restore(loaded.content.get("unhealthy") or ())
        self.health.heard.update(map(str, loaded.content.get("heard") or ()))
        if self.prepared is not None:
            self.prepared.restore(loaded.content.get("prepared") or ())
        if loaded.fresh:
            self.health.restore([Row(*row) for row in loaded.content.get("health") or ()], now)
