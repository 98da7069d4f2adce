"""One of our commands as a child process: started, waited for, spoken to, stopped."""

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
"""Seconds between two looks at a file that is waited for."""
TAIL = 12
"""Lines of the log that are shown when a part has died."""
ANSWER_SECONDS = 10.0


class Trouble(Exception):
    """Something that we have started is not as it should be. The text says what, and what it said last."""


class Part:
    """`podstrat NAME ...`, in a group of its own: a Ctrl-C in the terminal is for us, who then stop it.

    It is ready when there is something in its ready file. Where a part answers what it is told, that file is its standard output.
    """

    def __init__(self, name: str, folder: Path, arguments: Sequence[str], *, talks: bool = False) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.ready_file = folder / f"{name}.ready"
        self._talks = talks
        flags = () if talks else ("--ready-file", str(self.ready_file))
        self._command = (sys.executable, "-m", "podstrat", name, *arguments, *flags)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, environ: Mapping[str, str]) -> int:
        """Its process group."""
        with self.log.open("wb") as log, (self.ready_file if self._talks else self.log).open("ab") as out:
            self.process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE if self._talks else subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=dict(environ),
                start_new_session=True,
            )
        return self.process.pid

    def check(self) -> None:
        """Trouble, if it has ended."""
        code = None if self.process is None else self.process.poll()
        if code is not None:
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            raise Trouble(f"`podstrat {self.name}` has ended ({how}). The end of its log:\n{self.tail()}")

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL:]
        return "\n".join(f"  {line}" for line in lines or ["(nothing)"])

    @property
    def told(self) -> str:
        """What is in its ready file; empty: it is not ready."""
        return self.ready_file.read_text() if self.ready_file.exists() else ""

    def tell(self, line: str) -> None:
        """One line, and its answer, which has to be `ok`."""
        assert self.process is not None
        assert self.process.stdin is not None
        before = len(self.told.splitlines())
        try:
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.process.wait()
        deadline = time.monotonic() + ANSWER_SECONDS
        while len(answers := self.told.splitlines()) <= before:
            self.check()
            if time.monotonic() > deadline:
                raise Trouble(f"`podstrat {self.name}` does not answer: {line}")
            time.sleep(POLL)
        if answers[before] != "ok":
            raise Trouble(f"`podstrat {self.name}`: {line}: {answers[before]}")

    def end(self) -> None:
        """Asks it to stop, and does not wait."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()
            if self.process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self.process.stdin.close()

    def wait(self, seconds: float) -> None:
        """Waits for its end, and sees to it that nothing of it is left."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.1, seconds))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
