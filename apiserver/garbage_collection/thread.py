"""The thread of the garbage collector: follows the store, keeps the graph, settles one object at a time.

It begins with everything that is stored, so that a restart goes on with what was left undone; and again when it falls behind.

Upstream: GarbageCollector.Run
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.custom_resources import DEFINITION, CustomResources
from podstrat.apiserver.garbage_collection.collector import Collector, Refused, UnknownOwner
from podstrat.apiserver.garbage_collection.graph import Graph, Item, item_of
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.storage.history import DELETED, HISTORY
from podstrat.apiserver.storage.store import Closed, Event, Overflow, Store, StoreError, Subscription
from podstrat.apiserver.work_queue import WorkQueue

BEHIND: Final = HISTORY
"""How many events may wait until it is cheaper to begin again: as many as the log keeps."""
IGNORED: Final = frozenset((("", "events"), ("events.k8s.io", "events")))
"""Resources that are never collected. Upstream: DefaultIgnoredResources"""
log = logging.getLogger("podstrat.apiserver")


class GarbageCollector:
    """The garbage collector of one server. ``send`` carries out a write request."""

    def __init__(self, store: Store, custom: CustomResources, send: Callable[[Call], Reply]) -> None:
        self._store = store
        self._custom = custom
        self._send = send

    def start(self) -> threading.Thread:
        """It ends with the store."""
        thread = threading.Thread(target=self._run, name="garbage-collector", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        while True:
            try:
                with self._store.subscribe(self._store.version, limit=BEHIND) as news:
                    _Round(self._store, self._custom, self._send, news).run()
            except Overflow:
                continue
            except Closed:
                return


class _Round:
    """From a look at everything on, as long as no event is missed."""

    def __init__(self, store: Store, custom: CustomResources, send: Callable[[Call], Reply], news: Subscription) -> None:
        self._store = store
        self._news = news
        self._graph = Graph()
        self._collector = Collector(store, custom, self._graph, send)
        self._queue: WorkQueue[Item] = WorkQueue()
        self._unknown: dict[Item, None] = {}
        """Objects with an owner of a kind that is not served; looked at again when definitions change."""

    def run(self) -> None:
        self._look_at_everything()
        while True:
            due = self._queue.due(time.monotonic())
            while events := self._news.wait(due):
                for event in events:
                    self._observe(event)
                due = 0.0
            ready = self._queue.next(time.monotonic())
            if ready is not None:
                self._settle(ready)

    def _look_at_everything(self) -> None:
        """Events since the subscription are seen twice: the graph is right when the last of them is."""
        for kind in self._store.kinds:
            for entry in self._store.list(kind)[0] if _is_followed(kind) else ():
                for item in self._graph.add(item_of(kind, entry.obj), entry.obj):
                    self._queue.add(item)

    def _observe(self, event: Event) -> None:
        if not _is_followed(event.kind):
            return
        for item in self._graph.observe(event):
            self._queue.add(item)
        if event.type == DELETED:
            self._unknown.pop(item_of(event.kind, event.obj), None)
        if event.kind is DEFINITION:
            self._look_again()

    def _look_again(self) -> None:
        for item in self._unknown:
            self._queue.add(item)
        self._unknown.clear()

    def _settle(self, item: Item) -> None:
        try:
            self._collector.settle(item)
        except UnknownOwner:
            self._unknown[item] = None
        except (Refused, StoreError) as error:
            log.info("garbage collection is tried again: %s", error)
            self._queue.failed(item, time.monotonic())
            return
        except Exception:
            log.exception("garbage collection failed: %s", item)
            self._queue.failed(item, time.monotonic())
            return
        self._queue.done(item)


def _is_followed(kind: Kind) -> bool:
    return (kind.group, kind.plural) not in IGNORED
