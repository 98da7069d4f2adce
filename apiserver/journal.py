"""The database file under the store. What has been written to it is there again after the process was killed.

It is read once, when it is opened, and after that only written to, in transactions.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

Object = dict[str, Any]

FILE = "podstrat.db"
SCHEMA = 1
"""Raised whenever the tables change; a file of another schema is refused, never touched."""
APPLICATION_ID = 0x706F6473
"""Marks the file as ours."""
BUSY_MILLISECONDS = 2_000
"""How long to wait for a process that is just letting go of the file."""

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
    """The data cannot be read or written. The message is for whoever started the server."""


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


def dumps(obj: Object) -> str:
    return json.dumps(obj, separators=(",", ":"))


class Journal:
    """An open database file; no other process can open it meanwhile. Its user sees to it that one thread at a time calls."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.exists():
                _create(self.path)
            _check_mark(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from error
        try:
            self._database = _connect(self.path)
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error
        try:
            self._check()
        except BaseException:
            self._database.close()
            raise

    def _check(self) -> None:
        """The file is sound, of our schema, and ours alone from now on."""
        try:
            # Once taken, the lock is held until the process ends, however it ends.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            schemas = self._database.execute("SELECT version FROM schema").fetchall()
            if schemas != [(SCHEMA,)]:
                raise StoreError(f"{self.path}: its schema is {_versions(schemas)}, this release reads and writes {SCHEMA}")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
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
            raise StoreError(f"{self.path}: cannot be written: {error}") from error

    def _apply(self, row: Row) -> None:
        if row.body is None:
            self._database.execute(_REMOVE, row.place)
            return
        self._database.execute(_SAVE, (*row.place, row.version, row.body))
        if row.baseline:
            self._database.execute(_SAVE_BASELINE, (*row.place, row.body))

    def close(self) -> None:
        self._database.close()


def _create(path: Path) -> None:
    """Makes an empty database beside its place and puts it there when it is complete."""
    for left_over in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")):
        if left_over.exists():
            # SQLite would take it for a part of the new file.
            raise StoreError(f"{left_over}: the database that it belongs to is missing")
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    try:
        # Secrets are in it: nobody else reads it, nor the files that SQLite makes beside it with the same rights.
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


def _check_mark(path: Path) -> None:
    """The file says that it is ours.

    Read as if it could not change, so that nothing happens to a stranger's file; and by SQLite, because a process that opens and
    closes the file otherwise loses the locks that it has on it.
    """
    if not path.is_file() or path.stat().st_size == 0:
        raise StoreError(f"{path}: not a database")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            found = database.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error as error:
        raise StoreError(f"{path}: not a database: {error}") from error
    if found != (APPLICATION_ID,):
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
