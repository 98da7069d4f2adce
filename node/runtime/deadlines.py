"""A priority queue of deadlines that move.

Deadlines are postponed all the time (each report refreshes thousands of devices) and rarely expire. So an item is queued once,
under the deadline it had then; when that is reached, it either is due or is queued again under the newer one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Protocol

NEVER = math.inf


class Mortal(Protocol):
    """Something with a deadline. `queued` belongs to the queue: the earliest time under which the thing stands in it."""

    deadline: float
    queued: float


class Deadlines:
    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Mortal]] = []
        self._serial = 0
        self._void = 0
        """How many in the heap are of no use any more; an estimate from above."""

    def __len__(self) -> int:
        return len(self._heap)

    def watch(self, thing: Mortal) -> None:
        """Call after the deadline was set. Costs nothing if it was only put off."""
        if thing.deadline >= thing.queued:
            return
        if thing.queued != NEVER:
            self._void += 1
        self._push(thing)

    def forget(self, thing: Mortal) -> None:
        """It will never be due."""
        thing.deadline = NEVER
        if thing.queued == NEVER:
            return
        thing.queued = NEVER
        self._void += 1
        if self._void > 64 and self._void * 2 > len(self._heap):
            self._sweep()

    def next(self) -> float:
        """When to ask for what is due. Nothing may be due then, but nothing is due earlier."""
        return self._heap[0][0] if self._heap else NEVER

    def due(self, now: float) -> Iterator[Mortal]:
        """What is due now, and in the queue no more."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            when, _, thing = heapq.heappop(heap)
            if thing.queued != when:
                self._void = max(0, self._void - 1)
            elif thing.deadline > now:
                thing.queued = NEVER
                if thing.deadline != NEVER:
                    self._push(thing)
            else:
                thing.queued = NEVER
                yield thing

    def _push(self, thing: Mortal) -> None:
        self._serial += 1
        thing.queued = thing.deadline
        heapq.heappush(self._heap, (thing.deadline, self._serial, thing))

    def _sweep(self) -> None:
        self._heap = [item for item in self._heap if item[2].queued == item[0]]
        heapq.heapify(self._heap)
        self._void = 0
