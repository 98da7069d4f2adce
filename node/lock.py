"""Mutual exclusion: one writer per node. The lock ends with its process, however that ends.

Two locks: a file in the state directory, which also excludes containers that share it, and an abstract socket name, which also
excludes processes with different state directories.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType


class LockHeld(Exception):
    """Another process holds the lock. The text says which one."""


class Lock:
    def __init__(self, path: Path, node: str, server: str) -> None:
        self.path = path
        self.node = node
        self._name = f"\0podstrat-node-{sha256(f'{node} {server}'.encode()).hexdigest()[:32]}"
        self._handle = -1
        self._socket: socket.socket | None = None

    def __enter__(self) -> Lock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._take_name()
        except OSError:
            holder = os.read(self._handle, 32).decode(errors="replace").strip()
            self._close()
            who = f" (process {holder})" if holder and holder != str(os.getpid()) else ""
            raise LockHeld(f"{self.path}: another node writer is running for {self.node}{who}") from None
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close()

    def _take_name(self) -> None:
        if sys.platform == "linux":  # elsewhere there are no such names
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.bind(self._name)

    def _close(self) -> None:
        # The file stays: removing it would let two processes lock two files of one name.
        if self._socket is not None:
            self._socket.close()
        with suppress(OSError):
            os.close(self._handle)
