"""The liveness endpoint of the supervising process: it answers however busy the interpreter of the worker is."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATHS = ("/livez", "/healthz")


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


class Liveness(ThreadingHTTPServer):
    """Plain HTTP: 200 as long as there is a worker process, 500 otherwise."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], worker: Callable[[], int | None]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.worker = worker
        super().__init__(address, _Handler)

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, name="liveness", daemon=True).start()

    def is_alive(self) -> bool:
        pid = self.worker()
        return pid is not None and process_exists(pid)


class _Handler(BaseHTTPRequestHandler):
    server: Liveness
    protocol_version = "HTTP/1.1"
    timeout = 10
    """Seconds for a client to send its request."""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] not in PATHS:
            self._answer(404, "404 page not found\n")
        elif self.server.is_alive():
            self._answer(200, "ok")
        else:
            self._answer(500, "the worker process is not running\n")

    def _answer(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Probes are not logged."""
