"""Progress on standard error: a line for each kind, and on a terminal the count while it is read."""

from __future__ import annotations

import sys
import time

from podstrat.check.terminal import is_terminal
from podstrat.printable import unguarded

STEP = 0.2
"""Seconds between two counts on a terminal."""


class Progress:
    def __init__(self, visible: bool) -> None:
        self._visible = visible
        self._live = visible and is_terminal(sys.stderr)
        self._kind = ""
        self._done = self._refused = 0
        self._drawn = False
        self._next = 0.0

    def begin(self, kind: str) -> None:
        self._kind, self._done, self._refused = kind, 0, 0

    def add(self, objects: int, refused: int, remaining: int) -> None:
        self._done += objects
        self._refused += refused
        if self._live and time.monotonic() >= self._next:
            self._next = time.monotonic() + STEP
            of = f" of {self._done + remaining}" if remaining else ""
            unguarded(sys.stderr).write(f"\r{self._kind}: {self._done}{of}, refused: {self._refused}\x1b[K")
            sys.stderr.flush()
            self._drawn = True

    def restarted(self) -> None:
        self.say(f"{self._kind}: the continue token has expired (410); the list is read from the beginning")

    def end(self) -> None:
        self.say(f"{self._kind}: {self._done} read, {self._refused} refused")

    def say(self, text: str) -> None:
        self.clear()
        if self._visible:
            print(f"podstrat: {text}", file=sys.stderr)

    def clear(self) -> None:
        """Makes room for output: both may be the same terminal."""
        if self._drawn:
            unguarded(sys.stderr).write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False
