"""The object store: all objects in memory; each change is in the journal, if there is one, before it is visible.

Stored dicts are immutable by convention. A change is a new dict, which may share parts with the old one.
"""

from __future__ import annotations

import builtins
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.apiserver import custom_kinds
from podstrat.apiserver.kinds import STORED, Kind
from podstrat.apiserver.storage.history import (
    ADDED,
    DELETED,
    HISTORY,
    MODIFIED,
    QUEUE,
    Closed,
    Compacted,
    Event,
    History,
    Overflow,
    Subscription,
)
from podstrat.apiserver.storage.journal import Durability, Journal, Place, Row, StoreError, dumps
from podstrat.apiserver.storage.texts import Texts

__all__ = [
    "Changed",
    "Closed",
    "Compacted",
    "Entry",
    "Event",
    "Overflow",
    "Store",
    "StoreError",
    "Subscription",
    "Write",
    "key_of",
    "stamped",
]

Object = dict[str, Any]

_BEFORE_VERSION = frozenset(("name", "generateName", "namespace", "selfLink", "uid"))
"""What stands before resourceVersion in printed metadata."""


_texts = Texts()


@dataclass(slots=True, weakref_slot=True)
class Entry:
    """An object as it is stored; its metadata.resourceVersion is the version."""

    obj: Object
    version: int
    _json: bytes = field(default=b"", compare=False, repr=False)

    def json(self) -> bytes:
        """The object as JSON: made once for all who read it, and kept while the entry is stored and there is room for it."""
        text = self._json
        if not text:
            text = self._json = dumps(self.obj).encode()
            _texts.add(self, len(text))
        return text

    def forget(self) -> None:
        """The text gives way to newer ones."""
        self._json = b""


class Write(NamedTuple):
    """One change to be committed."""

    kind: Kind
    namespace: str
    name: str
    obj: Object | None
    """None removes what is there."""
    expect: int | None
    """The version that must be stored for the change to happen; 0: there must be nothing; None: whatever is there."""


class Changed(Exception):
    """Compare-and-swap failed: the stored version is not the expected one."""

    def __init__(self, write: Write, stored: Entry | None) -> None:
        found = "nothing" if stored is None else f"version {stored.version}"
        super().__init__(f"{write.kind.qualified} {key(write.namespace, write.name)}: there is {found}, expected: {write.expect}")
        self.write = write
        self.stored = stored


def key(namespace: str, name: str) -> str:
    """What objects of a kind are sorted by. As text, not as a pair: ``a-b/x`` comes before ``a/x``, as in the real server."""
    return f"{namespace}/{name}" if namespace else name


def key_of(obj: Object) -> str:
    metadata = obj["metadata"]
    return key(metadata.get("namespace", ""), metadata["name"])


def stamped(obj: Object, version: int) -> Object:
    """The object with that resourceVersion, at the place where it is printed; all else is shared."""
    text = str(version)
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        return {**obj, "metadata": {**metadata, "resourceVersion": text}}
    before = {name: value for name, value in metadata.items() if name in _BEFORE_VERSION}
    return {**obj, "metadata": {**before, "resourceVersion": text, **metadata}}


@dataclass(slots=True, eq=False)
class _Commit:
    """Writes that are to be done together, and what came of them."""

    writes: Sequence[Write]
    bodies: Sequence[str | None]
    bootstrap: bool
    events: list[Event] = field(default_factory=list)
    entries: list[Entry] | None = None
    """What was stored; None until it is visible."""
    error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.entries is not None or self.error is not None

    def rows(self) -> list[Row]:
        plan = zip(self.writes, self.events, self.bodies, strict=True)
        return [Row(_place(write), event.version, body, self.bootstrap) for write, event, body in plan]

    def result(self) -> list[Entry]:
        if self.entries is None:
            raise self.error or StoreError("the write was interrupted")
        return self.entries


class _Shelf:
    """The objects of one kind, in order."""

    def __init__(self, entries: Iterable[tuple[str, Entry]] = ()) -> None:
        ordered = sorted(entries, key=lambda pair: pair[0])
        self._keys = [key for key, _ in ordered]
        self._entries = [entry for _, entry in ordered]
        self.by_key = dict(ordered)

    def put(self, key: str, entry: Entry) -> None:
        at = bisect_left(self._keys, key)
        if key in self.by_key:
            self._entries[at] = entry
        else:
            self._keys.insert(at, key)
            self._entries.insert(at, entry)
        self.by_key[key] = entry

    def remove(self, key: str) -> None:
        at = bisect_left(self._keys, key)
        del self._keys[at], self._entries[at], self.by_key[key]

    def entries(self, namespace: str | None) -> list[Entry]:
        """A copy of pointers: cheap enough to be made while writers wait."""
        if not namespace:
            return self._entries[:]
        # "0" is the character after "/".
        return self._entries[bisect_left(self._keys, f"{namespace}/") : bisect_left(self._keys, f"{namespace}0")]


class Store:
    """All objects. Every method may be called from any thread."""

    def __init__(self, journal: Journal | None, history: int = HISTORY, kinds: Sequence[Kind] = STORED) -> None:
        self._journal = journal
        self._kinds = {kind.storage: kind for kind in kinds if kind.stored and not kind.stored_as}
        self._writing = threading.Lock()
        """Held by a writer while the journal writes. Readers never wait for it."""
        self._waiting: deque[_Commit] = deque()
        """What the next writer that gets the lock commits, its own among them."""
        self._closed = False
        self._fault: str | None = None
        """Why the last write to the database failed."""
        self._shelves: dict[tuple[str, str], _Shelf] = {}
        self._baseline: dict[Place, Object] = {}
        self._load(history)

    @classmethod
    def open(
        cls,
        data_dir: Path | None = None,
        history: int = HISTORY,
        *,
        kinds: Sequence[Kind] = STORED,
        durability: Durability = "normal",
    ) -> Store:
        """The store of a directory, or one in memory. Raises StoreError if what is there cannot be used; it is left as it is.

        To be opened in the process that uses it: a database connection does not survive a fork.
        """
        journal = None if data_dir is None else Journal(data_dir, durability)
        try:
            return cls(journal, history, kinds)
        except BaseException:
            if journal is not None:
                journal.close()
            raise

    def _load(self, history: int) -> None:
        found: dict[tuple[str, str], builtins.list[tuple[str, Entry]]] = {resource: [] for resource in self._kinds}
        if self._journal is not None:
            for kind in _custom(self._journal.objects()):
                self._kinds[kind.storage] = kind
                found[kind.storage] = []
            for place, version, obj in self._journal.objects():
                found[self._served(place)].append((key(place.namespace, place.name), Entry(stamped(obj, version), version)))
            self._baseline = {place: obj for place, obj in self._journal.baseline() if self._served(place)}
        self._shelves = {resource: _Shelf(entries) for resource, entries in found.items()}
        self._history = History(0 if self._journal is None else self._journal.version(), history)

    def _served(self, place: Place) -> tuple[str, str]:
        resource = (place.group, place.plural)
        if resource not in self._kinds:
            name = f"{place.plural}.{place.group}" if place.group else place.plural
            raise StoreError(f"the data directory holds {name}, which this release does not serve")
        return resource

    # ---- reading -----------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The version of the last change."""
        return self._history.version

    def serve(self, kind: Kind) -> None:
        """Makes room for the objects of a custom resource; those that are there stay."""
        resource = kind.storage
        with self._writing:
            if resource not in self._shelves:
                self._shelves = {**self._shelves, resource: _Shelf()}
            self._kinds = {**self._kinds, resource: kind}

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that are kept."""
        return tuple(self._kinds.values())

    def kind(self, group: str, plural: str) -> Kind | None:
        """The kind of a resource; None if objects of it are not kept."""
        return self._kinds.get((group, plural))

    def broken(self) -> str | None:
        """What keeps the store from being written to; None if nothing does."""
        return "the store is closed" if self._closed else self._fault

    def get(self, kind: Kind, namespace: str, name: str) -> Entry | None:
        return self._shelves[kind.storage].by_key.get(key(namespace, name))

    def list(self, kind: Kind, namespace: str | None = None, at: int | None = None) -> tuple[builtins.list[Entry], int]:
        """The objects of a kind, of one namespace or of all, at one moment; and the version of that moment.

        ``at`` is a version of the past; Compacted is raised when the log no longer reaches back to it.
        """
        shelf = self._shelves[kind.storage]
        with self._history.lock:
            entries, version = shelf.entries(namespace), self._history.version
            if at is None or at >= version:
                return entries, version
            later = self._history.since(at)
        return _undone(entries, later, kind, namespace), at

    def events_since(self, version: int) -> builtins.list[Event]:
        """Every event after a version. Raises Compacted when the log no longer reaches back to it."""
        return self._history.since(version)

    def subscribe(
        self, from_version: int, kind: Kind | None = None, namespace: str = "", name: str = "", limit: int = QUEUE
    ) -> Subscription:
        """Every event after a version, also those to come. A kind, a namespace and a name narrow them down.

        Raises Compacted like events_since.

        ``limit`` is how many events may wait to be read before the subscriber is cut off.
        """
        scope = None if kind is None else (kind.storage, namespace, name)
        return self._history.subscribe(from_version, scope, limit)

    def watchers(self) -> int:
        """How many subscriptions are open."""
        return self._history.subscribers()

    def wait_for(self, version: int, timeout: float) -> bool:
        """Whether the store gets as far as a version, in ``timeout`` seconds at most."""
        return self._history.wait_for(version, timeout)

    def is_fresh(self, event: Event) -> bool:
        """Whether it pays to keep texts made from the event."""
        return self._history.is_fresh(event)

    # ---- writing -----------------------------------------------------------------------------------------

    def commit(self, writes: Sequence[Write], *, bootstrap: bool = False) -> builtins.list[Entry]:
        """Does all of the writes or none, in order; each gets the next version. What is returned is durable.

        Returned is what each write stored, or of a removed object the last state with the version of its removal. Changed is
        raised when an expectation does not hold, or when there is nothing to remove. With ``bootstrap`` the objects are
        remembered as what reset() goes back to.
        """
        commit = self._prepared(writes, bootstrap)
        self._waiting.append(commit)
        with self._writing:
            if not commit.done:
                self._commit([self._waiting.popleft() for _ in range(len(self._waiting))])
        return commit.result()

    def _prepared(self, writes: Sequence[Write], bootstrap: bool = False) -> _Commit:
        return _Commit(writes, [self._body(write) for write in writes], bootstrap)

    def _commit(self, group: Sequence[_Commit]) -> None:
        """Group commit: one transaction for all, with the lock for writing held.

        Each is planned as if those before it were done, and fails alone when an expectation does not hold. If they cannot be
        saved together, each is tried alone.
        """
        planned: builtins.list[_Commit] = []
        rows: builtins.list[Row] = []
        pending: dict[Place, Entry | None] = {}
        for commit in group:
            try:
                commit.events = self._planned(commit.writes, self._history.version + len(rows), pending)
            except Exception as error:
                commit.error = error
                continue
            planned.append(commit)
            rows += commit.rows()
        try:
            self._save(rows)
        except Exception as error:
            for commit in group:
                if len(group) > 1:
                    self._commit([commit])
                else:
                    commit.error = error
            return
        with self._history.lock:
            for commit in planned:
                self._apply(commit)

    def _body(self, write: Write) -> str | None:
        return None if write.obj is None or self._journal is None else dumps(write.obj)

    def _save(self, rows: Sequence[Row]) -> None:
        if self._journal is None or not rows:
            return
        try:
            self._journal.write(rows)
        except StoreError as error:
            self._fault = str(error)
            raise
        self._fault = None

    def _planned(self, writes: Sequence[Write], version: int, pending: dict[Place, Entry | None]) -> builtins.list[Event]:
        """What writes come to after a version. Later ones see what earlier ones do, and what is ``pending``; they add to it."""
        if self._closed:
            raise StoreError("the store is closed")
        events: builtins.list[Event] = []
        done: dict[Place, Entry | None] = {}
        for write in writes:
            place = _place(write)
            changed = done if place in done else pending
            entry = changed[place] if place in changed else self.get(write.kind, write.namespace, write.name)
            if write.expect not in (None, 0 if entry is None else entry.version):
                raise Changed(write, entry)
            version += 1
            event = _event(write, entry, version)
            done[place] = None if write.obj is None else Entry(event.obj, version)
            events.append(event)
        pending |= done
        return events

    def _apply(self, commit: _Commit) -> None:
        """Makes what has been saved visible."""
        if commit.bootstrap:
            made = {_place(write): write.obj for write in commit.writes if write.obj is not None}
            self._baseline = self._baseline | made
        entries = [Entry(event.obj, event.version) for event in commit.events]
        for event, entry in zip(commit.events, entries, strict=True):
            shelf = self._shelves[event.kind.storage]
            if event.type == DELETED:
                shelf.remove(key_of(event.obj))
            else:
                shelf.put(key_of(event.obj), entry)
        self._history.add(commit.events)
        commit.entries = entries

    def compact(self, keep: int = 0) -> None:
        """Drops all events but the last ``keep``; clients that need older ones have to list again."""
        self._history.compact(keep)

    def reset(self) -> None:
        """Goes back to the objects of bootstrap."""
        self.restore(self._baseline)

    def snapshot(self) -> Mapping[Place, Object]:
        """Every object at one moment, to go back to. It costs pointers: stored objects are not changed, and so not copied."""
        with self._writing:
            return {place: entry.obj for place, entry in self._places()}

    def restore(self, snapshot: Mapping[Place, Object]) -> None:
        """Goes back to the objects of a snapshot: all others are removed, changed or removed ones are put back.

        One commit like any other: the version rises, watchers see the events. Planned with the lock for writing held, so that
        no other write can come between.
        """
        with self._writing:
            commit = self._prepared(builtins.list(self._way_back(snapshot)))
            self._commit([commit])
        commit.result()

    def _places(self) -> Iterator[tuple[Place, Entry]]:
        for kind in self.kinds:
            for entry in self.list(kind)[0]:
                metadata = entry.obj["metadata"]
                yield Place(*kind.storage, metadata.get("namespace", ""), metadata["name"]), entry

    def _way_back(self, snapshot: Mapping[Place, Object]) -> Iterator[Write]:
        there = dict(self._places())
        for place, entry in there.items():
            if place not in snapshot:
                yield Write(self._kinds[place[:2]], place.namespace, place.name, None, entry.version)
        for place, obj in snapshot.items():
            now = there.get(place)
            if now is None or now.obj != stamped(obj, now.version):
                yield Write(self._kinds[place[:2]], place.namespace, place.name, obj, 0 if now is None else now.version)

    def hang_up(self) -> None:
        """Ends every subscription at once and for good; reading and writing go on. A signal handler may call it."""
        self._history.hang_up()

    def close(self) -> None:
        """Ends every subscription and lets go of the database, when a write that is under way is done."""
        self.hang_up()
        with self._writing:
            if not self._closed and self._journal is not None:
                self._journal.close()
            self._closed = True


def _custom(objects: Iterable[tuple[Place, int, Object]]) -> builtins.list[Kind]:
    """The kinds of the definitions among stored objects."""
    return [
        custom_kinds.of(obj)[0]
        for place, _, obj in objects
        if (place.group, place.plural) == (custom_kinds.GROUP, custom_kinds.PLURAL) and obj["spec"].get("versions")
    ]


def _place(write: Write) -> Place:
    return Place(*write.kind.storage, write.namespace, write.name)


def _event(write: Write, entry: Entry | None, version: int) -> Event:
    """What a write does to what is there."""
    previous = None if entry is None else entry.obj
    if write.obj is not None:
        if key_of(write.obj) != key(write.namespace, write.name):
            raise ValueError(f"{key_of(write.obj)} is not to be stored as {key(write.namespace, write.name)}")
        return Event(version, ADDED if previous is None else MODIFIED, write.kind, stamped(write.obj, version), previous, {})
    if previous is None:
        raise Changed(write, None)
    return Event(version, DELETED, write.kind, stamped(previous, version), previous, {})


def _undone(entries: list[Entry], later: Iterable[Event], kind: Kind, namespace: str | None) -> list[Entry]:
    """What the entries were before some later events."""
    before: dict[str, Object | None] = {}
    for event in later:
        if event.kind.storage != kind.storage:
            continue
        if not namespace or event.obj["metadata"].get("namespace", "") == namespace:
            before.setdefault(key_of(event.obj), event.previous)
    if not before:
        return entries
    state = {key_of(entry.obj): entry for entry in entries}
    for name, obj in before.items():
        if obj is None:
            state.pop(name, None)
        else:
            state[name] = Entry(obj, int(obj["metadata"]["resourceVersion"]))
    return [state[name] for name in sorted(state)]
