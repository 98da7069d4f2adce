"""Driver events to pods: each event updates the health table, and the pods that hold a changed device come out.

async with Drivers(settings, clock) as drivers:
    async for wake in events.wakes(drivers.events(), health, inventory, clock):
        writer.wake(wake.pods)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, NamedTuple

from podstrat.node.model import Device, Event
from podstrat.node.runtime.clock import Clock, sleep_until
from podstrat.node.state.health import Health
from podstrat.node.state.inventory import Inventory


class Wake(NamedTuple):
    """The effect of one event or deadline."""

    changed: set[Device]
    pods: set[str]
    """UIDs of the pods that hold a changed device."""
    notes: list[str]
    """Log lines."""


async def wakes(events: AsyncIterator[Event], health: Health, inventory: Inventory, clock: Clock) -> AsyncGenerator[Wake, None]:
    """Wakes for driver events and for expired health."""
    coming = asyncio.ensure_future(_next(events))
    try:
        while True:
            timer = asyncio.ensure_future(sleep_until(clock, health.next_deadline()))
            try:
                await asyncio.wait({coming, timer}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _cancelled(timer)
            now = clock.now()
            inventory.settle(now)
            if coming.done():
                outcome = health.take(coming.result(), now)
                coming = asyncio.ensure_future(_next(events))
            else:
                outcome = health.expire(now)
            if outcome.changed or outcome.notes:
                yield Wake(outcome.changed, inventory.pods_using(outcome.changed, now), outcome.notes)
    finally:
        await _cancelled(coming)


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


async def _cancelled(future: asyncio.Future[Any]) -> None:
    future.cancel()
    await asyncio.wait({future})
