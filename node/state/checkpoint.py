"""The checkpoint file: state that survives a restart, replaced atomically.

    podstrat-node-checkpoint 2 SHA256        of everything below
    {"boot": ..., "now": ..., "wall": ...}   when it was written
    {...}                                    the content

An invalid file is set aside and never prevents the start. Times are of the boot clock, valid only under the same boot ID. The
wall clock is kept too: if it ran backwards, health is not restored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.certs import files
from podstrat.node.runtime.deadlines import NEVER

MAGIC = "podstrat-node-checkpoint"
VERSION = "2"
LARGEST = 64 * 1024 * 1024
"""Of a file that we read, in bytes: ten times what the largest node writes."""
KEPT_ASIDE = 5
"""Invalid files that are kept for inspection: a crash loop must not fill the disk."""


class Loaded(NamedTuple):
    content: dict[str, Any]
    fresh: bool
    """It was written since the machine started, and not in the future: its times mean something."""
    notes: list[str]


class BadFile(ValueError):
    """Not a valid checkpoint. The text says why."""


class Checkpoint:
    def __init__(self, path: Path, boot: str) -> None:
        self.path = path
        self.boot = boot

    def load(self, now: float, wall: float) -> Loaded:
        """What was saved last; nothing if there is none, or none that can be read."""
        notes: list[str] = []
        self._clean()
        try:
            header, content = _read(self.path)
        except FileNotFoundError:
            return Loaded({}, False, notes)
        except (BadFile, OSError) as error:
            notes.append(f"{self.path}: {error}; {self._set_aside()}, starting empty")
            return Loaded({}, False, notes)
        fresh = bool(self.boot) and header.boot == self.boot and header.now <= now and header.wall <= wall
        return Loaded(content, fresh, notes)

    def save(self, content: Mapping[str, Any], now: float, wall: float) -> None:
        """Returns when the file is on the disk. An OSError leaves the old one as it was."""
        body = json.dumps(content, separators=(",", ":")).encode()
        rest = json.dumps({"boot": self.boot, "now": now, "wall": wall}).encode() + b"\n" + body
        files.write(self.path, f"{MAGIC} {VERSION} {_checksum(rest)}\n".encode() + rest, mode=0o600)
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)  # the new name of the file is in the directory
        finally:
            os.close(handle)

    def _clean(self) -> None:
        """Removes what a save that was cut short has left."""
        for leftover in self.path.parent.glob(f".{self.path.name}.*"):
            leftover.unlink(missing_ok=True)

    def _set_aside(self) -> str:
        """Renames the corrupt file, for inspection. The result says what has become of it."""
        names = [self.path.with_name(f"{self.path.name}.bad-{number}") for number in range(1, KEPT_ASIDE + 1)]
        free = next((name for name in names if not name.exists()), names[-1])
        try:
            os.replace(self.path, free)
        except OSError as error:
            return f"cannot be set aside ({error.strerror})"
        return f"set aside as {free.name}"


class Header(NamedTuple):
    boot: str
    now: float
    wall: float


def _read(path: Path) -> tuple[Header, dict[str, Any]]:
    if path.is_dir():
        raise BadFile("is a directory")
    if not path.is_file() and path.exists():
        raise BadFile("is not a regular file")
    if path.stat().st_size > LARGEST:
        raise BadFile("is too large")
    first, _, rest = path.read_bytes().partition(b"\n")
    magic, _, signed = first.partition(b" ")
    version, _, checksum = signed.partition(b" ")
    if magic != MAGIC.encode():
        raise BadFile("is not a checkpoint")
    if version != VERSION.encode():
        raise BadFile(f"unsupported version {version.decode(errors='replace')}, expected {VERSION}")
    if checksum != _checksum(rest).encode():
        raise BadFile("checksum mismatch")
    head, _, body = rest.partition(b"\n")
    return _header(_object(head)), _object(body)


def _header(value: dict[str, Any]) -> Header:
    header = Header(value.get("boot", ""), value.get("now", NEVER), value.get("wall", NEVER))
    if not isinstance(header.boot, str) or not all(type(each) in (int, float) for each in header[1:]):
        raise BadFile("is not a checkpoint")
    return header


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile("is not a checkpoint") from error
    if not isinstance(value, dict):
        raise BadFile("is not a checkpoint")
    return value


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Pace:
    """When to save: soon after a change, and now and then when known things were merely confirmed."""

    change: float = 1.0
    """Seconds from a change to its save; what changes meanwhile goes with it."""
    refresh: float = 5.0
    """Seconds between saves that only confirm what was known. After a restart readings look older by so much, at most."""
    retry: float = 10.0
    """Seconds after a save that failed."""

    def __post_init__(self) -> None:
        self._saved = (0, 0)
        self._last = -NEVER
        self._failed = -NEVER
        self._due = NEVER

    def due(self, changes: int, refreshes: int, now: float) -> float:
        """When to save next, given how often things have changed and were confirmed; infinity: nothing is new."""
        if changes != self._saved[0]:
            self._due = min(self._due, max(now + self.change, self._last + self.change))
        elif refreshes != self._saved[1]:
            self._due = min(self._due, max(now, self._last + self.refresh))
        return max(self._due, self._failed + self.retry)

    def saved(self, changes: int, refreshes: int, now: float) -> None:
        """What was counted when the content was taken is on the disk."""
        self._saved, self._last, self._due, self._failed = (changes, refreshes), now, NEVER, -NEVER

    def failed(self, now: float) -> None:
        self._failed = now
