"""Waiting in tests: one polling loop with a deadline, for what happens in another thread or process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(check: Callable[[], T], timeout: float = 120.0, every: float = 0.02, *, what: str = "") -> T:
    """The first true value of ``check``; AssertionError with the last value after ``timeout`` seconds.

    An AssertionError of ``check`` itself counts as not yet, and is raised when the time is up.
    """
    deadline = time.monotonic() + timeout
    while True:
        failure: AssertionError | None = None
        value = None
        try:
            value = check()
            if value:
                return value
        except AssertionError as error:
            failure = error
        if time.monotonic() >= deadline:
            if failure is not None:
                raise failure
            raise AssertionError(f"not within {timeout:g} s: {what or check}; last value: {value!r}")
        time.sleep(every)


async def eventually_async(
    check: Callable[[], T | Awaitable[T]], timeout: float = 60.0, every: float = 0.01, *, what: str = ""
) -> T:
    """The same on an event loop; ``check`` may be a coroutine function."""
    deadline = time.monotonic() + timeout
    while True:
        value = check()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout:g} s: {what or check}; last value: {value!r}")
        await asyncio.sleep(every)
