"""The node writer through an API outage and storms of 409, 429 and 5xx: in the end every pod shows what its driver said last."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from podstrat.node.model import Reading
from podstrat.node.simulator.driver import DraDriver
from podstrat.testing.server import Server
from tests.node.child import Child
from tests.node.cluster import Cluster
from tests.node.test_soak import DEVICES, free_port, populate, until_right
from tools.soak.memory import Memory
from tools.soak.result import Result

OUTAGE = 300.0
"""Seconds without an API server."""
CALM = 240.0
"""Seconds of ordinary operation before the outage and after the storms, for the memory to be compared."""
STORMS = (409, 429, 500, 503)
STORM_REQUESTS = 300  # refused writes of each kind, so that every pod backs off several times
STORM_SECONDS = 45.0  # for back-offs from half a second to grow to many seconds
PERIOD = 0.5
"""Seconds between two changes of a device's health."""


def soak(share: float) -> Result:
    with tempfile.TemporaryDirectory(prefix="podstrat-soak-") as folder:
        return asyncio.run(_soak(Path(folder), share))


async def _soak(root: Path, share: float) -> Result:
    server = Server("--data-dir", str(root / "data"), "--port", str(free_port()), "--allow-faults")
    devices = [Reading("soaked", f"gpu-{number}", "Healthy", timeout=3600) for number in range(DEVICES)]
    async with DraDriver(root, pool="soaked", devices=devices) as driver:
        with server:
            cluster = Cluster(server, "soaked")
            await populate(cluster)
            async with Child(cluster, root, "--simulate-lifecycle") as child:
                await until_right(cluster, driver)
                memory = Memory(child.process.pid)
                memory.start()
                changes = Changes(driver)
                await changes.go_on(CALM * share)
                await asyncio.to_thread(server.stop)
                await changes.go_on(OUTAGE * share)
                await asyncio.to_thread(server.start)
                for code in STORMS:
                    fault = {"method": "PATCH", "resource": "pods", "times": STORM_REQUESTS, "answer": code}
                    await cluster.call("POST", "/podstrat/faults", fault)
                    await changes.go_on(STORM_SECONDS * share)
                await cluster.call("DELETE", "/podstrat/faults")
                await changes.go_on(CALM * share)
                memory.stop()
                is_complete = True
                try:
                    await until_right(cluster, driver)
                except AssertionError:
                    is_complete = False
            await cluster.close()
    storms = ", ".join(map(str, STORMS))
    shown = "all pods show the last health" if is_complete else "pods show stale health"
    summary = f"{changes.count} changes, {OUTAGE * share:.0f} s without API server, storms of {storms}: {shown}"
    return Result("node", summary, memory, is_complete)


class Changes:
    """Health of random devices changes at a steady rate."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._random = Random(3)
        self.count = 0

    async def go_on(self, seconds: float) -> None:
        for _ in range(max(1, int(seconds / PERIOD))):
            name = f"gpu-{self._random.randrange(DEVICES)}"
            health = self._random.choice(["Healthy", "Unhealthy"])
            self._driver.set(name, health, f"change {self.count}", timeout=3600)
            self.count += 1
            await asyncio.sleep(PERIOD)
