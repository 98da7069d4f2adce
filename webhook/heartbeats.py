"""Heartbeats of the worker processes: a file each in a shared folder, touched with every turn of the event loop.

The supervising process reads them: for readiness, and to be the last one to end. gunicorn's own heartbeat, which replaces
workers, is readable only in its master process.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

SILENT_SECONDS = 10.0
"""A worker without a heartbeat for so long does not answer. Turns of its loop are at most a second apart."""


class Heartbeats:
    """The heartbeats of one replica."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def beat(self) -> None:
        """Called by a worker process."""
        now = time.monotonic()
        path = self._path(os.getpid())
        try:
            os.utime(path, (now, now))
        except FileNotFoundError:
            path.touch()
            os.utime(path, (now, now))

    def end(self, pid: int) -> None:
        """A worker process ends, or has ended."""
        self._path(pid).unlink(missing_ok=True)

    def seconds(self) -> dict[int, float]:
        """How long ago the last heartbeat of each worker was, by process id."""
        ages = {}
        for path in self._folder.glob("*.beat"):
            with contextlib.suppress(OSError):
                ages[int(path.stem)] = time.monotonic() - path.stat().st_mtime
        return ages

    def answering(self) -> int:
        """How many workers answer."""
        return sum(age < SILENT_SECONDS for age in self.seconds().values())

    def _path(self, pid: int) -> Path:
        return self._folder / f"{pid}.beat"
