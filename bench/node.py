"""How the node side's work grows with the number of devices. Ratios within one run; processor time, the best of several rounds.

python bench/node.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# This file has the name of what it measures, and would be found in its place.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from node import status
from node.checkpoint import Checkpoint
from node.claims import Claims, Settings
from node.health import Health
from node.protocols import streams
from node.reports import Reading, Registered, Report, Session

DRIVER, NODE = "gpu.example.com", "node-1"
SESSION = Session(DRIVER, "/dra.sock", 1)
SIZES = (100, 1_000, 10_000)

ONE_CHANGE = 1.5
"""One changed device with 10,000 devices, over the same with 100."""
EACH_DEVICE = 1.5
"""The dearest device of a full report over the cheapest, over all sizes."""


def readings(count: int, health: str = "Healthy") -> list[Reading]:
    return [Reading(NODE, f"gpu-{number}", health, "", 3600) for number in range(count)]


def node(devices: int) -> tuple[Health, Claims]:
    """A node with so many devices, a pod for every eight of them."""
    health = Health()
    health.take(Registered(DRIVER, SESSION.endpoint, True), 0.0)
    health.take(Report(SESSION, readings(devices), False), 0.0)
    claims = Claims(Settings(NODE), health.look)
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
        assert status.patch(share.pod, share.holdings, share.verdicts, status.Settings())

    return run


def full_report(devices: int) -> Callable[[int], None]:
    """From the bytes of a report about all devices, none of which has changed, to the end of its being taken in."""
    health, _ = node(devices)
    message = streams.V1.write(readings(devices)).SerializeToString()
    read, response = streams.V1.read, streams.V1.method.response

    def run(number: int) -> None:
        assert not health.take(Report(SESSION, read(response.FromString(message)), False), 1.0 + number * 1e-3).changed

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds

    changes = {size: best(one_change(size), 2_000, rounds) for size in (SIZES[0], SIZES[-1])}
    ratio = changes[SIZES[-1]] / changes[SIZES[0]]
    print("one changed device, from the parsed report to the patch")
    for size, seconds in changes.items():
        print(f"  {size:6,} devices  {seconds * 1e6:8.1f} us")
    print(f"  ratio {ratio:.2f}, budget {ONE_CHANGE}")

    each = {size: best(full_report(size), max(3, 30_000 // size), rounds) / size for size in SIZES}
    spread = max(each.values()) / min(each.values())
    print("each device of a full report, from its bytes")
    for size, seconds in each.items():
        print(f"  {size:6,} devices  {seconds * 1e6:8.2f} us")
    print(f"  spread {spread:.2f}, budget {EACH_DEVICE}")

    processor, wall, length = save(SIZES[-1], rounds)
    print(f"a checkpoint of {SIZES[-1]:,} devices")
    print(f"  {processor * 1e3:.1f} ms of processor, {wall * 1e3:.1f} ms in all, {length / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
