"""The server of a page: its files, its questions in JSON, its streams; a bounded number of connections, of bounded size.

A question is a POST of JSON to a path of ``Site.questions``. A stream is a GET of ``Site.streams``: server-sent events, each a
value in JSON, until the client hangs up or the server stops.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from podstrat import exits
from podstrat.web.assets import Asset
from podstrat.web.guard import HEADERS, HOST, Guard, Rejected

LARGEST_BODY = 2 << 20
"""Bytes of a question: two texts of the size that a playground takes, as JSON."""
CONNECTIONS = 32
"""Open at the same time. A browser opens six, and one for the stream of each tab."""
AT_WORK = 2
"""Questions that are worked at at the same time; others wait."""
PATIENCE = 20.0
"""Seconds that a question waits for its turn, and a silent connection is kept."""
JSON = "application/json"
EVENTS = "text/event-stream"

Question = Callable[[Any], Any]
Stream = Callable[[], Iterator[Any]]
"""Values to send; None keeps the connection alive."""


LOOK_UP = 1.0
"""Seconds: a signal that comes just before a wait does not interrupt it, and is noticed when the wait is over."""


def until_interrupted(over: threading.Event) -> None:
    """Waits for an event, or for Ctrl-C."""
    try:
        while not over.wait(LOOK_UP):
            pass
    except KeyboardInterrupt:
        pass


class Site(NamedTuple):
    """What is served."""

    assets: Mapping[str, Asset]
    questions: Mapping[str, Question] = {}
    streams: Mapping[str, Stream] = {}
    slow: frozenset[str] = frozenset()
    """Questions that take long: one is worked at at a time, and the others do not wait for it."""


class PageServer(ThreadingHTTPServer):
    """One page on loopback. Entered, it serves in a thread of its own until it is left."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS

    def __init__(self, site: Site, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise exits.BadArguments(f"cannot listen on {HOST} port {port}: {error}; --port 0 takes a free one") from None
        self.site = site
        self.guard = Guard(self.server_port)
        self.stopping = threading.Event()
        self.at_work = {False: threading.BoundedSemaphore(AT_WORK), True: threading.BoundedSemaphore(1)}
        """By whether a question is slow: how many more can be worked at."""
        self._places = threading.BoundedSemaphore(CONNECTIONS)

    @property
    def url(self) -> str:
        """The start URL, with the token."""
        return self.guard.url

    def __enter__(self) -> PageServer:
        threading.Thread(target=self.serve_forever, args=(0.1,), name="page", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None = None, error: BaseException | None = None, trace: TracebackType | None = None
    ) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is nothing to be told; what is our fault is."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"podstrat: internal error: {type(error).__name__}: {error}", file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "podstrat", ""
    timeout = PATIENCE
    server: PageServer

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def _guarded(self, answer: Callable[[str], None]) -> None:
        try:
            admitted = self.server.guard.admit(self.command, self.path, self.headers)
            if admitted.exchange:
                self._send(303, "text/plain", b"", {"Location": "/", "Set-Cookie": self.server.guard.set_cookie})
            else:
                answer(admitted.path)
        except Rejected as refused:
            self.close_connection = True  # its body, if it has one, is not read
            self._refuse(refused.code, str(refused))

    def _get(self, path: str) -> None:
        if path in self.server.site.streams:
            self._stream(self.server.site.streams[path]())
            return
        asset = self.server.site.assets.get(path)
        if asset is None:
            raise Rejected(404, "no such page")
        self._send(200, asset.content_type, asset.body)

    def _post(self, path: str) -> None:
        question = self.server.site.questions.get(path)
        if question is None:
            raise Rejected(404, "no such question")
        body = self._body()
        at_work = self.server.at_work[path in self.server.site.slow]
        if not at_work.acquire(timeout=PATIENCE):
            raise Rejected(503, "busy with other questions")
        try:
            if self._has_gone():
                self.close_connection = True
                return
            answer = question(body)
        except exits.BadArguments as error:
            self._refuse(400, str(error))
            return
        except Exception as error:
            self._refuse(500, f"internal error, a bug in podstrat: {type(error).__name__}: {error}")
            return
        finally:
            at_work.release()
        self._send(200, JSON, _json(answer))

    def _has_gone(self) -> bool:
        """Whether the browser has given the question up, because a later one takes its place."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _body(self) -> Any:
        if self.headers.get_content_type() != JSON:
            raise Rejected(415, f"a question is {JSON}")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Rejected(411, "a question has a Content-Length")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            raise Rejected(413, f"larger than {LARGEST_BODY >> 20} MiB")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Rejected(400, "the question is not JSON") from None

    def _stream(self, values: Iterator[Any]) -> None:
        self.close_connection = True
        self._head(200, EVENTS, {"Connection": "close"})
        for value in values:
            if self.server.stopping.is_set():
                return
            self.wfile.write(b": alive\n\n" if value is None else b"data: " + _json(value) + b"\n\n")
            self.wfile.flush()

    def _refuse(self, code: int, text: str) -> None:
        self._send(code, JSON, _json({"error": text}))

    def _send(self, code: int, content_type: str, body: bytes, more: Mapping[str, str] | None = None) -> None:
        self._head(code, content_type, {"Content-Length": str(len(body)), **(more or {})})
        self.wfile.write(body)

    def _head(self, code: int, content_type: str, more: Mapping[str, str]) -> None:
        self.send_response(code)
        closing = {"Connection": "close"} if self.close_connection else {}
        for name, value in {"Content-Type": content_type, **HEADERS, **closing, **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses by itself, such as other methods: in JSON too, and without a word of the request."""
        self.close_connection = True
        self._refuse(code, HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the person at the page sees what it answers."""


def _json(value: Any) -> bytes:
    """JSON in ASCII, so that no character of an input can end an event or a line."""
    return json.dumps(value, separators=(",", ":")).encode()
