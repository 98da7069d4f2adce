"""Watchdog process: if the parent is killed, it terminates the child processes and removes the folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

DISMISSED = "dismissed"
PATIENCE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
POLL = 0.05  # seconds: the parent's end is noticed before its folder is missed


class Guard:
    """Receives every process group that is started. A pipe that closes before ``dismiss`` means that the parent was killed."""

    def __init__(self, folder: Path) -> None:
        command = (sys.executable, "-P", "-m", "podstrat.up.guard", str(folder))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def over(self, group: int) -> None:
        """Add a process group."""
        self._tell(str(group))

    def dismiss(self) -> None:
        """Stop the watchdog after a regular shutdown."""
        self._tell(DISMISSED)
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate(timeout=PATIENCE)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # A killed watchdog is not fatal: it is needed only if this process is killed as well.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()


def main(folder: Path, lines: Iterable[str]) -> None:
    groups = []
    for line in lines:
        if line.strip() == DISMISSED:
            return
        groups.append(int(line))
    deadline = time.monotonic() + PATIENCE
    ended = [group for group in reversed(groups) if _signal(group, signal.SIGTERM)]
    while time.monotonic() < deadline and any(_signal(group, 0) for group in ended):
        time.sleep(POLL)
    for group in ended:
        _signal(group, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _signal(group: int, sign: int) -> bool:
    """Whether the process group still exists."""
    try:
        os.killpg(group, sign)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.stdin)
