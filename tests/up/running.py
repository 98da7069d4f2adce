"""`podstrat up` as a child process, in a temporary folder of its own, in which and of which nothing may be left."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

PATIENCE = 60.0


def command(*arguments):
    return [sys.executable, "-m", "podstrat", "up", *arguments]


def environ(folder):
    return {**os.environ, "TMPDIR": str(folder)}


def left(folder):
    """The processes that were started with this temporary folder and are still there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(f"TMPDIR={folder}") in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # gone meanwhile, or somebody else's
    return [line for line in found if line]  # one that has ended, and is waited for, has none


def until_nothing_left(folder):
    """Waits for those who clear up behind one that cannot."""
    deadline = time.monotonic() + PATIENCE
    while left(folder) or list(folder.iterdir()):
        assert time.monotonic() < deadline, (left(folder), list(folder.iterdir()))
        time.sleep(0.1)


def assert_nothing_left(folder):
    assert left(folder) == []
    assert list(folder.iterdir()) == []


class Up:
    """One that runs, on a terminal or not; what it has said so far is in `said`."""

    def __init__(self, folder, *arguments, terminal=False):
        self._terminal = terminal
        self.said = ""
        self._read, write = pty.openpty() if terminal else os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed on the way out)
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=write if terminal else None,
            stdout=write,
            stderr=self._errors,
            env=environ(folder),
            start_new_session=terminal,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if terminal else None,
        )
        os.close(write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        os.close(self._read)
        self._errors.close()

    def until(self, pattern):
        """Waits until it has said something of this kind."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said)):
            assert time.monotonic() < deadline, self.said
            assert self._hear() or self.process.poll() is None, self.said + self.complaints()
        return found

    def _hear(self):
        if not select.select([self._read], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self._read, 65536)
        except OSError:  # a terminal without anybody on it
            return False
        self.said += data.decode()
        return bool(data)

    def complaints(self):
        """What it has written to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def press_ctrl_c(self):
        """As the key does it."""
        os.write(self._read, b"\x03")

    def kubeconfig(self):
        return Path(self.until(r"export KUBECONFIG=(\S+/kubeconfig)\s")[1])

    def child(self, name):
        """The process id of a part."""
        for each in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            if f"\0podstrat\0{name}\0".encode() in Path(f"/proc/{each}/cmdline").read_bytes():
                return int(each)
        raise LookupError(name)

    def ends(self, sign=None):
        """Its exit code, after a signal if one is named."""
        if sign is not None:
            self.process.send_signal(sign)
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.said
            self._hear()
        while select.select([self._read], [], [], 0)[0] and self._hear():
            pass
        return self.process.returncode


__all__ = ["Up", "assert_nothing_left", "command", "environ", "left", "until_nothing_left"]
