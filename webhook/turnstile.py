"""How many may be inside at a time, and how many may wait for it. Whoever comes after them is told at once."""

from __future__ import annotations

import threading


class Turnstile:
    """A few work, a few wait, the rest are turned away: late answers help nobody, and make those behind them late as well."""

    def __init__(self, inside: int, waiting: int) -> None:
        self._free = threading.Semaphore(inside)
        self._lock = threading.Lock()
        self._room = waiting

    def enter(self, patience: float) -> bool:
        """Whether there is a place within so many seconds. Whoever got one leaves in the end."""
        if self._free.acquire(blocking=False):
            return True
        with self._lock:
            if self._room <= 0:
                return False
            self._room -= 1
        try:
            return self._free.acquire(timeout=patience)
        finally:
            with self._lock:
                self._room += 1

    def leave(self) -> None:
        self._free.release()
