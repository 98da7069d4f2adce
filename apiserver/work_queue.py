"""What is still to be done, each thing once, in the order in which it came; what failed waits longer each time.

Upstream: workqueue.TypedRateLimitingInterface, ItemExponentialFailureRateLimiter
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from typing import Final, Generic, TypeVar

T = TypeVar("T")

FIRST_DELAY: Final = 0.005
LAST_DELAY: Final = 1000.0
"""Seconds until something that failed is tried again: the first time, and at most; in between twice as many each time.

Upstream: DefaultTypedControllerRateLimiter
"""


class WorkQueue(Generic[T]):
    """For one thread. Time is an argument, in seconds of any clock that only goes forward."""

    def __init__(self) -> None:
        # Not a dict: the first key of one is found behind all those that were deleted before it.
        self._ready: OrderedDict[T, None] = OrderedDict()
        self._failures: dict[T, int] = {}
        self._later: list[tuple[float, int, T]] = []
        self._number = itertools.count()

    def __len__(self) -> int:
        return len(self._ready) + len(self._later)

    def add(self, item: T) -> None:
        self._ready[item] = None

    def next(self, now: float) -> T | None:
        """The next one whose time has come; None if there is none."""
        while self._later and self._later[0][0] <= now:
            self.add(heapq.heappop(self._later)[2])
        if not self._ready:
            return None
        return self._ready.popitem(last=False)[0]

    def due(self, now: float) -> float | None:
        """In how many seconds next() has something; None: not before something is added."""
        if self._ready:
            return 0.0
        return max(0.0, self._later[0][0] - now) if self._later else None

    def failed(self, item: T, now: float) -> None:
        """To be tried again, later than the last time."""
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        delay = min(LAST_DELAY, FIRST_DELAY * 2.0 ** min(failures, 60))
        heapq.heappush(self._later, (now + delay, next(self._number), item))

    def done(self, item: T) -> None:
        self._failures.pop(item, None)
