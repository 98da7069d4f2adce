"""The event log: the newest changes of all objects, and its subscribers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

from podstrat.apiserver.kinds import Kind

Object = dict[str, Any]
Resource = tuple[str, str]
"""Group and plural: what objects are kept by, whatever version they are served in."""
Scope = tuple[Resource, str, str] | None
"""What a subscriber follows: a resource in one namespace or in all (""), objects of one name or all (""); None for everything."""

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

HISTORY = 10_000
"""How many events are kept: at some kB each, tens of MB; minutes of writes for a client that reconnects."""
QUEUE = 1_000
"""How many events may wait for one subscriber. Well below HISTORY: one that is cut off can resume from what it has seen."""
BATCH = 100
"""How many events a subscriber takes from those that wait, at most: what it has in hand waits no longer, however slow it is."""
FRESH = 256
"""Of how many of the newest events the texts are kept that were made for watchers: these mostly read the same event at once."""


class Event(NamedTuple):
    """One change of one object."""

    version: int
    type: str
    """ADDED, MODIFIED or DELETED."""
    kind: Kind
    obj: Object
    """The object after the change; of a removed one the last state, with the version of its removal."""
    previous: Object | None
    """The object before the change; None if there was none."""
    texts: dict[tuple[str, bool, str], bytes]
    """The event as it is sent, by form: made by the first watcher that needs it, for all."""


class Compacted(Exception):
    """The log no longer reaches back to that version."""

    def __init__(self, version: int, oldest: int) -> None:
        super().__init__(f"version {version} is too old: the log begins after {oldest}")
        self.version = version
        self.oldest = oldest
        """The oldest version that can be asked for."""


class Overflow(Exception):
    """A slow subscriber was disconnected; it has received every event up to then."""


class Closed(Exception):
    """The subscription, or the whole store, is closed."""


class Subscription:
    """The events after a version, in order and each once. Made by a History; to be read by one thread."""

    def __init__(self, backlog: list[Event], after: int, limit: int, forget: Callable[[Subscription], None]) -> None:
        self._backlog = backlog
        self._after = after
        self._limit = limit
        self._forget = forget
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._closed = False
        self._overflown = False

    def offer(self, event: Event) -> bool:
        """Queues an event for the reader. False if the reader is too slow: then this is the end of it."""
        if event.version <= self._after:
            return True
        if self._queue.qsize() >= self._limit:
            self._overflown = True
            self._queue.put(None)
            return False
        self._queue.put(event)
        return True

    def end(self) -> None:
        """Wakes the reader for the last time. Takes no lock, so that a signal handler may call it."""
        self._closed = True
        self._queue.put(None)

    def close(self) -> None:
        self.end()
        self._forget(self)

    def wait(self, timeout: float | None = None) -> list[Event]:
        """The next events, as soon as there are any; none after ``timeout`` seconds. Raises Closed or Overflow at the end."""
        if self._closed:
            raise Closed
        batch, self._backlog = self._backlog, []
        try:
            event = self._queue.get(not batch and (timeout is None or timeout > 0), timeout)
            while event is not None:
                batch.append(event)
                if len(batch) >= BATCH:
                    return batch
                event = self._queue.get_nowait()
        except Empty:
            return batch
        return self._ended(batch)

    def _ended(self, batch: list[Event]) -> list[Event]:
        """The end marker was read: events before it are still delivered, unless the subscription is closed."""
        if self._closed or not self._overflown:
            raise Closed
        self._queue.put(None)
        if not batch:
            raise Overflow
        return batch

    def batches(self, timeout: float | None = None) -> Iterator[list[Event]]:
        """Batches of events until the subscription is closed; an empty one whenever nothing came for ``timeout`` seconds."""
        while True:
            try:
                batch = self.wait(timeout)
            except Closed:
                return
            yield batch

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class History:
    """The newest events, without a gap: each version from the oldest on is one event."""

    def __init__(self, version: int, limit: int = HISTORY) -> None:
        self.lock = threading.RLock()
        """Held for moments only: while events are added, and while what they led to is read."""
        self.version = version
        self.oldest = version
        """The log has every event after this version."""
        self._limit = limit
        self._log: deque[Event] = deque()
        self._subscribers: dict[Scope, set[Subscription]] = {}
        self._over = False

    def add(self, events: Sequence[Event]) -> None:
        """Appends events and hands them to their subscribers. The versions follow on from the last one."""
        with self.lock:
            for event in events:
                self._log.append(event)
                if len(self._log) > FRESH:
                    self._log[-FRESH - 1].texts.clear()
                self._hand_out(event)
            # Last: a reader of the version finds every event up to it in the queues.
            self.version += len(events)
            self.compact(self._limit)

    def _hand_out(self, event: Event) -> None:
        for scope in _scopes(event):
            if subscribers := self._subscribers.get(scope):
                slow = [each for each in subscribers if not each.offer(event)]
                subscribers.difference_update(slow)

    def since(self, version: int) -> list[Event]:
        """Every event after a version."""
        with self.lock:
            if version < self.oldest:
                raise Compacted(version, self.oldest)
            return list(islice(self._log, version - self.oldest, None))

    def is_fresh(self, event: Event) -> bool:
        """Whether texts of the event are worth keeping."""
        return event.version > self.version - FRESH

    def subscribe(self, version: int, scope: Scope = None, limit: int = QUEUE) -> Subscription:
        """The events of a scope after a version, those still to come included."""
        with self.lock:
            backlog = [event for event in self.since(version) if scope in _scopes(event)]

            def forget(subscription: Subscription) -> None:
                with self.lock:
                    if subscribers := self._subscribers.get(scope):
                        subscribers.discard(subscription)
                        if not subscribers:
                            del self._subscribers[scope]

            subscription = Subscription(backlog, version, limit, forget)
            self._subscribers.setdefault(scope, set()).add(subscription)
            if self._over:
                subscription.end()
            return subscription

    def subscribers(self) -> int:
        """The number of subscriptions to one resource: watches. The server itself follows everything, and does not count."""
        with self.lock:
            return sum(len(found) for scope, found in self._subscribers.items() if scope is not None)

    def wait_for(self, version: int, timeout: float) -> bool:
        """Whether the log gets as far as a version, in ``timeout`` seconds at most."""
        until = time.monotonic() + timeout
        with self.subscribe(self.version) as news:
            while self.version < version:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                try:
                    news.wait(left)
                except (Closed, Overflow):
                    return self.version >= version
        return True

    def compact(self, keep: int) -> None:
        """Forgets all events but the last ``keep``."""
        with self.lock:
            while len(self._log) > keep:
                self.oldest = self._log.popleft().version

    def hang_up(self) -> None:
        """Ends every subscription at once, and whichever is opened later."""
        self._over = True
        for subscribers in list(self._subscribers.values()):
            for subscription in list(subscribers):
                subscription.end()


def _scopes(event: Event) -> tuple[Scope, ...]:
    """The scopes that an event belongs to. Those who follow another namespace, or another name, are not woken by it."""
    resource, metadata = event.kind.storage, event.obj["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    everywhere: tuple[Scope, ...] = ((resource, "", name), (resource, "", ""), None)
    return ((resource, namespace, name), (resource, namespace, ""), *everywhere) if namespace else everywhere
