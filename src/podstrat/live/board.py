"""The board: what the page shows, by key, and what of it has changed since a reader last looked. Bounded.

A removed entry stays as None for a while, so that readers hear of it. One who comes too late for that gets everything anew.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any, NamedTuple

MOST_REMOVED = 2000
"""Removed entries that are kept: as many as one resource has at most, so that a page hears of all of them."""


class Changes(NamedTuple):
    version: int
    anew: bool
    """Whether the entries are all that there are, and not only the changed ones."""
    entries: dict[str, Any]
    """By key; None for one that has been removed."""


class Board:
    def __init__(self) -> None:
        self._news = threading.Condition(threading.RLock())
        self._entries: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        """In the order of their last change."""
        self._version = 0
        self._removed = 0
        self._forgotten = 0
        """The version of the last removal that is not remembered any more."""

    def put(self, key: str, value: Any) -> None:
        """Sets an entry; one that is as it was is not announced."""
        with self._news:
            before = self._entries.get(key)
            if before is not None and before[1] == value:
                return
            self._removed += (value is None) - (before is not None and before[1] is None)
            self._version += 1
            self._entries[key] = self._version, value
            self._entries.move_to_end(key)
            if self._removed > MOST_REMOVED:
                self._forget()
            self._news.notify_all()

    def remove(self, key: str) -> None:
        with self._news:
            if key in self._entries:
                self.put(key, None)

    def keys(self, kind: str) -> list[str]:
        """The entries of a kind that are there, those that changed longest ago first."""
        with self._news:
            return [key for key, (_, value) in self._entries.items() if value is not None and key.startswith(f"{kind}/")]

    def after(self, version: int, seconds: float) -> Changes | None:
        """What has changed since a version, once anything has; None if nothing does in time."""
        until = time.monotonic() + seconds
        with self._news:
            while self._version <= version:
                seconds_left = until - time.monotonic()
                if seconds_left <= 0:
                    return None
                self._news.wait(seconds_left)
            anew = version < self._forgotten or version == 0
            changed: dict[str, Any] = {}
            for key, (when, value) in reversed(self._entries.items()):
                if when <= version and not anew:
                    break
                if not (anew and value is None):
                    changed[key] = value
            return Changes(self._version, anew, dict(reversed(changed.items())))

    def _forget(self) -> None:
        """Drops the older half of what has been removed."""
        gone = [key for key, (_, value) in self._entries.items() if value is None][: MOST_REMOVED // 2]
        for key in gone:
            self._forgotten = max(self._forgotten, self._entries.pop(key)[0])
        self._removed -= len(gone)
