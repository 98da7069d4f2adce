"""The gunicorn worker: gthread with a fast graceful shutdown, lingering close, a short way for plain requests, and malformed HTTP
answered with a Status."""

from __future__ import annotations

import contextlib
import http
import json
import socket
import ssl
import time
from collections.abc import Generator
from typing import Any

from gunicorn.http import errors, message, wsgi
from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import ThreadWorker

from podstrat.apiserver import plain_requests
from podstrat.apiserver.plain_requests import PlainRequest

CODES: dict[type[Exception], int] = {
    errors.ExpectationFailed: 417,
    errors.LimitRequestHeaders: 431,
    errors.LimitRequestLine: 431,
    errors.UnsupportedTransferCoding: 501,
}
"""The status codes of malformed requests; 400 for all others."""
NOT_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
"""The text of Go's net/http."""
REQUEST_LINE = 2**20
"""Bytes of a request line; selectors and continue tokens are part of it. As many as Go's servers read of all headers
(DefaultMaxHeaderBytes). gunicorn knows 8190 or no limit at all, and takes time by the square of the length."""
vars(message)["MAX_REQUEST_LINE"] = REQUEST_LINE
LINGER = 2.0
"""Seconds that a client has to close a connection that we have closed: a round trip on a slow network, with a margin."""


class Worker(ThreadWorker):
    """A gthread worker with lingering close."""

    app: Any

    def handle(self, conn: Any) -> Any:
        """In a thread. Connections are closed here: gunicorn would block its accept loop with it."""
        keep = super().handle(conn)
        if not keep:
            with contextlib.suppress(OSError):
                _linger(conn.sock)
        elif type(conn.parser) is RequestParser:
            conn.parser = plain_requests.Parser(conn.parser)
        return keep

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Whether the connection stays open afterwards."""
        if not isinstance(req, PlainRequest):
            return bool(super().handle_request(req, conn))
        req.keep_alive = req.keep_alive and self.alive and len(self.keepalived_conns) < self.max_keepalived
        begun: list[Any] = []
        body = self.wsgi(req.environ, lambda *status_and_headers: begun.extend(status_and_headers))
        if isinstance(body, Generator):
            return self._stream(req, conn, body, *begun)
        conn.sock.sendall(b"".join((plain_requests.head(req.keep_alive, *begun), *body)))
        return req.keep_alive

    def _stream(self, req: Any, conn: Any, body: Generator[bytes], *begun: Any) -> bool:
        """Chunks are gunicorn's, as for every other request."""
        response = wsgi.Response(req, conn.sock, self.cfg)
        with contextlib.closing(body):
            try:
                response.start_response(*begun)
                for chunk in body:
                    response.write(chunk)
                response.close()
            except OSError:
                raise
            except Exception:
                self.log.exception("Error handling request")
                return False
        return bool(req.keep_alive)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM: ends open watches and idle connections first, which would delay the shutdown."""
        self.app.hang_up()
        for connection in (*self.keepalived_conns, *self.pending_conns):
            connection.timeout = 0
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        self.handle_exit(sig, frame)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Malformed HTTP is answered with a Status, like every other error."""
        if isinstance(exc, ssl.SSLError):
            answer = NOT_TLS if exc.reason == "HTTP_REQUEST" else b""
        elif isinstance(exc, errors.ParseException):
            answer = refusal(CODES.get(type(exc), 400), str(exc))
        else:
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("Invalid request from %s: %s", addr, exc)
        # The plain socket's method: the TLS handshake has failed.
        send = socket.socket.sendall if isinstance(exc, ssl.SSLError) else type(client).sendall
        with contextlib.suppress(OSError):
            send(client, answer)


def _linger(connection: socket.socket) -> None:
    """Lingering close: half-closes and reads until the client closes; closed at once, the client might lose the response."""
    connection.settimeout(LINGER)
    connection.shutdown(socket.SHUT_WR)
    until = time.monotonic() + LINGER
    try:
        while connection.recv(65536) and time.monotonic() < until:
            pass
    finally:
        # gunicorn closes the socket, and does not wait when it is shut down already.
        connection.shutdown(socket.SHUT_RDWR)


def refusal(code: int, message: str) -> bytes:
    """A complete HTTP response with a Status; it closes the connection."""
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
