"""The latest decisions of webhooks, for those who watch: whom a webhook was asked about, what it said, how long it took.

Names and words only, nothing of an object. A reader asks for what came after the number that it has, and may wait for it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, NamedTuple

KEPT = 500
"""Decisions; the live view shows fewer, and asks again for what came since."""
LONGEST_MESSAGE = 1024  # characters, as the live view shows of any text
LONGEST_WAIT = 30.0  # seconds: half of deadline.REQUEST_SECONDS
READERS = 16
"""Those who may wait at the same time: each holds a thread. Further ones are answered at once."""
POLL = 0.25
"""Seconds after which a waiting reader sees that the server stops: a signal handler may not take the lock to wake it."""
ALLOWED, PATCHED, DENIED, FAILED, FAILED_OPEN = "allowed", "patched", "denied", "failed", "failed open"


class Decision(NamedTuple):
    """One call of one webhook, and what came of it."""

    time: float
    configuration: str
    webhook: str
    mutating: bool
    operation: str
    resource: str
    """With its subresource: pods/status."""
    namespace: str
    name: str
    user: str
    decision: str
    """allowed, patched, denied, failed or failed open."""
    message: str
    milliseconds: float
    dry_run: bool


class Decisions:
    """A bounded log with numbers from 1."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._decisions: deque[Decision] = deque(maxlen=KEPT)
        self._last = 0
        self._over = False
        self._readers = threading.BoundedSemaphore(READERS)

    def add(self, decision: Decision) -> None:
        with self._news:
            self._decisions.append(decision._replace(message=decision.message[:LONGEST_MESSAGE]))
            self._last += 1
            self._news.notify_all()

    def after(self, number: int, seconds: float = 0.0) -> dict[str, Any]:
        """The decisions behind a number, once there are any or the time is up. A number that is not reached yet reads as 0."""
        if seconds > 0 and self._readers.acquire(blocking=False):
            try:
                self._wait(number, min(seconds, LONGEST_WAIT))
            finally:
                self._readers.release()
        with self._news:
            number = number if 0 <= number <= self._last else 0
            first = self._last - len(self._decisions)
            decisions = list(self._decisions)[max(number - first, 0) :]
            return {"last": self._last, "items": [each._asdict() for each in decisions]}

    def _wait(self, number: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._news:
            while self._last == number and not self._over and (remaining := until - time.monotonic()) > 0:
                self._news.wait(min(remaining, POLL))

    def hang_up(self) -> None:
        """Ends every wait."""
        self._over = True
