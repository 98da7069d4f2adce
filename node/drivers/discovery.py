"""Socket discovery by periodic scans of a directory.

A scan is cheap, works on every file system and has no events to lose: a directory that was removed and created again, or a socket
that was renamed away, is noticed by the next one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Identity(NamedTuple):
    """Which socket it is, as opposed to another one of the same name. A chmod does not make it another."""

    device: int
    inode: int
    made: int


def scan(directory: Path) -> dict[str, Identity]:
    """All sockets below a directory, except names that begin with a dot.

    OSError: the directory could not be read (no descriptors left, I/O error), which does not mean that it is empty.
    """
    return dict(_walk(str(directory)))


def identity(path: str) -> Identity | None:
    """The socket behind a path; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISSOCK(status.st_mode):
        return None
    return Identity(status.st_dev, status.st_ino, status.st_mtime_ns)


def _walk(directory: str) -> Iterator[tuple[str, Identity]]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # missing or not accessible: no sockets
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        elif socket := identity(entry.path):
            yield entry.path, socket
