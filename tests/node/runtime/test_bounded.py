"""The queue that is bounded by size."""

from __future__ import annotations

import asyncio

import pytest

from podstrat.node.drivers.protocols import streams
from podstrat.node.model import Reading
from podstrat.node.runtime.bounded import BoundedQueue


async def test_items_wait_until_there_is_room_for_them():
    queue = BoundedQueue(10)
    await queue.put("a", 6)
    second = asyncio.ensure_future(queue.put("b", 6))
    await asyncio.sleep(0.01)
    assert (len(queue), queue.size, second.done()) == (1, 6, False)
    assert await queue.get() == "a"
    await second
    assert (queue.size, await queue.get()) == (6, "b")
    await queue.put("larger than the queue", 100)  # or it could never pass
    assert await queue.get() == "larger than the queue"


@pytest.mark.scenario(124)
async def test_the_cap_comes_before_the_queue_and_known_devices_always_count():
    message = streams.V1.write(Reading("pool", f"gpu-{number}", "Healthy") for number in range(100_000))
    keeps = streams.Keeps(lambda: [{("d", "pool", "gpu-99998")}, {("d", "pool", "gpu-3")}], "d", 1000)
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(beat())
    found = await streams.kept(streams.V1.read(message, keeps.admission()))
    task.cancel()
    assert len(found) == 1000 + 2  # one more than the cap, for the log; one known device is not in the largest table
    assert {"gpu-3", "gpu-99998"} <= {each.name for each in found}
    assert beats >= 100_000 // streams.SLICE  # others have their turn meanwhile
