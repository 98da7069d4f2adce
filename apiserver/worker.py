"""The worker process: gunicorn's own with threads, with an end that is quick and errors that clients of an API can read."""

from __future__ import annotations

import contextlib
import http
import json
import socket
import ssl
import time
from typing import Any

from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

CODES: dict[type[Exception], int] = {
    errors.ExpectationFailed: 417,
    errors.LimitRequestHeaders: 431,
    errors.UnsupportedTransferCoding: 501,
}
"""What is wrong with a request that is no HTTP; 400 for all else."""
NOT_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
"""As Go's servers say it, which kube-apiserver is one of."""
LINGER = 2.0
"""Seconds that a client has for closing a connection that we have closed."""


class Worker(ThreadWorker):
    """Serves each request in a thread."""

    app: Any

    def handle(self, conn: Any) -> Any:
        """In a thread. A connection that ends is taken leave of here: gunicorn would do it where it accepts new ones."""
        kept = super().handle(conn)
        if not kept:
            with contextlib.suppress(OSError):
                _take_leave(conn.sock)
        return kept

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Told to stop: whatever would keep the worker from it ends first, open watches and connections that wait."""
        self.app.hang_up()
        for connection in (*self.keepalived_conns, *self.pending_conns):
            connection.timeout = 0
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        self.handle_exit(sig, frame)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """What cannot be read as HTTP is refused with a Status, like everything else."""
        if isinstance(exc, ssl.SSLError):
            answer = NOT_TLS if exc.reason == "HTTP_REQUEST" else b""
        elif isinstance(exc, errors.ParseException):
            answer = refusal(CODES.get(type(exc), 400), str(exc))
        else:
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("Invalid request from %s: %s", addr, exc)
        # The socket's own method, not that of TLS, whose handshake has failed.
        send = socket.socket.sendall if isinstance(exc, ssl.SSLError) else type(client).sendall
        with contextlib.suppress(OSError):
            send(client, answer)


def _take_leave(connection: socket.socket) -> None:
    """Says that nothing more will come, and reads until the client says the same: closed at once, it might lose the answer."""
    connection.settimeout(LINGER)
    connection.shutdown(socket.SHUT_WR)
    until = time.monotonic() + LINGER
    try:
        while connection.recv(65536) and time.monotonic() < until:
            pass
    finally:
        # Gunicorn, which closes it, does not wait for one that is shut.
        connection.shutdown(socket.SHUT_RDWR)


def refusal(code: int, message: str) -> bytes:
    """A whole answer of HTTP with a Status in it; it is the last one of its connection."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
    if code == 400:
        status["reason"] = "BadRequest"
    body = json.dumps(status, separators=(",", ":")) + "\n"
    lines = (
        f"HTTP/1.1 {code} {http.HTTPStatus(code).phrase}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*lines, "", body)).encode()
