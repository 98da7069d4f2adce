"""One writer per node: whoever holds the lock. It goes with the process that has it, however that ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class Taken(Exception):
    """Another process has it. The text says which one."""


class Lock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1

    def __enter__(self) -> Lock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 32).decode(errors="replace").strip()
            os.close(handle)
            raise Taken(f"{self.path}: a node writer runs already{f' (process {holder})' if holder else ''}") from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # The file stays: removing it would let two processes lock two files of one name.
        os.close(self._handle)
