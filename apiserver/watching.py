"""Watches: the changes of a kind as a stream of events, one JSON text a line.

    {"type":"ADDED","object":{...}}

An object that comes into the selection is ADDED, one that leaves it is DELETED, whatever has really happened to it. A stream that
ends (its time is up, the client was too slow, the server stops) can be resumed from the last version that it told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from apiserver import lists
from apiserver.history import ADDED, DELETED, MODIFIED, Closed, Compacted, Event, Overflow, Subscription
from apiserver.kinds import Kind
from apiserver.lists import Options
from apiserver.store import Store, stamped
from strategy import errors

Object = dict[str, Any]
Convert = Callable[[Object, bool], Object]
"""An object in the form that the client wants. True for the first of a stream: a Table has its headers there only."""

BOOKMARK, ERROR = "BOOKMARK", "ERROR"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
TIMEOUT = 1800.0
"""Seconds until a watch ends that does not say when; the least that the server would give it."""
BOOKMARK_EVERY = 60.0
"""Seconds between bookmarks."""


def watch(
    store: Store,
    kind: Kind,
    namespace: str | None,
    options: Options,
    convert: Convert | None = None,
    *,
    form: str = "",
    blank: Object | None = None,
    timeout: float = TIMEOUT,
    bookmark_every: float = BOOKMARK_EVERY,
    idle: float | None = None,
    patience: float = lists.PATIENCE,
) -> Iterator[bytes]:
    """The stream that answers a watch. What is wrong with the request is raised at once, not in the stream.

    ``form`` names what ``convert`` makes: watchers of the same form share the texts of events, so there is one for each way to
    convert. ``blank`` is an object of the kind without any content, as the server prints it: bookmarks are made of it. With
    ``idle`` an empty text is yielded whenever nothing was for that many seconds, so that whoever sends the stream can see whether
    the client is still there.
    Upstream: Cacher.Watch, serveWatchHandler
    """
    start = lists.version(options.resource_version)
    lasts = timeout if not options.timeout else float(options.timeout)
    view = _View(store, kind, namespace or "", options, convert, form, blank or _blank(kind))
    return _Stream(view, start, time.monotonic() + lasts, bookmark_every, idle, patience).lines()


def _blank(kind: Kind) -> Object:
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}}


def _line(type: str, obj: Object) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type.encode(), json.dumps(obj, separators=(",", ":")).encode())


def refusal(error: errors.ApiError) -> bytes:
    """The event that tells an error after the stream has begun."""
    return _line(ERROR, lists.failure(error))


@dataclass(slots=True)
class _View:
    """The objects as one watcher sees them: those that it selected, in its form."""

    store: Store
    kind: Kind
    namespace: str
    options: Options
    convert: Convert | None
    form: str
    blank: Object
    _first: bool = True

    def line(self, type: str, obj: Object) -> bytes:
        if self.convert is not None:
            obj, self._first = self.convert(obj, self._first), False
        return _line(type, obj)

    def current(self) -> tuple[Iterator[bytes], int]:
        """The selected objects that are there, and the version of that moment."""
        entries, version = self.store.list(self.kind, self.namespace)
        matches = self.options.selection.matches
        return (self.line(ADDED, entry.obj) for entry in entries if matches(entry.obj)), version

    def bookmark(self, version: int, initial_events_end: bool = False) -> bytes:
        obj = stamped(self.blank, version)
        if initial_events_end:
            obj["metadata"]["annotations"] = {INITIAL_EVENTS_END: "true"}
        return self.line(BOOKMARK, obj)

    def event(self, event: Event) -> bytes:
        """The event for this watcher; nothing if it does not concern it."""
        if self.namespace and event.obj["metadata"].get("namespace") != self.namespace:
            return b""
        type = self._type(event)
        if not type:
            return b""
        key = (self.form, self._first and self.convert is not None, type)
        if (text := event.texts.get(key)) is not None:
            self._first = False
            return text
        text = self.line(type, _as_deleted(event) if type == DELETED else event.obj)
        if self.store.is_fresh(event):
            event.texts[key] = text
        return text

    def _type(self, event: Event) -> str:
        """What the event is within the selection.

        Upstream: cacheWatcher.convertToWatchEvent
        """
        selection = self.options.selection
        if selection.everything:
            return event.type
        is_in = event.type != DELETED and selection.matches(event.obj)
        was_in = event.previous is not None and selection.matches(event.previous)
        if is_in:
            return MODIFIED if was_in else ADDED
        return DELETED if was_in else ""


def _as_deleted(event: Event) -> Object:
    """An object that left: what it was before, with the version of the event."""
    if event.type == DELETED or event.previous is None:
        return event.obj
    return stamped(event.previous, event.version)


@dataclass(slots=True)
class _Stream:
    """One watch from its beginning to its end."""

    view: _View
    start: int
    deadline: float
    bookmark_every: float
    idle: float | None
    patience: float

    def lines(self) -> Iterator[bytes]:
        try:
            after = yield from self._beginning()
            with self.view.store.subscribe(after, self.view.kind) as events:
                yield from self._changes(events)
        except Compacted as error:
            yield refusal(lists.Expired(f"too old resource version: {error.version} ({error.oldest})"))
        except errors.ApiError as error:
            yield refusal(error)
        except (Closed, Overflow):
            # The stream ends where it is: the client asks for the rest.
            return

    def _beginning(self) -> Generator[bytes, None, int]:
        """The objects that are there, if they are wanted. Returns the version after which changes are told.

        Upstream: getAllEventsSinceLocked
        """
        store, options = self.view.store, self.view.options
        if not options.initial_events and (self.start or options.initial_events is False):
            return self.start or store.version
        if self.start > store.version and not store.wait_for(self.start, self.patience):
            raise lists.TooLargeVersion(self.start, store.version)
        objects, version = self.view.current()
        yield from objects
        if options.initial_events and options.bookmarks:
            yield self.view.bookmark(version, initial_events_end=True)
        return version

    def _changes(self, events: Subscription) -> Iterator[bytes]:
        """Events as they come, and bookmarks from time to time; at last one more, when the time is up."""
        bookmarks = self.view.options.bookmarks
        now = last_sent = last_bookmark = time.monotonic()
        while now < self.deadline:
            next_bookmark = last_bookmark + self.bookmark_every if bookmarks else self.deadline
            next_sign = self.deadline if self.idle is None else last_sent + self.idle
            for event in events.wait(min(self.deadline, next_bookmark, next_sign) - now):
                if text := self.view.event(event):
                    yield text
                    last_sent = time.monotonic()
            now = time.monotonic()
            if bookmarks and now >= next_bookmark:
                yield from self._up_to_now(events)
                now = last_sent = last_bookmark = time.monotonic()
            elif self.idle is not None and now >= last_sent + self.idle:
                yield b""
                last_sent = now
        if bookmarks:
            yield from self._up_to_now(events)

    def _up_to_now(self, events: Subscription) -> Iterator[bytes]:
        """A bookmark with the version of the whole store, and before it whatever is waiting: nothing up to it may come later."""
        version = self.view.store.version
        for event in events.wait(0):
            version = max(version, event.version)
            if text := self.view.event(event):
                yield text
        yield self.view.bookmark(version)
