"""The matrix: what can happen to a node, and which tests show what we make of it.

    python -m tests.node.scenarios

runs the tests and prints the table. A test says which rows it shows: `@pytest.mark.scenario(17)`.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

GROUPS = {
    "Registration and discovery": {
        1: "a socket exists before the start",
        2: "a socket in a subdirectory",
        3: "hidden names, plain files, FIFOs, dangling links",
        4: "a socket without a listener",
        5: "GetInfo hangs",
        6: "GetInfo returns an unknown type",
        7: "a DRA driver with no version, or none that we know",
        8: "a DRA driver lists v1beta1 before v1",
        9: "a plugin fails at the notification",
        10: "a socket is removed and made again within 50 ms",
        11: "a socket is renamed away",
        12: "two drivers of one name, with different endpoints",
        13: "one endpoint registers twice",
        14: "lost directory events; the directory is made anew",
        15: "a path of more than 107 bytes",
        16: "a device plugin with a wrong version or resource",
    },
    "Health stream, DRA": {
        17: "the first report, all healthy",
        18: "unhealthy, and healthy after 10 s",
        19: "100 flaps within a second",
        20: "the driver is killed, its registration socket stays",
        21: "the driver stops cleanly",
        22: "the driver hangs with its stream open",
        23: "an empty report",
        24: "a report without one device",
        25: "two partial reports",
        26: "timeouts of 5 s and 300 s",
        27: "timeouts of 0, -1, 1, 2^40, 2^62",
        28: "the driver's time is in 1970, in 2100, negative",
        29: "a health that is no health",
        30: "names that are missing, empty, with slashes, a megabyte long",
        31: "a device twice in one report",
        32: "messages that are long, not ASCII, not text, of several lines",
        33: "no protobuf, another service, HTTP/1 on the socket",
        34: "Unimplemented",
        35: "a message of more than 4 MiB",
        36: "10,000 devices, one change a second for 10 minutes",
        37: "20,000 invented names, and new ones each second",
        38: "a driver that speaks faster than we listen",
        39: "v1 and v1alpha1, only one of them",
        40: "the documents' NodeHealth",
        41: "a rolling update",
        42: "a rolling update whose new driver never reports",
        43: "a rolling update whose drivers disagree",
        44: "a new driver without the health service",
    },
    "Health, device plugin": {
        45: "healthy, unhealthy, healthy",
        46: "odd texts for health",
        47: "a device disappears and returns",
        48: "the stream ends",
        49: "the plugin registers again",
        50: "one ID under two resources",
        51: "a device on two NUMA nodes",
        52: "5,000 devices in one container",
        53: "two plugins for one resource",
    },
    "Pod and claim side": {
        54: "two pods share a claim",
        55: "two containers use a claim, one by request",
        56: "a sub-request",
        57: "a claim that is still to be made from its template",
        58: "a claim of the same name with another UID",
        59: "a sidecar with a device",
        60: "an ephemeral container",
        61: "an extended resource served by DRA, in 1.37 and 1.36",
        62: "the device turns bad after the pod has failed",
        63: "the same, when another pod has the device",
        64: "a crash-looping pod",
        65: "the pod is deleted while it is written to",
        66: "a pod of the same name is made",
        67: "a static pod",
        68: "pods of no node, or of another",
        69: "two devices with one CDI ID",
    },
    "Generation": {
        70: "a new pod",
        71: "500 spec updates",
        72: "a change of labels only",
        73: "a spec change during the write",
        74: "the gate is off, with and without a value",
        75: "the server has a higher value",
        76: "a webhook strips the field",
        77: "a graceful delete",
        78: "an old pod without a generation",
    },
    "Permanent failure": {
        79: "permanent at the first prepare",
        80: "transient five times, then success",
        81: "the flag without an error",
        82: "two claims, one permanent",
        83: "another driver instance gets the unprepare",
        84: "unprepare fails three times",
        85: "a restart between the error and the write",
        86: "200 pods with permanent errors",
        87: "the gate off and on again",
        88: "prepare takes too long",
        89: "an answer for an unknown claim, or none for a known one",
    },
    "API server and host": {
        90: "409",
        91: "422 because of one entry",
        92: "429 with Retry-After",
        93: "500, 503, timeouts",
        94: "the write is accepted, the response lost",
        95: "no API server for 30 minutes",
        96: "an expired watch",
        97: "the server drops the field",
        98: "401 when the token rotates",
        99: "another writer of the status",
        100: "the wall clock is set while running",
        101: "the wall clock is set back across a restart",
        102: "suspend and resume",
        103: "a checkpoint that cannot be read",
        104: "a full or read-only disk",
        105: "killed while saving",
        106: "a restart with the drivers up",
        107: "a restart while a device is unhealthy",
        108: "two writers on one node",
        109: "SIGTERM during writes",
        110: "no descriptors left; 1,000 reconnections",
        111: "the kubelet's podresources does not answer",
        112: "nothing changes for an hour",
    },
    "Beside a kubelet": {
        113: "the kubelet shows CDI IDs",
        114: "the kubelet hides a device that shares a CDI ID",
        115: "the kubelet restarts while a device is unhealthy",
        116: "a device plugin, or one of its devices, is gone",
        117: "the kubelet's health is stale after the driver was lost",
        118: "the writer restarts",
        119: "the writer restarts after the pod has failed",
        120: "the kubelet shows a change of a device plugin's device",
        121: "driver-sim prepares by the API's claims and writes CDI specs",
        122: "driver-sim, when the kubelet restarts or comes later",
        123: "driver-sim: devices and instances come and go",
        124: "reports of 100,000 devices",
        125: "entries of claims before and after Prepare",
        126: "a flapping device, and a pod with many events",
        127: "a restart after an event",
    },
    "A simulated node": {
        128: "capacity, Lease and heartbeats",
        129: "a pod that cannot run there",
        130: "resize, and pods on the host network",
        131: "a permanent error beside a kubelet",
    },
}
SCENARIOS = {number: title for rows in GROUPS.values() for number, title in rows.items()}

CANNOT_RUN: dict[int, str] = {}
"""Rows that need what a test machine does not have, and what that is."""
REMARKS = {
    14: "directories are looked into, not watched: there are no events to lose",
    100: "the wall clock is not set: it is shown that nobody asks for it",
    102: "the machine is not suspended: the clock jumps, as CLOCK_BOOTTIME does",
    104: "a limit on the size of files in the place of a full disk",
}


class Recorder:
    """A pytest plugin: what became of the tests of each scenario."""

    def __init__(self) -> None:
        self.results: dict[int, Counter[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "call" or report.outcome != "passed":
            for mark in item.iter_markers("scenario"):
                for number in mark.args:
                    self.results.setdefault(number, Counter())[report.outcome] += 1
        return report


def state(number, results):
    if number in CANNOT_RUN:
        return f"cannot run here: {CANNOT_RUN[number]}"
    counts = results.get(number, Counter())
    if not counts:
        return "no test"
    if set(counts) == {"passed"}:
        return f"passed ({counts['passed']} test{'s' if counts['passed'] > 1 else ''})"
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))


def table(results):
    width = max(map(len, SCENARIOS.values()))
    for group, rows in GROUPS.items():
        yield f"\n{group}"
        for number, title in rows.items():
            remark = f"   {REMARKS[number]}" if number in REMARKS else ""
            yield f"{number:4}  {title:{width}}  {state(number, results)}{remark}"
    states = Counter(state(number, results).partition(" (")[0].partition(":")[0] for number in SCENARIOS)
    yield "\n" + ", ".join(f"{count} {what}" for what, count in sorted(states.items()))


def main() -> int:
    recorder = Recorder()
    code = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", str(Path(__file__).parent)], plugins=[recorder])
    print("\n".join(table(recorder.results)))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
