"""Concurrency limiter: N reviews active, M queued, the rest rejected with 503."""

from __future__ import annotations

import threading
import time


class Limiter:
    """Bounds the reviews of one process. An answer that is too late is of no use, and delays those queued behind it."""

    def __init__(self, active: int, queued: int) -> None:
        self._limit, self._queue = active, queued
        self._slots = threading.Semaphore(active)
        self._lock = threading.Lock()
        self._places = queued
        self._began: dict[int, float] = {}
        """When the active review of each thread began."""

    def acquire(self, timeout: float) -> bool:
        """Takes a slot, waiting in the queue for at most ``timeout`` seconds; False if there is none. Pair with `release`."""
        if self._slots.acquire(blocking=False):
            self._began[threading.get_ident()] = time.monotonic()
            return True
        with self._lock:
            if self._places <= 0:
                return False
            self._places -= 1
        try:
            acquired = self._slots.acquire(timeout=timeout)
        finally:
            with self._lock:
                self._places += 1
        if acquired:
            self._began[threading.get_ident()] = time.monotonic()
        return acquired

    def release(self) -> None:
        self._began.pop(threading.get_ident(), None)
        self._slots.release()

    @property
    def oldest(self) -> float | None:
        """When the review that has been active longest began, on the monotonic clock."""
        return min(list(self._began.values()), default=None)

    @property
    def active(self) -> int:
        return self._limit - self._slots._value

    @property
    def queued(self) -> int:
        return self._queue - self._places
