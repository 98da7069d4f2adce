"""Drill of the node writer: reports of 100,000 devices, one a second for a minute. Prints peak RSS and the longest healthz.

    python -m tools.drill_node [--seconds 60] [--devices 100000]

A server, the writer and a driver, each as a process or on sockets of its own. Exit code 1: a limit was exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from podstrat.node.drivers.protocols import streams
from podstrat.node.model import HEALTHY, Reading
from podstrat.node.simulator.driver import DraDriver
from podstrat.testing.server import Server

RSS_LIMIT = 160.0
"""MB: well below the DaemonSet's limit of 256 Mi."""
HEALTHZ_LIMIT = 1.0
"""Seconds: a third of the probe's timeout."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--devices", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="n") as folder, Server() as server:
        return asyncio.run(drill(Path(folder), str(server.kubeconfig), args.seconds, args.devices))


async def drill(root: Path, kubeconfig: str, seconds: int, devices: int) -> int:
    ready, log = root / "ready", (root / "log").open("wb")
    command = [sys.executable, "-m", "podstrat", "node", "--node", "node-1", "--root", str(root), "--kubeconfig", kubeconfig]
    command += ["--state-dir", str(root / "state"), "--metrics", "127.0.0.1:0", "--ready-file", str(ready)]
    message = streams.V1.write(Reading("node-1", f"gpu-{number}", HEALTHY, timeout=30) for number in range(devices))
    data = message.SerializeToString()
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        async with DraDriver(root, devices=[]) as driver:
            while not ready.exists():
                await asyncio.sleep(0.05)
            await driver.audience.until(1)
            idle = rss(process.pid, "VmRSS")
            slowest = asyncio.ensure_future(probe(int(ready.read_text().split()[1]), seconds))
            before, taken = cpu(process.pid), driver.audience.taken
            for _ in range(seconds):
                driver.audience.send(data)
                await asyncio.sleep(1.0)
            longest, probes = await slowest
            used, reports = cpu(process.pid) - before, driver.audience.taken - taken
        peak = rss(process.pid, "VmHWM")
    finally:
        process.terminate()
        process.wait(30)
    print(f"report: {devices} devices, {len(data) / 1e6:.1f} MB; {reports} reports taken in {seconds} s")
    print(f"RSS: {idle:.0f} MB idle, {peak:.0f} MB peak (limit {RSS_LIMIT:.0f})")
    print(f"healthz: {longest * 1000:.0f} ms longest of {probes} (limit {HEALTHZ_LIMIT * 1000:.0f})")
    print(f"CPU: {used / max(1, reports) * 1000:.0f} ms a report")
    return int(peak > RSS_LIMIT or longest > HEALTHZ_LIMIT)


async def probe(port: int, seconds: int) -> tuple[float, int]:
    """The longest time that a healthz took, and how many there were."""
    longest, count, until = 0.0, 0, time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.read()
        writer.close()
        longest, count = max(longest, time.perf_counter() - began), count + 1
        await asyncio.sleep(0.05)
    return longest, count


def rss(pid: int, field: str) -> float:
    """MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def cpu(pid: int) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    sys.exit(main())
