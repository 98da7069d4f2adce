"""The admin port, plain HTTP: /metrics for Prometheus, and the probes, which work without a certificate as well."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from podstrat.webhook.probes import PATHS, Probes

TEXT = "text/plain; charset=utf-8"


def serve(listener: socket.socket, probes: Probes, metrics: Callable[[], tuple[bytes, str]]) -> None:
    """Serves in a background thread for the life of the process. Several processes may share the listener."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path == "/metrics":
                body, content_type = metrics()
                self._answer(200, body, content_type)
            elif url.path in PATHS:
                code, text = probes.answer(url.path, "verbose" in url.query)
                self._answer(code, text.encode(), TEXT)
            else:
                self._answer(404, b"not found; available: /metrics, /livez, /readyz, /healthz\n", TEXT)

        def _answer(self, code: int, body: bytes, content_type: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Scrapes and probes are not logged."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Nor are clients that disconnect."""

    # Several processes wake for one connection and only one accepts it: the others must not block.
    listener.setblocking(False)
    server = Server(listener.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    threading.Thread(target=server.serve_forever, name="admin", daemon=True).start()
