"""Snapshots of a store, by name: for tests that go back to what was there before them. Kept in memory, and bounded."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Any, Final

from podstrat.apiserver.storage.journal import Place
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors

Objects = Mapping[Place, dict[str, Any]]

MOST: Final = 100
"""How many snapshots are kept. Objects that have changed since are kept with each: tests drop theirs when they are done."""


class Snapshots:
    """May be used from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._taken: dict[str, Objects] = {}

    def take(self) -> str:
        """Remembers every object as it is now; the name of the snapshot."""
        taken = self._store.snapshot()
        with self._lock:
            if len(self._taken) >= MOST:
                raise errors.TooManyRequests(f"there are {MOST} snapshots: drop one before another is taken", {})
            name = str(next(self._numbers))
            self._taken[name] = taken
        return name

    def get(self, name: str) -> Objects:
        try:
            return self._taken[name]
        except KeyError:
            raise errors.NotFound("snapshots", name) from None

    def drop(self, name: str) -> None:
        with self._lock:
            self._taken.pop(name, None)
