"""Watches: the changes of a kind as a stream of events, in JSON one text a line.

    {"type":"ADDED","object":{...}}

An object that starts to match the selectors is ADDED, one that stops is DELETED, whatever happened to it in storage. A stream
that ends (timeout, slow client, server shutdown) can be resumed from the last resourceVersion that it sent.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.listing import lists
from podstrat.apiserver.listing.list_options import Options, version
from podstrat.apiserver.storage.history import ADDED, DELETED, MODIFIED, Closed, Compacted, Event, Overflow, Subscription
from podstrat.apiserver.storage.journal import dumps
from podstrat.apiserver.storage.store import Entry, Store, stamped
from podstrat.strategy import errors

Object = dict[str, Any]
Frame = Callable[[str, Object], bytes]
"""An event as it is sent, from its type and its object."""
Convert = Callable[[Object, bool], Object]
"""An object in the form that the client wants. True for the first of a stream: a Table has its headers there only."""

BOOKMARK, ERROR = "BOOKMARK", "ERROR"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
TIMEOUT = 1800.0
"""Seconds until a watch without timeoutSeconds ends: the minimum of kube-apiserver, --min-request-timeout."""
BOOKMARK_EVERY = 60.0
"""Seconds between bookmarks, as in the cacher of kube-apiserver."""


def watch(
    store: Store,
    kind: Kind,
    namespace: str | None,
    options: Options,
    convert: Convert | None = None,
    frame: Frame | None = None,
    *,
    form: str = "",
    blank: Object | None = None,
    timeout: float = TIMEOUT,
    bookmark_every: float = BOOKMARK_EVERY,
    idle: float | None = None,
    patience: float = lists.PATIENCE,
    view: lists.View | None = None,
) -> Iterator[bytes]:
    """The stream that answers a watch. An invalid request is raised here, not in the stream.

    ``form`` names what ``convert`` and ``frame`` make: watchers of the same form share the texts of events, so there is one for
    each way to convert. ``blank`` is an object of the kind without any content, as the server prints it: bookmarks are made of
    it. With ``idle`` an empty chunk is yielded after that many seconds without an event, so that the transport can check that the
    client is still connected. ``view`` shows objects of kinds that are not shown as they are stored.
    Upstream: Cacher.Watch, serveWatchHandler
    """
    start = version(options.resource_version)
    lasts = timeout if not options.timeout else float(options.timeout)
    watched = _View(store, kind, namespace or "", options, convert, frame or line, form, blank or _blank(kind), view)
    stream = _Stream(watched, start, time.monotonic() + lasts, bookmark_every, idle, patience)
    # The initial events are those of the moment of the request: what changes after the response has begun is sent as a change.
    return stream.lines(stream.beginning() if start <= store.version else None)


def _blank(kind: Kind) -> Object:
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}}


def line(type: str, obj: Object) -> bytes:
    """An event as a line of JSON."""
    return _line(type, dumps(obj).encode())


def _line(type: str, text: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type.encode(), text)


def refusal(error: errors.ApiError, frame: Frame = line) -> bytes:
    """The ERROR event of a failure after the stream has begun."""
    return frame(ERROR, lists.failure(error))


@dataclass(slots=True)
class _View:
    """The objects as one watcher sees them: selected and converted."""

    store: Store
    kind: Kind
    namespace: str
    options: Options
    convert: Convert | None
    frame: Frame
    form: str
    blank: Object
    view: lists.View | None = None
    """Texts of what it shows are not shared: they depend on the version, and of custom resources on the definition."""
    _first: bool = True

    def framed(self, type: str, obj: Object) -> bytes:
        if self.convert is not None:
            obj, self._first = self.convert(obj, self._first), False
        return self.frame(type, obj)

    def current(self) -> tuple[Iterator[bytes], int]:
        """The selected objects that are there, and the version of that moment."""
        entries, version = self.store.list(self.kind, self.namespace)
        matches = self.options.selection.matches
        if self._plain:
            return (_line(ADDED, entry.json()) for entry in entries if matches(entry.obj)), version
        objects = (entry.obj if self.view is None else self.view(entry.obj) for entry in entries)
        return (self.framed(ADDED, obj) for obj in objects if matches(obj)), version

    def bookmark(self, version: int, initial_events_end: bool = False) -> bytes:
        obj = stamped(self.blank, version)
        if initial_events_end:
            obj["metadata"]["annotations"] = {INITIAL_EVENTS_END: "true"}
        return self.framed(BOOKMARK, obj)

    def event(self, event: Event) -> bytes:
        """The event for this watcher; empty if it does not match."""
        if self.namespace and event.obj["metadata"].get("namespace") != self.namespace:
            return b""
        if self.view is not None:
            event = self._viewed(event, self.view)
        type = self._type(event)
        if not type:
            return b""
        key = (self.form, self._first and self.convert is not None, type)
        if (text := event.texts.get(key)) is not None:
            self._first = False
            return text
        stored = self._stored(event) if self._plain and type != DELETED else None
        if stored is not None:
            text = _line(type, stored.json())
        else:
            text = self.framed(type, _as_deleted(event) if type == DELETED else event.obj)
        if self.store.is_fresh(event):
            event.texts[key] = text
        return text

    @property
    def _plain(self) -> bool:
        """Whether objects are shown as they are stored, in JSON: then the texts of the store serve."""
        return self.frame is line and self.convert is None and self.view is None

    def _stored(self, event: Event) -> Entry | None:
        """The entry of the event's object, if it is still the stored one."""
        metadata = event.obj["metadata"]
        entry = self.store.get(event.kind, metadata.get("namespace", ""), metadata["name"])
        return entry if entry is not None and entry.obj is event.obj else None

    def _viewed(self, event: Event, view: lists.View) -> Event:
        previous = None if event.previous is None else view(event.previous)
        return event._replace(obj=view(event.obj), previous=previous, texts={})

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

    def lines(self, beginning: tuple[Iterator[bytes], int] | None) -> Iterator[bytes]:
        """All lines; without ``beginning``, first those of a version that the store has yet to reach."""
        try:
            initial, after = beginning or self.beginning()
            yield from initial
            name = self.view.options.selection.fields.exact("metadata.name") or ""
            with self.view.store.subscribe(after, self.view.kind, self.view.namespace, name) as events:
                yield from self._changes(events)
        except Compacted as error:
            expired = lists.Expired(f"too old resource version: {error.version} ({error.oldest})")
            yield refusal(expired, self.view.frame)
        except errors.NotAcceptable:
            # An object that cannot be shown in the wanted form ends the stream without a word.
            return
        except errors.ApiError as error:
            yield refusal(error, self.view.frame)
        except (Closed, Overflow):
            # The stream ends where it is: the client asks for the rest.
            return

    def beginning(self) -> tuple[Iterator[bytes], int]:
        """The initial events, if they are wanted, and the version after which changes are sent.

        Upstream: getAllEventsSinceLocked
        """
        store, options = self.view.store, self.view.options
        if not options.initial_events and (self.start or options.initial_events is False):
            return iter(()), self.start or store.version
        if self.start > store.version and not store.wait_for(self.start, self.patience):
            raise lists.TooLargeVersion(self.start, store.version)
        objects, version = self.view.current()
        if options.initial_events and options.bookmarks:
            return itertools.chain(objects, self._initial_events_end(version)), version
        return objects, version

    def _initial_events_end(self, version: int) -> Iterator[bytes]:
        yield self.view.bookmark(version, initial_events_end=True)

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
