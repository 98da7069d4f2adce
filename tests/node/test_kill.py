"""Killed at any moment: after each restart the status is the driver's truth, and never was anything else on the way there."""

from __future__ import annotations

import asyncio
import json
from random import Random

import pytest

from podstrat.node.model import Reading
from podstrat.node.simulator.driver import DraDriver
from podstrat.node.state.checkpoint import Checkpoint
from tests.node.child import Child
from tests.node.cluster import PODS, health_of

POINTS = ("rename", "patch", "answer", "")
PODS_OF_IT = 4


class Witness:
    """Watches a pod, and notes every health that it ever showed, with the message."""

    def __init__(self, cluster, names):
        self.cluster = cluster
        self.names = names
        self.seen = {name: [] for name in names}
        self.task = asyncio.ensure_future(self._watch())

    async def _watch(self):
        url = f"{PODS}?watch=1&fieldSelector=spec.nodeName%3D{self.cluster.node}"
        async for event in self.cluster.api.watch(url, 3600.0):
            pod = event["object"]
            name = pod["metadata"].get("name")
            if event["type"] in ("ADDED", "MODIFIED") and name in self.seen:
                found = health_of(pod, self.cluster.id(f"gpu-{self.names.index(name)}"))
                if found is not None and (not self.seen[name] or self.seen[name][-1] != found):
                    self.seen[name].append(found)

    async def close(self):
        self.task.cancel()
        await asyncio.wait({self.task})


class Run:
    """A writer that is started, watched until all it shows is true, and killed."""

    def __init__(self, cluster, root, driver, names):
        self.cluster, self.root, self.driver, self.names = cluster, root, driver, names
        self.truth = [driver.devices[f"gpu-{number}"].health for number in range(len(names))]
        self.at, self.paused = root / "pause-at", root / "paused"

    async def start(self):
        """From here on nothing changes. What is shown may be old; it becomes the truth, and is nothing else in between."""
        for file in (self.at, self.paused):
            file.unlink(missing_ok=True)
        shown = [health_of(await self.cluster.get(name), self.cluster.id(f"gpu-{i}")) for i, name in enumerate(self.names)]
        witness = Witness(self.cluster, self.names)
        environ = {"PAUSE_AT": str(self.at), "PAUSED": str(self.paused)}
        self.child = Child(
            self.cluster, self.root, "--simulate-lifecycle", module="tests.node.pause_points", environ=environ
        ).start()
        await self.child.until_ready()
        for number, name in enumerate(self.names):
            await self.cluster.until_shown(name, self.cluster.id(f"gpu-{number}"), self.truth[number])
        await witness.close()
        for i, name in enumerate(self.names):
            seen = set(witness.seen[name])
            if shown[i] is not None:
                assert seen <= {shown[i], self.truth[i], "Unknown"}
            if self.truth[i] == "Unhealthy" and shown[i] != "Healthy":
                assert "Healthy" not in seen

    async def kill(self, random, point):
        """While health changes; whether that was at the pause point."""
        self.at.write_text(point)
        try:
            for _ in range(400 if point else random.randint(1, 20)):
                if self.paused.exists():
                    break
                number = random.randrange(len(self.names))
                self.truth[number] = random.choice(["Healthy", "Unhealthy"])
                self.driver.set(f"gpu-{number}", self.truth[number], f"change {random.random()}", timeout=3600)
                await asyncio.sleep(random.uniform(0.0, 0.05))
            return self.paused.exists()
        finally:
            self.child.kill()


async def killed(cluster, root, times, seed):
    """How often it was killed at a pause point."""
    random = Random(seed)
    at_a_point = 0
    devices = [Reading(cluster.node, f"gpu-{number}", "Healthy", timeout=3600) for number in range(PODS_OF_IT)]
    async with DraDriver(root, pool=cluster.node, devices=devices) as driver:
        names = []
        for number in range(PODS_OF_IT):
            pod = await cluster.pod(claims=["gpu"])
            await cluster.claim(pod, "gpu", [f"gpu-{number}"])
            names.append(pod["metadata"]["name"])
        driver.set("gpu-0", "Unhealthy", "from the beginning", timeout=3600)
        run = Run(cluster, root, driver, names)
        for number in range(times):
            await run.start()
            at_a_point += await run.kill(random, POINTS[number % len(POINTS)])
            assert Checkpoint(root / "state" / "health", "").load(0.0, 0.0).notes == []
        await run.start()
        assert run.child.stop() == 0
        assert list((root / "state").glob("*.bad-*")) == []
        for line in run.child.log.read_text().splitlines():
            assert json.loads(line)["level"] != "error"
    return at_a_point


@pytest.mark.scenario(105, 107)
@pytest.mark.patience(300)
async def test_killed_fifteen_times(cluster, root):
    assert await killed(cluster, root, 15, 1) >= 6


@pytest.mark.long
@pytest.mark.patience(3600)
async def test_killed_200_times(cluster, root):
    assert await killed(cluster, root, 200, 2) >= 40
