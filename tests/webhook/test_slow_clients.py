"""Idle sockets, half-open handshakes and slow bodies do not hold up reviews: no thread is used before a request is complete."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.strategy import make
from tests.webhook.child import PATIENCE, Caller, Replica, certificates, trusting, until
from tests.webhook.reviews import review

BODY = json.dumps(review(make.pod())).encode()
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""The beginning of a ClientHello."""
SLOW = b"POST /mutate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"


@contextmanager
def running(folder: Path, **settings: object) -> Iterator[tuple[Replica, ssl.SSLContext]]:
    tls = certificates(folder / "tls")
    with Replica(folder / "replica", cert_dir=tls, **settings) as replica:
        until(replica.is_ready)
        yield replica, trusting(tls / "ca.crt")
    assert "Traceback" not in replica.log.read_text()


def connect(replica: Replica, trust: ssl.SSLContext | None = None, sent: bytes = b"") -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", replica.port), PATIENCE)
    if trust is not None:
        sock = trust.wrap_socket(sock, server_hostname="localhost")
    if sent:
        sock.sendall(sent)
    return sock


def threads_of(replica: Replica) -> int:
    return max(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in replica.workers())


def memory_of(replica: Replica) -> int:
    """The resident memory of the largest process, in MiB."""
    lines = [line for pid in replica.workers() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return max(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


class Reviews:
    """Clients that review without a pause, half of them on connections that they keep; the longest time is printed."""

    def __init__(self, replica: Replica, trust: ssl.SSLContext, clients: int) -> None:
        self._callers = [Caller(("127.0.0.1", replica.port), lambda: trust, keep=number % 2 == 0) for number in range(clients)]
        self.longest = [0.0] * clients
        self.good = [0] * clients
        self.failures: list[str] = []
        self._stop = threading.Event()

    def __enter__(self) -> Reviews:
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(len(self._callers))]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        for caller in self._callers:
            caller.close()

    def _work(self, number: int) -> None:
        while not self._stop.wait(0.05):
            began = time.monotonic()
            try:
                code, answer = self._callers[number].call("/mutate?timeout=30s", BODY)
            except Exception as error:
                self.failures.append(repr(error))
                continue
            self.longest[number] = max(self.longest[number], time.monotonic() - began)
            if code == 200:
                self.good[number] += 1
            else:
                self.failures.append(f"{code} {answer[:100]!r}")


def test_slow_clients(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """300 idle sockets, 200 half-open handshakes and 200 slow bodies, which are not given up, while 20 clients review."""
    patient = {"read_seconds": PATIENCE, "handshake_seconds": PATIENCE, "patience_seconds": 15}
    with running(tmp_path, workers=2, **patient) as (replica, trust), ExitStack() as stack:
        before = memory_of(replica)
        with Reviews(replica, trust, 20) as reviews:
            until(lambda: all(reviews.good))
            for _ in range(300):
                stack.callback(connect(replica).close)
            for _ in range(200):
                stack.callback(connect(replica, sent=HELLO).close)
            for _ in range(200):
                stack.callback(connect(replica, trust, SLOW).close)
            so_far = list(reviews.good)
            until(lambda: all(now >= then + 20 for now, then in zip(reviews.good, so_far, strict=True)))
            threads, memory = threads_of(replica), memory_of(replica)
        with capsys.disabled():
            print(
                f"\nslow clients: {sum(reviews.good)} reviews, {len(reviews.failures)} failed, "
                f"longest {max(reviews.longest):.2f} s; "
                f"at most {threads} threads, {before} to {memory} MiB a process"
            )
        assert reviews.failures == []
        assert threads < 60
        assert memory - before < 150


def test_half_open_handshakes_end_after_their_time(tmp_path: Path) -> None:
    with running(tmp_path, handshake_seconds=0.5, workers=1) as (replica, _):
        silent, begun = connect(replica), connect(replica, sent=HELLO)
        for each in (silent, begun):
            assert each.recv(100) == b""
            each.close()
        until(lambda: replica.metric('tls_handshake_failures_total{reason="timeout"') == 2)


def test_at_the_limit_the_longest_idle_goes_first(tmp_path: Path) -> None:
    """Those that have been served before keep their connections."""
    with running(tmp_path, connections=10, workers=1) as (replica, trust):
        kept = [Caller(("127.0.0.1", replica.port), lambda: trust) for _ in range(5)]
        for caller in kept:
            assert caller.call("/mutate", BODY)[0] == 200
        idle = [connect(replica, trust) for _ in range(12)]
        for caller in kept:
            assert caller.call("/mutate", BODY)[0] == 200
            assert caller.connections == 1
            caller.close()
        until(lambda: replica.metric('connections_evicted_total{limit="connections"') == 7)
        gone = 0
        for each in idle:
            each.settimeout(0.2)
            try:
                gone += each.recv(1) == b""
            except TimeoutError:
                pass
            except OSError:
                gone += 1
            each.close()
        assert gone == 7


def test_handshakes_have_a_limit_of_their_own(tmp_path: Path) -> None:
    with running(tmp_path, handshakes=4, handshake_seconds=60, workers=1) as (replica, trust), ExitStack() as stack:
        for _ in range(20):
            stack.callback(connect(replica, sent=HELLO).close)
        caller = Caller(("127.0.0.1", replica.port), lambda: trust)
        assert caller.call("/mutate", BODY)[0] == 200
        caller.close()
        until(lambda: replica.metric('connections_evicted_total{limit="handshakes"') >= 16)


def test_connections_are_counted_by_state(tmp_path: Path) -> None:
    with running(tmp_path, workers=1) as (replica, trust):
        idle, slow, half = connect(replica, trust), connect(replica, trust, SLOW), connect(replica, sent=HELLO)
        counts = {"idle": 1.0, "reading": 1.0, "handshake": 1.0}
        until(lambda: {state: replica.metric(f'connections{{state="{state}"') for state in counts} == counts)
        for each in (idle, slow, half):
            each.close()
        until(lambda: sum(replica.metric(f'connections{{state="{state}"') for state in counts) == 0)


def test_a_body_in_chunks(tmp_path: Path) -> None:
    with running(tmp_path, workers=1) as (replica, trust):
        sock = connect(replica, trust)
        head = b"POST /mutate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        sock.sendall(head + b"%x\r\n" % len(BODY) + BODY[:100])
        time.sleep(0.1)
        sock.sendall(BODY[100:] + b"\r\n0\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        # Two requests at once are answered one after the other.
        sized = (
            b"POST /mutate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
        )
        sock.sendall(sized + sized)
        answers = b""
        while answers.count(b"HTTP/1.1 200 OK") < 2:
            answers += sock.recv(65536)
        sock.close()
