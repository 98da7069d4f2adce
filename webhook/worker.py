"""The worker process: gunicorn's own with threads, with an end that nobody notices and patience that has an end."""

from __future__ import annotations

import errno
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

    def handle(self, conn: Any) -> Any:
        """In a thread. A connection that ends is closed here: gunicorn would wait for its client where it accepts others."""
        kept = super().handle(conn)
        if not kept:
            conn.close(graceful=not _gave_up(conn))
            conn.close = _nothing
        return kept

    def handle_request(self, req: Any, conn: Any) -> Any:
        if self.app.health.draining:
            req.force_close()
        # What is left of a body on which we gave up is not waited for once more.
        return super().handle_request(req, conn) and not _gave_up(conn)


def _gave_up(conn: Any) -> bool:
    return getattr(conn.sock, "gave_up", False)


def _nothing(graceful: bool = False) -> None:
    """In place of closing what is closed."""


class GaveUp(ConnectionResetError):
    """On a client that stopped in the middle. To gunicorn it is one that has left, and not worth a traceback."""

    def __init__(self) -> None:
        super().__init__(errno.ECONNRESET, "the client stopped in the middle")


def patient(seconds: float) -> type[ssl.SSLSocket]:
    """Sockets that give up on a client which stops in the middle: a thread that waits for ever is one thread less."""

    class Patient(ssl.SSLSocket):
        gave_up = False

        def setblocking(self, flag: bool) -> None:
            # gunicorn waits for new requests elsewhere; where it asks to wait here, it is in the middle of one.
            self.settimeout(seconds if flag else 0.0)

        def do_handshake(self, block: bool = False) -> None:
            # Until now it has the patience of the plain socket that it was made from, which has no end.
            self.settimeout(seconds)
            try:
                super().do_handshake(block)
            except TimeoutError:
                self.gave_up = True
                raise GaveUp from None

        def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
            try:
                return super().recv(buflen, flags)
            except TimeoutError:
                self.gave_up = True
                raise GaveUp from None

    return Patient
