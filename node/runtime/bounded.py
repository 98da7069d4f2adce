"""A queue that is bounded by the size of its items, not by their number."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    """First in, first out. `put` waits while the items together are larger than the limit; one item always fits."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        """Sum of the sizes of the items that wait."""
        self._items: deque[tuple[T, int]] = deque()
        self._moved = asyncio.Condition()

    def __len__(self) -> int:
        return len(self._items)

    async def put(self, item: T, size: int = 0) -> None:
        async with self._moved:
            while self._items and self.size + size > self.limit:
                await self._moved.wait()
            self._items.append((item, size))
            self.size += size
            self._moved.notify_all()

    async def get(self) -> T:
        async with self._moved:
            while not self._items:
                await self._moved.wait()
            item, size = self._items.popleft()
            self.size -= size
            self._moved.notify_all()
            return item
