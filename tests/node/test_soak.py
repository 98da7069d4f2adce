"""A long run: many devices, a change a second, a server that restarts. Nothing grows, and in the end everything is right."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from random import Random

import pytest

from podstrat.node.admin import http
from podstrat.node.model import Reading
from podstrat.node.simulator.driver import DraDriver
from podstrat.testing.server import Server
from tests.eventually import eventually_async
from tests.node.child import Child
from tests.node.cluster import PODS, Cluster
from tests.node.fixtures import shown

DEVICES, PODS_OF_IT = 2_000, 100
EACH = DEVICES // PODS_OF_IT


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def memory(pid):
    """Megabytes in use."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


async def health(cluster):
    """What all pods of the node show, by device; nothing while they do not all run."""
    answer = await cluster.call("GET", f"{PODS}?fieldSelector=spec.nodeName%3D{cluster.node}")
    found = {}
    if not all(pod["status"]["phase"] == "Running" for pod in answer["items"]):
        return found
    for pod in answer["items"]:
        for devices in shown(pod).values():
            found |= {name: each[0] if isinstance(each, tuple) else each for name, each in devices.items()}
    return found


async def until_right(cluster, driver):
    wanted = {cluster.id(name): reading.health for name, reading in driver.devices.items()}

    async def is_shown():
        return await health(cluster) == wanted

    await eventually_async(is_shown, 600.0, 0.2)


async def populate(cluster):
    async def one(number):
        pod = await cluster.pod(f"pod-{number}", claims=["gpu"])
        await cluster.claim(pod, "gpu", [f"gpu-{EACH * number + each}" for each in range(EACH)])

    await one(0)
    for start in range(1, PODS_OF_IT, 9):
        await asyncio.gather(*(one(number) for number in range(start, start + 9)))


async def soak(root, changes, period, restarts):
    port = free_port()
    server = Server("--data-dir", str(root / "data"), "--port", str(port))
    random = Random(3)
    devices = [Reading("soaked", f"gpu-{number}", "Healthy", timeout=3600) for number in range(DEVICES)]
    async with DraDriver(root, pool="soaked", devices=devices) as driver:
        with server:
            cluster = Cluster(server, "soaked")
            await populate(cluster)
            async with Child(cluster, root, "--simulate-lifecycle") as child:
                await until_right(cluster, driver)
                admin = child.state / "admin.sock"
                written = (await http.ask(admin, "/status"))["writes"]["written"]
                figures = []
                for number in range(changes):
                    name = f"gpu-{random.randrange(DEVICES)}"
                    driver.set(name, random.choice(["Healthy", "Unhealthy"]), f"change {number}", timeout=3600)
                    await asyncio.sleep(period)
                    if number in restarts:
                        await asyncio.to_thread(server.stop)
                        await asyncio.to_thread(server.start)
                    if number >= changes // 4:
                        figures.append((memory(child.process.pid), descriptors(child.process.pid)))
                await until_right(cluster, driver)

                async def idle():
                    status = await http.ask(admin, "/status")
                    return status if status["backlog"] == 0 else None

                status = await eventually_async(idle, what="no write is left to do")
                assert status["writes"]["written"] - written <= changes
                third = len(figures) // 3
                before, after = figures[:third], figures[-third:]
                assert max(each[0] for each in after) <= max(each[0] for each in before) + 12
                assert min(each[1] for each in after) <= max(each[1] for each in before)
            await cluster.close()


@pytest.mark.patience(300)
async def test_twenty_seconds(root):
    await soak(root, 20, 0.6, {6, 12})


@pytest.mark.long
@pytest.mark.patience(1800)
async def test_ten_minutes(root):
    await soak(root, 600, 1.0, {200, 400})
