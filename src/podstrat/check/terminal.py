"""Terminal support: colours and a progress bar."""

from __future__ import annotations

import os
import sys
import time
from typing import IO

from podstrat.printable import unguarded

COLOURS = ("auto", "always", "never")
WAIT = 0.7
"""Seconds before a bar is shown: whatever is done by then needs none."""
STEP = 0.1  # seconds: as often as the eye follows
WIDTH = 30  # with counts and a name the line fits into 80 columns


def colour(choice: str) -> bool:
    """Whether to use colours on standard output."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(sys.stdout)


def is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


class Progress:
    """A bar on standard error, while a long run lasts, if that is a terminal."""

    def __init__(self, total: int, visible: bool) -> None:
        self._total = total
        self._done = 0
        self._drawn = False
        self._on = visible and is_terminal(sys.stderr)
        self._next = time.monotonic() + WAIT

    def add(self, size: int) -> None:
        self._done += size
        if self._on and time.monotonic() >= self._next:
            self._next = time.monotonic() + STEP
            self._show()

    def clear(self) -> None:
        """Make room for output: both may be the same terminal."""
        if self._drawn:
            unguarded(sys.stderr).write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def _show(self) -> None:
        megabytes = f"{self._done / 1e6:.1f} MB"
        if self._total:
            share = min(self._done / self._total, 1)
            bar = "#" * int(share * WIDTH)
            text = f"checking [{bar:{WIDTH}}] {megabytes} of {self._total / 1e6:.1f} MB"
        else:
            text = f"checking {megabytes}"
        unguarded(sys.stderr).write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self._drawn = True
