"""The texts of stored objects that are kept, up to a number of bytes: the oldest gives way, and is made again when it is read."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Protocol

MOST_BYTES = 1 << 26
"""Of all texts together: sixteen thousand pods of 4 KB. The objects themselves take several times their text."""


class Keeper(Protocol):
    """Who keeps a text."""

    def forget(self) -> None: ...


class Texts:
    """Counts the texts that are kept. It keeps no keeper alive: whose object has left the store is gone with its text."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: deque[tuple[weakref.ref[Keeper], int]] = deque()
        self._size = 0

    def add(self, keeper: Keeper, size: int) -> None:
        """Counts a text that was made now. One larger than all may be is not kept at all."""
        with self._lock:
            self._kept.append((weakref.ref(keeper), size))
            self._size += size
            while self._size > self._most:
                oldest, size = self._kept.popleft()
                self._size -= size
                if (known := oldest()) is not None:
                    known.forget()
