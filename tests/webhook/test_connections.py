"""The event loop by itself: what an error of ours, or a lack of file descriptors, costs."""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from podstrat.webhook.connections import Connection, Limits, Loop, State
from tests.eventually import eventually
from tests.webhook.child import PATIENCE, certificates, trusting

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


class Echo:
    """A service that answers with the request, and counts what it is told."""

    def __init__(self, tls: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
        self.evictions: list[str] = []
        self.states: dict[State, int] = {}

    def context(self) -> ssl.SSLContext:
        return self._context

    def serve(self, connection: Connection, request: bytes) -> bool:
        connection.sock.sendall(request)
        return True

    def rejection(self, head: bytes, code: int) -> bytes:
        return b"%d" % code

    def connections(self, counts: dict[State, int]) -> None:
        self.states = counts

    def evicted(self, limit: str) -> None:
        self.evictions.append(limit)

    def handshake_failed(self, reason: str) -> None:
        """Not of interest here."""


@contextmanager
def looping(tmp_path: Path, **limits: Any) -> Iterator[tuple[Loop, Echo, Callable[[], ssl.SSLSocket]]]:
    """A loop, its service, and how to connect to it."""
    tls = certificates(tmp_path / "tls")
    service, pool = Echo(tls), ThreadPoolExecutor(2)
    limits = {"handshake_seconds": PATIENCE, "read_seconds": PATIENCE} | limits
    opened: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        loop = Loop([listener], service, pool, Limits(**limits), service)
        loop.start()

        def connect() -> ssl.SSLSocket:
            plain = socket.create_connection(listener.getsockname(), 60)
            shaken = ThreadPoolExecutor(1).submit(trusting(tls / "ca.crt").wrap_socket, plain, server_hostname="localhost")
            while not shaken.done():
                loop.turn(0.02)
            opened.append(shaken.result())
            return shaken.result()

        yield loop, service, connect
        for each in opened:
            each.close()
        loop.close()
    pool.shutdown()


def received(loop: Loop, client: ssl.SSLSocket, size: int = 100) -> bytes:
    """What the client receives while the loop turns."""
    client.settimeout(0.02)

    def receive() -> tuple[bytes] | None:
        loop.turn(0.02)
        with contextlib.suppress(TimeoutError):
            return (client.recv(size),)
        return None

    return eventually(receive, PATIENCE)[0]


def turns_until(loop: Loop, check: Callable[[], object]) -> None:
    def turn() -> object:
        loop.turn(0.02)
        return check()

    eventually(turn, PATIENCE, every=0)


def test_an_error_of_ours_costs_one_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with looping(tmp_path) as (loop, _, connect):
        good, bad = connect(), connect()
        real = Loop._take

        def take(self: Loop, connection: Connection, data: bytes) -> None:
            if data == b"bad":
                raise RuntimeError("we are wrong")
            real(self, connection, data)

        monkeypatch.setattr(Loop, "_take", take)
        bad.sendall(b"bad")
        assert received(loop, bad) == b""
        assert "we are wrong" in caplog.text
        good.sendall(GET)
        assert received(loop, good) == GET
        assert loop.open == 1


def test_without_file_descriptors_room_is_made(tmp_path: Path) -> None:
    class Exhausted:
        def accept(self) -> Any:
            raise OSError(errno.EMFILE, "Too many open files")

    with looping(tmp_path) as (loop, service, connect):
        connect()
        turns_until(loop, lambda: all(each.state == "idle" and each.events for each in loop._connections))
        assert loop.open == 1
        loop._accept(Exhausted())  # type: ignore[arg-type]
        assert (loop.open, service.evictions) == (0, ["files"])


@pytest.mark.parametrize("served", [False, True])
def test_who_is_evicted_for_memory(tmp_path: Path, served: bool) -> None:
    """The request that is being read longest, of those who were not served before."""
    head = b"POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n"
    with looping(tmp_path, buffered=6000) as (loop, service, connect):
        first, second = connect(), connect()
        if served:
            first.sendall(GET)
            assert received(loop, first) == GET
        first.sendall(head + b"x" * 4000)
        turns_until(loop, lambda: loop._buffered > 4000)
        second.sendall(head + b"x" * 4000)
        turns_until(loop, lambda: service.evictions)
        assert service.evictions == ["buffered"]
        assert received(loop, second if served else first) == b""


def test_an_oversized_body_is_answered_when_it_has_been_sent(tmp_path: Path) -> None:
    with looping(tmp_path, body=1000, discarded=3000) as (loop, _, connect):
        client = connect()
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + b"x" * 1500)
        turns_until(loop, lambda: any(each.discard == 500 for each in loop._connections))
        client.sendall(b"x" * 500)
        assert received(loop, client) == b"413"


def test_at_the_end_unused_connections_are_served_once_and_new_ones_refused(tmp_path: Path) -> None:
    with looping(tmp_path) as (loop, _, connect):
        used, unused = connect(), connect()
        used.sendall(GET)
        assert received(loop, used) == GET
        address = unused.getpeername()
        waiting = socket.create_connection(address, 60)
        loop.end()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 60)
        assert received(loop, used) == b""
        unused.sendall(GET)
        assert received(loop, unused) == GET
        assert received(loop, unused) == b""
        assert loop.open == 1, "the connection that waited to be accepted"
        waiting.close()
        turns_until(loop, lambda: not loop.open)


def test_an_unused_connection_does_not_delay_the_end(tmp_path: Path) -> None:
    with looping(tmp_path) as (loop, _, connect):
        unused = connect()
        loop.end()
        loop._limits = loop._limits._replace(handshake_seconds=0.0)
        assert received(loop, unused) == b""
        assert loop.open == 0


def test_silent_sockets_do_not_end_a_handshake_under_way(tmp_path: Path) -> None:
    """At the limit of handshakes those go first whose client has sent no complete ClientHello."""
    with looping(tmp_path, handshakes=4) as (loop, service, connect):
        address = connect().getpeername()
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting(tmp_path / "tls" / "ca.crt").wrap_bio(incoming, outgoing, server_hostname="localhost")
        with contextlib.ExitStack() as stack:
            honest = stack.enter_context(socket.create_connection(address))
            with pytest.raises(ssl.SSLWantReadError):
                client.do_handshake()
            honest.sendall(outgoing.read())
            honest.settimeout(0)
            turns_until(loop, lambda: _arrived(honest, incoming))
            for _ in range(12):
                stack.enter_context(socket.create_connection(address))
            turns_until(loop, lambda: len(service.evictions) == 9)
            client.do_handshake()
            honest.sendall(outgoing.read())
            client.write(GET)
            honest.sendall(outgoing.read())
            turns_until(loop, lambda: _arrived(honest, incoming) and _decrypted(client) == GET)


def _arrived(sock: socket.socket, bio: ssl.MemoryBIO) -> bool:
    with contextlib.suppress(BlockingIOError):
        data = sock.recv(65536)
        assert data, "the connection was closed"
        bio.write(data)
        return True
    return False


def _decrypted(client: ssl.SSLObject) -> bytes:
    with contextlib.suppress(ssl.SSLWantReadError):
        return client.read()
    return b""
