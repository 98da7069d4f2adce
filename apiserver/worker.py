"""The worker process: gunicorn's own with threads, with an end that is quick and errors that clients of an API can read."""

from __future__ import annotations

from typing import Any

from gunicorn.workers.gthread import ThreadWorker


class Worker(ThreadWorker):
    """Serves each request in a thread."""

    app: Any

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Told to stop: whatever would keep the worker from it ends first, open watches and connections that wait."""
        self.app.hang_up()
        for connection in (*self.keepalived_conns, *self.pending_conns):
            connection.timeout = 0
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        self.handle_exit(sig, frame)
