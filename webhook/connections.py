"""Connection layer: one event loop accepts, shakes hands and reads; threads get complete requests only.

| state     | since                        | ends after                                    | uses a thread          |
|-----------|------------------------------|-----------------------------------------------|------------------------|
| handshake | accepted                     | handshake_seconds (3), also without any byte  | while bytes are there  |
| idle      | established, or answered     | keep_alive_seconds (longer than Go's 90)      | no                     |
| reading   | first byte of a request      | read_seconds, with 408                        | no                     |
| busy      | request complete             | the response is sent                          | yes                    |
| closing   | rejected while bytes follow  | the client closes, or CLOSING_SECONDS         | no                     |

Limits are those of one process. When the number of connections reaches its limit, the connection without a completed request that
has been idle longest is closed first; so clients that keep their connections, as API servers do, keep their service. Handshakes
have a limit and threads of their own, and so does the memory for requests that are being read. At the limit of handshakes a
client that has sent no complete ClientHello goes first: a burst of silent sockets does not end the handshakes of others.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import logging
import os
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, Protocol

from podstrat.webhook.framing import Framer, TooLarge

KEEP_ALIVE_SECONDS = 120.0
"""Go's clients close idle connections after 90 s: the server must not close first, or a request may race with the close."""
CLOSING_SECONDS = 1.0  # a TLS close takes one round trip; more is a client that is gone
HANDSHAKE_THREADS = 2  # one a core of a small pod: handshakes are processor time
ACCEPTS = 64
"""Connections accepted in a row before others get their turn."""
CHUNK = 64 * 1024  # four TLS records
SWEEP_SECONDS = 0.25  # a timeout is late by this at most: little beside seconds
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

log = logging.getLogger("podstrat.webhook")

State = Literal["handshake", "idle", "reading", "busy", "closing"]
STATES: tuple[State, ...] = ("handshake", "idle", "reading", "busy", "closing")


class Limits(NamedTuple):
    """The limits of one process."""

    connections: int = 1000
    """Below the usual limit of 1024 open files. An API server keeps a few connections a replica."""
    handshakes: int = 200
    """A fifth of the connections: half-open ones cannot take all places."""
    buffered: int = 64 * 1024 * 1024
    """Bytes of requests that are being read, together."""
    body: int = 7 * 1024 * 1024
    """Old and new object of 3 MiB each, and what is around them."""
    discarded: int = 28 * 1024 * 1024
    """How much of an oversized body is read and discarded: most clients read the response only after sending everything."""
    handshake_seconds: float = 3.0
    """Two round trips and a signature, with one lost packet sent again."""
    read_seconds: float = 10.0
    """The API server's default timeout of a webhook: afterwards nothing waits for the answer."""
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS


class Connection:
    """One client. Only the loop changes its state."""

    def __init__(self, sock: socket.socket, client: Any, server: Any, framer: Framer, now: float) -> None:
        self.sock = sock
        self.client = client
        self.server = server
        self.framer = framer
        self.state: State = "handshake"
        self.since = now
        """When it was last active: it got this state."""
        self.greeted = False
        """Whether a complete ClientHello has arrived."""
        self.requests = 0
        """Completed requests."""
        self.buffer = bytearray()
        self.events = 0
        """What the selector waits for; 0 if it is not registered."""
        self.discard: int | None = None
        """How much of an oversized body is still to be discarded."""


class Observer(Protocol):
    """What is counted."""

    def connections(self, counts: dict[State, int]) -> None: ...

    def evicted(self, limit: str) -> None: ...

    def handshake_failed(self, reason: str) -> None: ...


class Service(Protocol):
    """What the loop serves."""

    def context(self) -> ssl.SSLContext:
        """The TLS context for a new connection."""

    def serve(self, connection: Connection, request: bytes) -> bool:
        """Answers a complete request, in a thread; whether the connection may be kept."""

    def rejection(self, head: bytes, code: int) -> bytes:
        """The response to a request that is not served: 408 or 413."""


class Loop:
    """The event loop of one process."""

    def __init__(
        self, listeners: Iterable[socket.socket], service: Service, pool: ThreadPoolExecutor, limits: Limits, observer: Observer
    ) -> None:
        self._listeners = list(listeners)
        self._service = service
        self._pool = pool
        self._handshakers = ThreadPoolExecutor(HANDSHAKE_THREADS, "handshake")
        self._limits = limits
        self._observer = observer
        self._selector = selectors.DefaultSelector()
        self._connections: set[Connection] = set()
        self._finished: collections.deque[tuple[Callable[..., None], tuple[Any, ...]]] = collections.deque()
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        self._buffered = 0
        self._handshakes = 0
        self._swept = 0.0
        self._accepting = False
        self._ending = False

    # ---- life ------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._selector.register(self._woken, selectors.EVENT_READ)
        for listener in self._listeners:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)
        self._accepting = True

    def turn(self, timeout: float) -> None:
        """Waits for events for at most so long, and handles them."""
        for key, _ in self._selector.select(min(timeout, SWEEP_SECONDS)):
            if isinstance(key.data, Connection):
                self._guarded(key.data, self._ready, key.data)
            elif key.fileobj == self._woken:
                self._run_finished()
            else:
                self._accept(key.fileobj)  # type: ignore[arg-type]
        now = time.monotonic()
        if now - self._swept >= SWEEP_SECONDS:
            self._swept = now
            self._sweep(now)

    def later(self, call: Callable[..., None], *args: Any) -> None:
        """Has something done by the loop; may be called by any thread."""
        self._finished.append((call, args))
        with contextlib.suppress(OSError):
            os.write(self._wake, b"\0")

    def end(self) -> None:
        """Refuses new connections, and closes idle ones: clients try again elsewhere.

        A connection that has been made but not used yet is served once: its client would take the end of it for a failure.
        """
        self._ending = True
        if self._accepting:
            self._accepting = False
            for listener in self._listeners:
                while self._accept(listener) == ACCEPTS:
                    pass
                self._selector.unregister(listener)
                listener.close()
        for connection in list(self._connections):
            if connection.state == "idle" and connection.requests:
                self._close(connection)

    @property
    def open(self) -> int:
        return len(self._connections)

    def close(self) -> None:
        for connection in list(self._connections):
            self._close(connection)
        self._handshakers.shutdown(wait=False)
        self._selector.close()
        os.close(self._woken)
        os.close(self._wake)

    def _run_finished(self) -> None:
        with contextlib.suppress(OSError):
            os.read(self._woken, 4096)
        while self._finished:
            call, args = self._finished.popleft()
            self._guarded(args[0] if args else None, call, *args)

    def _guarded(self, connection: Connection | None, call: Callable[..., None], *args: Any) -> None:
        """An error of ours costs one connection, not the process."""
        try:
            call(*args)
        except Exception:
            log.exception("connection failed")
            if connection is not None:
                self._close(connection)

    # ---- accepting -------------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> int:
        """Accepts the connections that are waiting, at most ACCEPTS of them; their number."""
        for count in range(ACCEPTS):
            try:
                sock, client = listener.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    # The listener stays readable: without room the loop would spin.
                    self._evict("files", "handshake", "idle", "reading")
                return count
            sock.setblocking(False)
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._make_room()
            connection = Connection(sock, client, listener.getsockname(), Framer(self._limits.body), time.monotonic())
            self._connections.add(connection)
            self._handshakes += 1
            self._watch(connection, selectors.EVENT_READ)
        return ACCEPTS

    def _make_room(self) -> None:
        if self._handshakes >= self._limits.handshakes:
            self._evict("handshakes", "handshake")
        if len(self._connections) >= self._limits.connections:
            self._evict("connections", "handshake", "idle", "reading")

    def _evict(self, limit: str, *states: State) -> None:
        """Closes the connection that has been inactive longest: first one without a ClientHello, then one without a request."""
        candidates = [each for each in self._connections if each.state in states and each.events]
        if candidates:
            self._close(min(candidates, key=lambda each: (each.requests > 0, each.greeted, each.since)))
            self._observer.evicted(limit)

    # ---- one connection ----------------------------------------------------------------------------------

    def _ready(self, connection: Connection) -> None:
        if connection.state == "handshake":
            self._watch(connection, 0)
            self._handshakers.submit(self._shake, connection)
        elif connection.state == "closing":
            self._drain(connection)
        else:
            self._read(connection)

    def _shake(self, connection: Connection) -> None:
        """One step of a handshake, in a thread of its own kind: bytes have arrived."""
        events, failure = 0, ""
        try:
            if not isinstance(connection.sock, ssl.SSLSocket):
                context = self._service.context()
                connection.sock = context.wrap_socket(connection.sock, server_side=True, do_handshake_on_connect=False)
            connection.sock.do_handshake()
        except ssl.SSLWantReadError:
            events = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            events = selectors.EVENT_WRITE
        except (OSError, ValueError) as error:
            failure = str(getattr(error, "reason", "") or "error")
        self.later(self._shaken, connection, events, failure)

    def _shaken(self, connection: Connection, events: int, failure: str) -> None:
        if connection not in self._connections:
            connection.sock.close()
        elif failure:
            self._observer.handshake_failed(failure.lower())
            self._close(connection)
        elif events:
            # Ciphers are compared when the whole ClientHello has been read.
            connection.greeted = connection.sock.shared_ciphers() is not None  # type: ignore[attr-defined]
            self._watch(connection, events)
            if self._handshakes > self._limits.handshakes:
                # None could be closed when the last one was accepted: all were in the middle of a step.
                self._evict("handshakes", "handshake")
        else:
            connection.greeted = True
            self._become(connection, "idle")
            self._read(connection)

    def _read(self, connection: Connection) -> None:
        """Takes what has arrived; a complete request goes to a thread."""
        try:
            while True:
                data = connection.sock.recv(CHUNK)
                if not data:
                    self._close(connection)
                    return
                if connection.state == "idle":
                    self._become(connection, "reading")
                self._take(connection, data)
                if connection.state != "reading":
                    return
        except (ssl.SSLWantReadError, BlockingIOError):
            self._watch(connection, selectors.EVENT_READ)
        except ssl.SSLWantWriteError:
            self._watch(connection, selectors.EVENT_WRITE)
        except (OSError, ValueError):
            self._close(connection)

    def _take(self, connection: Connection, data: bytes) -> None:
        if connection.discard is not None:
            connection.discard -= len(data)
            if connection.discard <= 0:
                self._reject(connection, 413)
            return
        connection.buffer += data
        self._buffered += len(data)
        if self._buffered > self._limits.buffered:
            self._evict("buffered", "reading")
            if connection not in self._connections:
                return
        self._dispatch(connection)

    def _dispatch(self, connection: Connection) -> None:
        """Hands the first request of the buffer to a thread if it is complete."""
        try:
            end = connection.framer.end(connection.buffer)
        except TooLarge:
            self._oversized(connection)
            return
        if end:
            request = bytes(connection.buffer[:end])
            del connection.buffer[:end]
            self._buffered -= end
            self._watch(connection, 0)
            self._become(connection, "busy")
            self._pool.submit(self._handle, connection, request)
        elif connection.framer.expects:
            connection.framer.expects = False
            # A client that is not told sends the body after a moment.
            with contextlib.suppress(OSError):
                connection.sock.send(CONTINUE)

    def _oversized(self, connection: Connection) -> None:
        """Most clients look for a response only when everything has been sent: so the rest is discarded."""
        head, _, body = bytes(connection.buffer[:CHUNK]).partition(b"\r\n\r\n")
        announced = _announced(head)
        connection.discard = min(announced or self._limits.discarded, self._limits.discarded) - max(
            len(body), len(connection.buffer) - len(head) - 4
        )
        self._buffered -= len(connection.buffer)
        connection.buffer = bytearray(head)
        self._buffered += len(connection.buffer)
        if connection.discard <= 0:
            self._reject(connection, 413)

    def _handle(self, connection: Connection, request: bytes) -> None:
        """In a thread."""
        keep = False
        try:
            connection.sock.settimeout(self._limits.read_seconds)
            keep = self._service.serve(connection, request)
            connection.sock.setblocking(False)
        except (OSError, ValueError):
            keep = False
        finally:
            self.later(self._handled, connection, keep)

    def _handled(self, connection: Connection, keep: bool) -> None:
        connection.requests += 1
        if not keep or self._ending:
            self._close(connection)
            return
        self._become(connection, "reading" if connection.buffer else "idle")
        if connection.buffer:
            self._dispatch(connection)
        if connection.state in ("idle", "reading"):
            # Bytes that TLS has decrypted already wake no selector.
            self._read(connection)

    # ---- leaving -----------------------------------------------------------------------------------------

    def _reject(self, connection: Connection, code: int) -> None:
        """Answers without serving, and waits a moment for the client to close: a reset would take the answer away."""
        response = self._service.rejection(bytes(connection.buffer[:CHUNK]), code)
        with contextlib.suppress(OSError, ValueError):
            connection.sock.send(response)
            connection.sock.shutdown(socket.SHUT_WR)
            self._become(connection, "closing")
            self._watch(connection, selectors.EVENT_READ)
            return
        self._close(connection)

    def _drain(self, connection: Connection) -> None:
        try:
            while connection.sock.recv(CHUNK):
                pass
        except BlockingIOError:
            return
        except (OSError, ValueError):
            pass
        self._close(connection)

    def _sweep(self, now: float) -> None:
        """Closes what has taken too long, and reports."""
        limits = self._limits
        longest = {"handshake": limits.handshake_seconds, "idle": limits.keep_alive_seconds, "reading": limits.read_seconds}
        longest["closing"] = CLOSING_SECONDS
        if self._ending:
            longest["idle"] = limits.handshake_seconds
        counts = dict.fromkeys(STATES, 0)
        for connection in list(self._connections):
            counts[connection.state] += 1
            if now - connection.since < longest.get(connection.state, now) or not connection.events:
                continue
            if connection.state == "reading":
                self._reject(connection, 408)
                continue
            if connection.state == "handshake":
                self._observer.handshake_failed("timeout")
            self._close(connection)
        self._observer.connections(counts)

    def _become(self, connection: Connection, state: State) -> None:
        self._handshakes -= connection.state == "handshake"
        connection.state, connection.since = state, time.monotonic()

    def _watch(self, connection: Connection, events: int) -> None:
        if events == connection.events:
            return
        if not connection.events:
            self._selector.register(connection.sock, events, connection)
        elif events:
            self._selector.modify(connection.sock, events, connection)
        else:
            self._selector.unregister(connection.sock)
        connection.events = events

    def _close(self, connection: Connection) -> None:
        if connection not in self._connections:
            return
        self._connections.discard(connection)
        self._handshakes -= connection.state == "handshake"
        self._buffered -= len(connection.buffer)
        connection.buffer = bytearray()
        if connection.events:
            connection.events = 0
            self._selector.unregister(connection.sock)
        with contextlib.suppress(OSError):
            connection.sock.close()


def _announced(head: bytes) -> int:
    """The Content-Length of a head; 0 if there is none."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value.strip()[:15])
    return 0
