"""The plain port: metrics for Prometheus, and the probes, which work also while there is no certificate."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from webhook.health import PATHS, Health

TEXT = "text/plain; charset=utf-8"


def serve(listener: socket.socket, health: Health, metrics: Callable[[], tuple[bytes, str]]) -> None:
    """Answers in the background for as long as the process lives. Several processes may share the socket."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path == "/metrics":
                body, content_type = metrics()
                self._answer(200, body, content_type)
            elif asked.path in PATHS:
                code, text = health.answer(asked.path, "verbose" in asked.query)
                self._answer(code, text.encode(), TEXT)
            else:
                self._answer(404, b"there is /metrics, /livez, /readyz and /healthz\n", TEXT)

        def _answer(self, code: int, body: bytes, content_type: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Probes are no news."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is no news either."""

    # Of several processes that are woken by one connection only one gets it; the others must not wait for the next.
    listener.setblocking(False)
    server = Server(listener.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    threading.Thread(target=server.serve_forever, name="plain", daemon=True).start()
