"""Work that a request could not finish goes on here: in a thread that lives as long as something is left, tried again and again.

Nothing of it has to be remembered elsewhere: what is unfinished can be seen in the store, and is looked for at every start.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

from podstrat.apiserver.storage.store import StoreError
from podstrat.apiserver.work_queue import WorkQueue
from podstrat.strategy import errors

Work = Callable[[str], bool]
"""Reconciles the object of a name; False requeues it."""

IDLE: Final = 0.2
"""Seconds that the thread waits for more before it ends."""
log = logging.getLogger("podstrat.apiserver")


class Background:
    """One kind of work, by name. May be used from any thread."""

    def __init__(self, work: Work, name: str) -> None:
        self._work = work
        self._name = name
        self._lock = threading.Lock()
        self._inbox: SimpleQueue[str] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def add(self, name: str) -> None:
        with self._lock:
            self._inbox.put(name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        queue: WorkQueue[str] = WorkQueue()
        while self._receive(queue):
            name = queue.next(time.monotonic())
            if name is not None:
                self._try(name, queue)

    def _receive(self, queue: WorkQueue[str]) -> bool:
        """Waits until there is something to do. False when nothing is left: the thread ends."""
        due = queue.due(time.monotonic())
        try:
            queue.add(self._inbox.get(timeout=IDLE if due is None else max(due, 1e-3)))
        except Empty:
            if due is None:
                return self._goes_on()
        return True

    def _goes_on(self) -> bool:
        with self._lock:
            if self._inbox.empty():
                self._thread = None
                return False
        return True

    def _try(self, name: str, queue: WorkQueue[str]) -> None:
        try:
            finished = self._work(name)
        except (errors.ApiError, StoreError) as error:
            log.info("%s %s is tried again: %s", self._name, name, error)
            finished = False
        except Exception:
            log.exception("%s failed: %s", self._name, name)
            finished = False
        if finished:
            queue.done(name)
        else:
            queue.failed(name, time.monotonic())
