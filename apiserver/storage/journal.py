"""The SQLite journal of the store: what has been written survives a kill of the process.

It is read once, when it is opened, and after that only written to, in transactions.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

Object = dict[str, Any]
Durability = Literal["normal", "full"]
"""What an acknowledged write survives. normal: a kill of the process; full: also a crash of the machine, at the cost of a sync to
disk for each transaction. SQLite's own words for it."""

FILE = "podstrat.db"
SCHEMA = 1
"""Raised whenever the tables change; a file of another schema is refused, never touched."""
APPLICATION_ID = 0x706F6473
"""Identifies the file as ours: "pods" in ASCII."""
MAGIC, HEADER_SIZE, APPLICATION_ID_AT = b"SQLite format 3\0", 100, 68
"""The header of a database file: https://www.sqlite.org/fileformat.html"""
BUSY_MILLISECONDS = 5_000
"""How long to wait for another process that is about to close the file: a server that stops takes five seconds at most."""

_TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
CREATE TABLE schema (version INTEGER NOT NULL);
CREATE TABLE counter (version INTEGER NOT NULL);
CREATE TABLE objects (
    api_group TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    version INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (api_group, resource, namespace, name)
);
CREATE TABLE baseline (
    api_group TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (api_group, resource, namespace, name)
);
INSERT INTO schema VALUES ({SCHEMA});
INSERT INTO counter VALUES (0);
"""
_SAVE = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM objects WHERE api_group = ? AND resource = ? AND namespace = ? AND name = ?"
_SAVE_BASELINE = "INSERT OR REPLACE INTO baseline VALUES (?, ?, ?, ?, ?)"


class StoreError(Exception):
    """The data cannot be read or written. The message is for the operator."""


class StoreFull(StoreError):
    """There is no room left on the disk. Reading goes on; so does writing, once there is room."""


class Place(NamedTuple):
    """What an object is found by."""

    group: str
    plural: str
    namespace: str
    name: str


class Row(NamedTuple):
    """One change to the file: an object saved with its version, or removed if there is no body."""

    place: Place
    version: int
    body: str | None
    baseline: bool = False
    """Whether the object also is to be what it is put back to."""


dumps = json.JSONEncoder(separators=(",", ":")).encode
"""An object as JSON. One encoder for all: json.dumps makes a new one each time."""


class _OpenFiles:
    """The database files that this process has open.

    A process that closes any descriptor of a file loses the locks that it has on it (POSIX): a file that is open is not opened a
    second time, not even to read its header.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: set[Path] = set()

    def add(self, path: Path) -> None:
        with self._lock:
            if path in self._files:
                raise StoreError(f"{path}: in use by another process")
            self._files.add(path)

    def remove(self, path: Path) -> None:
        with self._lock:
            self._files.discard(path)


_open_files = _OpenFiles()


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """While this process reads a database file that no journal of it has open."""
    _open_files.add(path)
    try:
        yield
    finally:
        _open_files.remove(path)


class Journal:
    """An open database file, locked against other processes. Its user sees to it that one thread at a time calls."""

    def __init__(self, directory: Path, durability: Durability = "normal") -> None:
        self.path = (directory / FILE).absolute()
        _open_files.add(self.path)
        try:
            self._database = self._open(directory)
            try:
                self._check(durability)
            except BaseException:
                self._database.close()
                raise
        except BaseException:
            _open_files.remove(self.path)
            raise

    def _open(self, directory: Path) -> sqlite3.Connection:
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.exists():
                _create(self.path)
            check_mark(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from error
        try:
            return _connect(self.path)
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error

    def _check(self, durability: Durability) -> None:
        """The file is sound, of our schema, and ours alone from now on."""
        try:
            # Once taken, the lock is held until the process ends, however it ends.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            schemas = self._database.execute("SELECT version FROM schema").fetchall()
            if schemas != [(SCHEMA,)]:
                raise StoreError(f"{self.path}: its schema is {_versions(schemas)}, this release reads and writes {SCHEMA}")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(f"PRAGMA synchronous = {durability}")
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("COMMIT")
            faults = self._database.execute("PRAGMA quick_check(1)").fetchall()
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error
        if faults != [("ok",)]:
            raise StoreError(f"{self.path}: damaged: {faults[0][0]}")

    def version(self) -> int:
        """The highest version that was ever given out."""
        rows = self._read("SELECT version FROM counter")
        highest = self._read("SELECT coalesce(max(version), 0) FROM objects")[0][0]
        if len(rows) != 1 or rows[0][0] < highest:
            raise StoreError(f"{self.path}: damaged: the counter is behind the objects")
        return int(rows[0][0])

    def objects(self) -> Iterator[tuple[Place, int, Object]]:
        for *place, version, body in self._read("SELECT * FROM objects"):
            yield Place(*place), version, self._loaded(body)

    def baseline(self) -> Iterator[tuple[Place, Object]]:
        for *place, body in self._read("SELECT * FROM baseline"):
            yield Place(*place), self._loaded(body)

    def _read(self, query: str) -> list[Any]:
        try:
            return self._database.execute(query).fetchall()
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error

    def _loaded(self, body: str) -> Object:
        try:
            obj = json.loads(body)
        except (TypeError, ValueError) as error:
            raise StoreError(f"{self.path}: damaged: an object is not JSON: {error}") from error
        if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
            raise StoreError(f"{self.path}: damaged: an object has no metadata")
        return obj

    def write(self, rows: Sequence[Row]) -> None:
        """Writes all of it or nothing; it is in the file when this returns. The last row has the highest version."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                for row in rows:
                    self._apply(row)
                self._database.execute("UPDATE counter SET version = ?", (rows[-1].version,))
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            is_full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
            kind = StoreFull if is_full else StoreError
            raise kind(f"{self.path}: cannot be written: {error}") from error

    def _apply(self, row: Row) -> None:
        if row.body is None:
            self._database.execute(_REMOVE, row.place)
            return
        self._database.execute(_SAVE, (*row.place, row.version, row.body))
        if row.baseline:
            self._database.execute(_SAVE_BASELINE, (*row.place, row.body))

    def close(self) -> None:
        self._database.close()
        _open_files.remove(self.path)


def _create(path: Path) -> None:
    """Makes an empty database beside its place and puts it there when it is complete."""
    for left_over in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")):
        if left_over.exists():
            # SQLite would take it for a part of the new file.
            raise StoreError(f"{left_over}: the database that it belongs to is missing")
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    try:
        # It contains secrets: mode 0600, which SQLite copies to the files that it creates beside it.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(_connect(draft)) as database:
            database.executescript(f"BEGIN; {_TABLES} COMMIT;")
        _put_in_place(draft, path)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be made: {error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _put_in_place(draft: Path, path: Path) -> None:
    """Unless another process has been faster: its file is as good."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        # A file system without hard links.
        os.replace(draft, path)


def check_mark(path: Path) -> None:
    """The file says that it is ours.

    Only the header is read: nothing happens to the file of another program. Whether the pages behind it are sound can only be
    judged after recovery: after a checkpoint that was cut short they fit together with the WAL alone.
    """
    if not path.is_file():
        raise StoreError(f"{path}: not a database")
    with path.open("rb") as file:
        header = file.read(HEADER_SIZE)
    if len(header) < HEADER_SIZE or not header.startswith(MAGIC):
        raise StoreError(f"{path}: not a database")
    if int.from_bytes(header[APPLICATION_ID_AT : APPLICATION_ID_AT + 4]) != APPLICATION_ID:
        raise StoreError(f"{path}: a database of another program")


def _connect(path: Path) -> sqlite3.Connection:
    """A connection for whichever thread holds the store's lock; transactions are begun and ended by hand."""
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    return database


def _unreadable(path: Path, error: sqlite3.Error) -> StoreError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
        return StoreError(f"{path}: in use by another process")
    return StoreError(f"{path}: damaged: {error}")


def _versions(rows: list[Any]) -> str:
    return ", ".join(str(row[0]) for row in rows) or "unknown"
