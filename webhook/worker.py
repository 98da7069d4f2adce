"""The worker process: gunicorn's own with threads, with an end that nobody notices and patience that has an end."""

from __future__ import annotations

import ssl
import threading
from typing import Any

from gunicorn.workers.gthread import ThreadWorker


class Worker(ThreadWorker):
    """Serves each request in a thread."""

    app: Any

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Told to stop: first not ready any more, then, when no endpoint leads here, no new connections; then the end.

        In between every answer closes its connection, so that whoever calls goes elsewhere with the next request.
        """
        if self.app.health.draining:
            self._end()
            return
        self.app.health.drain()
        timer = threading.Timer(self.app.settings.drain_seconds, self._end)
        timer.daemon = True
        timer.start()

    def handle_quit(self, sig: int, frame: Any) -> None:
        self._end()

    def _end(self) -> None:
        self.method_queue.defer(self._let_idle_ones_go)
        super().handle_exit(0, None)

    def _let_idle_ones_go(self) -> None:
        for connection in (*self.keepalived_conns, *self.pending_conns):
            connection.timeout = 0

    def handle_request(self, req: Any, conn: Any) -> Any:
        if self.app.health.draining:
            req.force_close()
        return super().handle_request(req, conn)


def patient(seconds: float) -> type[ssl.SSLSocket]:
    """Sockets that give up on a client which stops in the middle: a thread that waits for ever is one thread less."""

    class Patient(ssl.SSLSocket):
        def setblocking(self, flag: bool) -> None:
            # gunicorn waits for new requests elsewhere; where it asks to wait here, it is in the middle of one.
            self.settimeout(seconds if flag else 0.0)

    return Patient
