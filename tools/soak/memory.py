"""Resident memory of a process and its descendants over time, and whether it is flat."""

from __future__ import annotations

import os
import statistics
import threading
from pathlib import Path

PERIOD = 1.0
"""Seconds between two samples."""
GROWTH = 1.10
"""Flat: the median of the last quarter is at most this multiple of the second's. Arenas of malloc settle by a few per cent."""


class Memory(threading.Thread):
    """Samples the memory of a process group until it is stopped."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._stopped = threading.Event()
        self.samples: list[float] = []

    def run(self) -> None:
        while not self._stopped.wait(PERIOD):
            if megabytes := resident(self._pid):
                self.samples.append(megabytes)

    def stop(self) -> None:
        self._stopped.set()
        self.join()

    @property
    def quarters(self) -> list[float]:
        """The median of each quarter of the run, in MB."""
        size = max(1, len(self.samples) // 4)
        return [statistics.median(self.samples[number * size : (number + 1) * size] or [0.0]) for number in range(4)]

    @property
    def is_flat(self) -> bool:
        _, second, _, last = self.quarters
        return last <= second * GROWTH

    def __str__(self) -> str:
        quarters = ", ".join(f"{megabytes:.0f}" for megabytes in self.quarters)
        return f"memory by quarter: {quarters} MB, peak {max(self.samples, default=0):.0f} MB"


def resident(root: int) -> float:
    """Megabytes in use by a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            pages[int(entry.name)] = int((entry / "statm").read_text().split()[1])
        except OSError:
            continue  # gone meanwhile
        parents.setdefault(parent, []).append(int(entry.name))
    total, queue = 0, [root]
    while queue:
        pid = queue.pop()
        total += pages.get(pid, 0)
        queue += parents.get(pid, [])
    return total * os.sysconf("SC_PAGE_SIZE") / 1e6
