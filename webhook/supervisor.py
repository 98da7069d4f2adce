"""The supervising process: probes, metrics and leader duties. It runs no reviews, so it answers however busy the workers are.

It is one more process of gunicorn, which starts it first and replaces it if it dies. gunicorn's master cannot serve itself: it
forks, and must not have threads. Workers are replaced by the master, by their heartbeats (see `worker`).
"""

from __future__ import annotations

import threading
from typing import Any

TURN_SECONDS = 0.2  # a probe waits this long at most


class Supervisor:
    """What the supervising process does in place of a worker's event loop."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._ended = threading.Event()

    def run(self) -> None:
        """Serves until it is told to end, and all workers have ended."""
        worker = self._worker
        for listener in worker.sockets:
            # Reviews are the workers': the port is closed when they have closed it.
            listener.close()
        while worker.is_parent_alive() and not self._is_over():
            worker.notify()
            self._ended.wait(TURN_SECONDS)

    def drain(self) -> None:
        """SIGTERM: not ready from now on; ends after the workers."""
        self._worker.app.probes.drain()

    def end(self) -> None:
        """SIGQUIT: ends at once."""
        self._ended.set()

    def _is_over(self) -> bool:
        app = self._worker.app
        return self._ended.is_set() or (app.probes.draining and not app.heartbeats.seconds())
