"""Verifies a data directory: every damaged object and page is named. A copy is read, so that the store itself stays as it is."""

from __future__ import annotations

import fcntl
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.apiserver import custom_kinds
from podstrat.apiserver.kinds import STORED, Kind
from podstrat.apiserver.storage import journal
from podstrat.apiserver.storage.journal import Place, StoreError

SHARED_FIRST, SHARED_SIZE = 0x40000002, 510
"""The bytes of the file that SQLite locks for readers: https://www.sqlite.org/lockingv3.html"""
MOST = 1000
"""How many faults of pages SQLite looks for; a file with more is beyond repair."""
KEY = "api_group, resource, namespace, name"


class Report(NamedTuple):
    """What was found."""

    objects: int
    version: int
    faults: list[str]


def verify(directory: Path, kinds: Sequence[Kind] = STORED) -> Report:
    """Checks the store of a directory; StoreError if there is none, or if a server uses it."""
    path = (directory / journal.FILE).absolute()
    if not path.exists():
        raise StoreError(f"{path}: no such file")
    served = {kind.storage: kind for kind in kinds if kind.stored and not kind.stored_as}
    with tempfile.TemporaryDirectory(prefix="podstrat-verify-") as folder, journal.opened(path):
        journal.check_mark(path)
        with _unused(path):
            for each in path.parent.glob(f"{path.name}*"):
                shutil.copy(each, folder)
        with closing(sqlite3.connect(Path(folder) / path.name)) as database:
            return _Check(database, served).report()


@contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Keeps servers from opening the file; StoreError if one has it open."""
    with path.open("rb") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
        except OSError:
            raise StoreError(f"{path}: in use by another process") from None
        yield


class _Check:
    """The checks of one database, in order. A check that cannot be made is a fault, not the end."""

    def __init__(self, database: sqlite3.Connection, served: dict[tuple[str, str], Kind]) -> None:
        self._database = database
        self._served = served
        self._faults: list[str] = []
        self._objects = 0

    def report(self) -> Report:
        self._faults += [f"page: {text}" for (text,) in self._rows(f"PRAGMA integrity_check({MOST})") if text != "ok"]
        schemas = list(self._rows("SELECT version FROM schema"))
        if schemas != [(journal.SCHEMA,)]:
            found = ", ".join(str(version) for (version,) in schemas) or "unknown"
            self._faults.append(f"schema: version {found}, this release reads and writes {journal.SCHEMA}")
        counters = list(self._rows("SELECT version FROM counter"))
        version = max((counter for (counter,) in counters if isinstance(counter, int)), default=0)
        if len(counters) != 1:
            self._faults.append(f"counter: {len(counters)} rows, expected 1")
        objects = list(self._rows(f"SELECT {KEY}, version, body FROM objects"))
        for *key, _, body in objects:
            self._serve(Place(*key), body)
        for *key, stored, body in objects:
            self._objects += 1
            self._object("object", Place(*key), body)
            if not isinstance(stored, int) or not 0 < stored <= version:
                self._faults.append(f"object {_name(Place(*key))}: resourceVersion {stored} is not between 1 and {version}")
        for *key, body in self._rows(f"SELECT {KEY}, body FROM baseline"):
            self._object("baseline object", Place(*key), body)
        return Report(self._objects, version, self._faults)

    def _serve(self, place: Place, body: Any) -> None:
        """A definition adds a custom resource; one that cannot be read is told with the other objects."""
        if (place.group, place.plural) == (custom_kinds.GROUP, custom_kinds.PLURAL):
            with suppress(ValueError, KeyError, TypeError, IndexError):
                kind = custom_kinds.of(json.loads(body))[0]
                self._served[kind.storage] = kind

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._database.execute(query)
        except sqlite3.Error as error:
            self._faults.append(f"{query.partition(' FROM ')[2] or 'page'}: cannot be read: {error}")

    def _object(self, what: str, place: Place, body: Any) -> None:
        fault = self._fault(place, body)
        if fault:
            self._faults.append(f"{what} {_name(place)}: {fault}")

    def _fault(self, place: Place, body: Any) -> str:
        kind = self._served.get((place.group, place.plural))
        if kind is None:
            return "its kind is not served by this release"
        try:
            obj = json.loads(body)
        except (TypeError, ValueError) as error:
            return f"not valid JSON: {error}"
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if not isinstance(metadata, dict):
            return "has no metadata"
        if (metadata.get("namespace", ""), metadata.get("name")) != (place.namespace, place.name):
            return f"is stored as {_name(place)}, but named {metadata.get('namespace', '')}/{metadata.get('name')}"
        if obj.get("kind") != kind.kind:
            return f"kind is {obj.get('kind')}, expected {kind.kind}"
        return ""


def _name(place: Place) -> str:
    resource = f"{place.plural}.{place.group}" if place.group else place.plural
    return " ".join((resource, "/".join(filter(None, (place.namespace, place.name)))))
