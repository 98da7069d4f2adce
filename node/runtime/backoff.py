"""Exponential back-off with jitter."""

from __future__ import annotations

from random import Random


class Backoff:
    """Delays that double from `first` to `longest`, each spread over its upper half."""

    def __init__(self, first: float, longest: float, random: Random) -> None:
        self.first = first
        self.longest = longest
        self._random = random
        self._next = first

    def next(self) -> float:
        delay = self._next
        self._next = min(delay * 2, self.longest)
        return delay * self._random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """After a success: starts again with `first`."""
        self._next = self.first
