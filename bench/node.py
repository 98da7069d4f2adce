"""How the node side's work grows with the number of devices, and how long a change takes from the driver to the pod's status.

Ratios within one run: of processor time, the best of several rounds; of real time, the median and the 99th percentile.

python -m bench.node [--rounds 5] [--changes 200]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# This file has the name of what it measures, and would be found in its place.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import Plot, Result, Row
from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.answer import JSON_PATCH
from podstrat.node.admin import http
from podstrat.node.drivers.protocols import streams
from podstrat.node.model import Reading, Registered, Report, Session
from podstrat.node.runtime.clock import BootClock
from podstrat.node.server.client import ApiClient
from podstrat.node.simulator.driver import DraDriver
from podstrat.node.state.checkpoint import Checkpoint
from podstrat.node.state.health import Health
from podstrat.node.state.inventory import Inventory, Settings
from podstrat.node.status import patch
from podstrat.testing.server import Server

DRIVER, NODE = "gpu.example.com", "node-1"
SESSION = Session(DRIVER, "/dra.sock", 1)
SIZES = (100, 1_000, 10_000)

ONE_CHANGE = 1.5
"""One changed device with 10,000 devices, over the same with 100."""
EACH_DEVICE = 1.5
"""The dearest device of a full report over the cheapest, over all sizes."""
MESSAGE_TO_STATUS = 3.0
"""From a driver's message to the pod's status in the embedded server, over a bare PATCH: the median."""
FLAPS = 5
"""Writes for 100 flaps within a second."""
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
HOLDERS = 5
"""Pods with a device: the changes go round, so that each is changed seldom enough to be written at once."""


def readings(count: int, health: str = "Healthy") -> list[Reading]:
    return [Reading(NODE, f"gpu-{number}", health, "", 3600) for number in range(count)]


def node(devices: int) -> tuple[Health, Inventory]:
    """A node with so many devices, a pod for every eight of them."""
    health = Health()
    health.take(Registered(DRIVER, SESSION.endpoint, True), 0.0)
    health.take(Report(SESSION, readings(devices), False), 0.0)
    claims = Inventory(Settings(NODE), health.look)
    for source in ("pods", "claims"):
        claims.listed(source)
    for number in range(devices // 8):
        claims.pod_seen(pod(number), 0.0)
        claims.claim_seen(claim(number), 0.0)
    return health, claims


def pod(number: int) -> dict[str, object]:
    container = {"name": "main", "image": "a:1", "resources": {"claims": [{"name": "gpu"}]}}
    return {
        "metadata": {"name": f"pod-{number}", "namespace": "default", "uid": f"uid-{number}", "generation": 1},
        "spec": {
            "nodeName": NODE,
            "containers": [container],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": f"claim-{number}"}],
        },
        "status": {"phase": "Running", "observedGeneration": 1, "containerStatuses": [{"name": "main"}]},
    }


def claim(number: int) -> dict[str, object]:
    results = [{"request": "gpu", "driver": DRIVER, "pool": NODE, "device": f"gpu-{8 * number + each}"} for each in range(8)]
    return {
        "metadata": {"name": f"claim-{number}", "namespace": "default", "uid": f"claim-{number}"},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [{"uid": f"uid-{number}"}]},
    }


def one_change(devices: int) -> Callable[[int], None]:
    """From the parsed report to the patch of the pod's status."""
    health, claims = node(devices)

    def run(number: int) -> None:
        now = 1.0 + number * 1e-6
        reading = Reading(NODE, f"gpu-{number % (devices // 8 * 8)}", "Unhealthy", f"change {number}", 3600)
        changed = health.take(Report(SESSION, [reading], False), now).changed
        (uid,) = claims.pods_using(changed, now)
        share = claims.share(uid, now)
        assert share is not None
        assert patch.guarded(share.pod, share.holdings, share.verdicts, patch.Settings())

    return run


def full_report(devices: int) -> Callable[[int], None]:
    """From the bytes of a report about all devices, none of which has changed, to the end of its being taken in."""
    health, _ = node(devices)
    message = streams.V1.write(readings(devices)).SerializeToString()
    read, response = streams.V1.read, streams.V1.method.response

    def run(number: int) -> None:
        assert not health.take(
            Report(SESSION, read(response.FromString(message), streams.EVERYTHING.admission()), False), 1.0 + number * 1e-3
        ).changed

    return run


def best(run: Callable[[int], None], times: int, rounds: int) -> float:
    """Seconds of one run, in the best round."""
    found, number = float("inf"), 0
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            number += 1
            run(number)
        found = min(found, (time.process_time() - start) / times)
    return found


def save(devices: int, rounds: int) -> tuple[float, float, int]:
    """Seconds of processor and of wall time for one checkpoint, and its size in bytes."""
    health, _ = node(devices)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder) / "health", "boot")
        figures = []
        for _ in range(rounds):
            start, wall = time.process_time(), time.perf_counter()
            checkpoint.save({"health": health.rows(1.0)}, 1.0, 1.0)
            figures.append((time.process_time() - start, time.perf_counter() - wall))
        return min(each[0] for each in figures), min(each[1] for each in figures), checkpoint.path.stat().st_size


class Bench:
    """An embedded server, a node writer, and a driver in this process."""

    def __init__(self, server: Server, root: Path, driver: DraDriver) -> None:
        self.root, self.driver = root, driver
        self.api = ApiClient(kubeconfig.load(server.kubeconfig), BootClock(), timeout=30.0)
        self.kubeconfig = server.kubeconfig
        self.changed = asyncio.Event()
        self.told: set[str] = set()

    async def send(self, method: str, path: str, body: object, kind: str = "application/json") -> None:
        answer = await self.api.request(method, path, body, kind)
        assert answer.code in (200, 201), answer.text

    async def pods(self) -> None:
        for number in range(HOLDERS):
            made = pod(number)
            spec = {**made["spec"], "containers": [{"name": "main", "image": "a:1", "resources": {"claims": [{"name": "gpu"}]}}]}  # type: ignore[dict-item]
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}
            answer = await self.api.request("POST", PODS, body)
            request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
            meta = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": f"claim-{number}"}}
            await self.send("POST", CLAIMS, {**meta, "spec": {"devices": {"requests": [request]}}})
            result = {"request": "gpu", "driver": DRIVER, "pool": NODE, "device": f"gpu-{number}"}
            given = {"allocation": {"devices": {"results": [result]}}}
            given["reservedFor"] = [{"resource": "pods", "name": f"pod-{number}", "uid": answer.body["metadata"]["uid"]}]  # type: ignore[assignment]
            await self.send("PATCH", f"{CLAIMS}/claim-{number}/status", {"status": given}, "application/merge-patch+json")

    async def watch(self) -> None:
        async for event in self.api.watch(f"{PODS}?watch=1", 3600.0):
            for container in event["object"].get("status", {}).get("containerStatuses") or ():
                for entry in container.get("allocatedResourcesStatus") or ():
                    self.told.update(each.get("message", "") for each in entry["resources"])
            self.changed.set()

    async def until_told(self, message: str) -> None:
        while message not in self.told:
            self.changed.clear()
            await self.changed.wait()

    async def to_status(self, number: int) -> float:
        """Seconds from the driver's word to the watch that tells of it."""
        start = time.perf_counter()
        self.driver.set(f"gpu-{number % HOLDERS}", "Unhealthy", f"change {number}", 3600)
        await self.until_told(f"change {number}")
        return time.perf_counter() - start

    async def bare(self, number: int) -> float:
        """Seconds for a patch of the same kind, of a pod without a writer, to its answer."""
        devices = [{"resourceID": "gpu", "health": "Unhealthy", "message": f"bare {number}"}]
        path = "/status/containerStatuses/0/allocatedResourcesStatus"
        body = [{"op": "add", "path": path, "value": [{"name": "claim:gpu", "resources": devices}]}]
        start = time.perf_counter()
        await self.send("PATCH", f"{PODS}/bare/status", body, JSON_PATCH)
        return time.perf_counter() - start

    async def make_bare(self) -> None:
        claims = [{"name": "gpu", "resourceClaimName": "x"}]
        container = {"name": "main", "image": "a:1", "resources": {"claims": [{"name": "gpu"}]}}
        spec = {"nodeName": "elsewhere", "containers": [container], "resourceClaims": claims}
        await self.send("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare"}, "spec": spec})
        running = {"name": "main", "image": "a:1", "imageID": "a", "ready": True, "restartCount": 0, "state": {}}
        body = [{"op": "add", "path": "/status/containerStatuses", "value": [running]}]
        await self.send("PATCH", f"{PODS}/bare/status", body, JSON_PATCH)

    async def flaps(self) -> int:
        """How many writes a hundred changes of one device within a second lead to."""
        admin = self.root / "state" / "admin.sock"
        await asyncio.sleep(2.0)
        before = (await http.ask(admin, "/status"))["writes"]["written"]
        for number in range(100):
            self.driver.set("gpu-0", "Healthy" if number % 2 else "Unhealthy", f"flap {number}", 3600)
            await asyncio.sleep(0.0095)
        await self.until_told("flap 99")
        await asyncio.sleep(1.0)
        return int((await http.ask(admin, "/status"))["writes"]["written"]) - int(before)


async def real_time(changes: int) -> tuple[list[float], list[float], int]:
    """Seconds of each change and of each bare patch, and the writes for a hundred flaps."""
    with tempfile.TemporaryDirectory(prefix="n") as folder, Server() as server:
        root = Path(folder)
        async with DraDriver(root, DRIVER, 8, pool=NODE) as driver:
            bench = Bench(server, root, driver)
            await bench.pods()
            await bench.make_bare()
            options = ["--node", NODE, "--root", folder, "--state-dir", f"{folder}/state", "--kubeconfig", str(bench.kubeconfig)]
            command = [sys.executable, "-m", "podstrat", "node", "--simulate-lifecycle", "--log-level", "error", *options]
            process = subprocess.Popen(command)
            watching = asyncio.ensure_future(bench.watch())
            try:
                driver.set("gpu-0", "Unhealthy", "begin", 3600)
                await bench.until_told("begin")
                await asyncio.sleep(2.0)
                whole, bare = [], []
                for number in range(changes):
                    bare.append(await bench.bare(number))
                    whole.append(await bench.to_status(number))
                    await asyncio.sleep(0.6 / HOLDERS)
                return whole[changes // 10 :], bare[changes // 10 :], await bench.flaps()
            finally:
                watching.cancel()
                process.send_signal(signal.SIGTERM)
                process.wait()
                await bench.api.close()


def percentile(figures: list[float], share: float) -> float:
    return sorted(figures)[min(len(figures) - 1, int(len(figures) * share))]


def measure_real_time(changes: int) -> list[Row]:
    whole, bare, writes = asyncio.run(real_time(changes))
    median, bare_median = percentile(whole, 0.5), percentile(bare, 0.5)
    tail, bare_tail = percentile(whole, 0.99), percentile(bare, 0.99)
    print("from a driver's message to the pod's status, and a bare PATCH")
    print(
        f"  median {median * 1e3:.1f} ms, bare {bare_median * 1e3:.1f} ms: {median / bare_median:.2f}, budget {MESSAGE_TO_STATUS}"
    )
    print(f"  p99 {tail * 1e3:.1f} ms, bare {bare_tail * 1e3:.1f} ms; budget {(2 * bare_tail + median) * 1e3:.1f} ms")
    print(f"100 flaps within a second\n  {writes} writes, budget {FLAPS}")
    limit = "twice the bare one's and the median"
    return [
        Row("driver's message to the pod's status, median", median / bare_median, "a bare PATCH", MESSAGE_TO_STATUS),
        Row("driver's message to the pod's status, p99", tail / (2 * bare_tail + median), limit, 1.0),
        Row("100 flaps within a second", writes, "writes", FLAPS),
    ]


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--changes", type=int, default=200)
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    lines: dict[str, dict[int, float]] = {"one changed device": {}, "a full report, nothing changed": {}}
    plot = Plot("The node writer's work", "devices", "µs", lines, logarithmic=True)
    change, report = lines.values()
    rows = [measure_change(args.rounds, change), measure_report(args.rounds, report), measure_checkpoint(args.rounds)]
    return Result([*rows, *measure_real_time(args.changes)], plot)


def measure_change(rounds: int, line: dict[int, float]) -> Row:
    changes = {size: best(one_change(size), 2_000, rounds) for size in SIZES}
    ratio = changes[SIZES[-1]] / changes[SIZES[0]]
    print("one changed device, from the parsed report to the patch")
    for size, seconds in changes.items():
        print(f"  {size:6,} devices  {seconds * 1e6:8.1f} us")
        line[size] = seconds * 1e6
    print(f"  ratio {ratio:.2f}, budget {ONE_CHANGE}")
    return Row(f"one changed device among {SIZES[-1]:,}", ratio, f"the same among {SIZES[0]}", ONE_CHANGE)


def measure_report(rounds: int, line: dict[int, float]) -> Row:
    each = {size: best(full_report(size), max(3, 30_000 // size), rounds) / size for size in SIZES}
    spread = max(each.values()) / min(each.values())
    print("each device of a full report, from its bytes")
    for size, seconds in each.items():
        print(f"  {size:6,} devices  {seconds * 1e6:8.2f} us")
        line[size] = seconds * size * 1e6
    print(f"  spread {spread:.2f}, budget {EACH_DEVICE}")
    sizes = f"{SIZES[0]} to {SIZES[-1]:,}"
    return Row(f"each device of a full report, {sizes}: the dearest", spread, "the cheapest", EACH_DEVICE)


def measure_checkpoint(rounds: int) -> Row:
    processor, wall, length = save(SIZES[-1], rounds)
    print(f"a checkpoint of {SIZES[-1]:,} devices")
    print(f"  {processor * 1e3:.1f} ms of processor, {wall * 1e3:.1f} ms in all, {length / 1e6:.2f} MB")
    return Row(f"a checkpoint of {SIZES[-1]:,} devices", wall * 1e3, "ms")


if __name__ == "__main__":
    result(arguments())
