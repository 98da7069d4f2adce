"""A podstrat command as a child process: start, wait until ready, send commands, stop."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

POLL = 0.02
"""Poll interval in seconds."""
TAIL = 12
"""Lines of the log that are shown when a process has died."""
ANSWER_SECONDS = 10.0  # milliseconds on a quiet machine; a swapping laptop takes seconds


class UpError(Exception):
    """The system failed: a process exited, did not become ready or did not answer."""


class Process:
    """`podstrat NAME ...` in its own process group: Ctrl-C in the terminal reaches the parent, which then stops it.

    It is ready once its ready file has content. For a process that takes commands, that file is its standard output.
    """

    def __init__(self, name: str, folder: Path, arguments: Sequence[str], *, talks: bool = False) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.ready_file = folder / f"{name}.ready"
        self._talks = talks
        flags = () if talks else ("--ready-file", str(self.ready_file))
        self.child: subprocess.Popen[bytes] | None = None
        self._command = (sys.executable, "-P", "-m", "podstrat", name, *arguments, *flags)

    def start(self, environ: Mapping[str, str]) -> int:
        """Its process group."""
        with self.log.open("wb") as log, (self.ready_file if self._talks else self.log).open("ab") as out:
            self.child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE if self._talks else subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=dict(environ),
                start_new_session=True,
            )
        return self.child.pid

    def check(self) -> None:
        """Raise UpError if it has exited."""
        code = None if self.child is None else self.child.poll()
        if code is not None:
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            raise UpError(f"`podstrat {self.name}` exited ({how}). Last lines of its log:\n{self.tail()}")

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL:]
        return "\n".join(f"  {line}" for line in lines or ["(nothing)"])

    @property
    def told(self) -> str:
        """What is in its ready file; empty: it is not ready."""
        return self.ready_file.read_text() if self.ready_file.exists() else ""

    def tell(self, line: str) -> None:
        """Send a command line; the answer must be `ok`."""
        assert self.child is not None
        assert self.child.stdin is not None
        before = len(self.told.splitlines())
        try:
            self.child.stdin.write(f"{line}\n".encode())
            self.child.stdin.flush()
        except BrokenPipeError:
            self.child.wait()
        deadline = time.monotonic() + ANSWER_SECONDS
        while len(answers := self.told.splitlines()) <= before:
            self.check()
            if time.monotonic() > deadline:
                raise UpError(f"`podstrat {self.name}` did not answer: {line}")
            time.sleep(POLL)
        if answers[before] != "ok":
            raise UpError(f"`podstrat {self.name}`: {line}: {answers[before]}")

    def end(self) -> None:
        """Send SIGTERM without waiting."""
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError):
                self.child.terminate()
            if self.child.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self.child.stdin.close()

    def wait(self, seconds: float) -> None:
        """Wait for exit, then kill what is left of its process group."""
        if self.child is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(max(0.1, seconds))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.child = None
