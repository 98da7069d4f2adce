"""The webhook as a child process, and those who call it: real sockets, real TLS, real signals."""

from __future__ import annotations

import contextlib
import http.client
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from podstrat.certs import folder as kept
from podstrat.certs import rotation
from tests.eventually import eventually

PATIENCE = 120.0


def until(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Waits for something to be so."""
    return eventually(what, seconds)


def certificates(folder: Path, *names: str) -> Path:
    """A folder with certificates for these names."""
    kept.write(folder, rotation.begin(names or ("localhost",), datetime.now(UTC), rotation.Policy()))
    return folder


class Replica:
    """One webhook process with its workers."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log = folder / "log"
        self._ready = folder / "ready"
        chosen = {
            "host": "127.0.0.1",
            "metrics_host": "127.0.0.1",
            "port": 0,
            "metrics_port": 0,
            "ready_file": self._ready,
            "drain_seconds": 0,
            "workers": 1,
            # On a busy machine neither a handshake nor a review in the queue is given up, unless a test is about that.
            "handshake_seconds": PATIENCE,
            "patience_seconds": PATIENCE,
        } | settings
        self._flags = [part for name, value in chosen.items() for part in (f"--{name.replace('_', '-')}", str(value))]
        self.module = "podstrat"
        """What is run; tests of faults name a module that puts them in first."""
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Replica:
        self._ready.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", self.module, "webhook", *self._flags]
            # It is killed in the end, and then leaves something behind in its temporary folder.
            environ = {**os.environ, "TMPDIR": str(self.folder)}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environ, start_new_session=True)
        until(lambda: self._ready.exists() or self.process is None or self.process.poll() is not None)
        assert self._ready.exists(), self.log.read_text()
        self.url, self.metrics_url = self._ready.read_text().split()
        self.port = urlsplit(self.url).port or 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill(signal.SIGKILL)

    def kill(self, sign: int) -> int | None:
        """Sends a signal: SIGKILL to all of its processes, another one to the first. Waits for the end."""
        if self.process is None:
            return None
        if sign == signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, sign)
        else:
            self.process.send_signal(sign)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code

    def processes(self) -> list[int]:
        """The process ids of its workers and of the one that supervises."""
        assert self.process is not None
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(word) for word in text.split()]

    def workers(self) -> list[int]:
        """The process ids of its workers, by their heartbeats."""
        return sorted(int(path.stem) for path in self.folder.glob("podstrat-webhook-*/*.beat"))

    def supervisor(self) -> int:
        """The process id of the one that supervises."""
        (found,) = set(self.processes()) - set(self.workers())
        return found

    def plain(self, path: str) -> tuple[int, str]:
        """From the plain port."""
        try:
            with urllib.request.urlopen(f"{self.metrics_url}{path}", timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def is_ready(self) -> bool:
        try:
            return self.plain("/readyz")[0] == 200
        except (OSError, http.client.HTTPException):  # it may end in the middle of an answer
            return False

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        lines = self.plain("/metrics")[1].splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"podstrat_webhook_{name}"))


def trusting(bundle: Path | bytes) -> ssl.SSLContext:
    text = bundle if isinstance(bundle, bytes) else bundle.read_bytes()
    context = ssl.create_default_context(cadata=text.decode())
    # As strict as newer Pythons are by themselves.
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


class Caller:
    """Calls a webhook as an API server does: on a connection that is kept, and made anew when it has been closed."""

    def __init__(
        self, address: tuple[str, int], trust: Callable[[], ssl.SSLContext], name: str = "localhost", keep: bool = True
    ) -> None:
        self._address, self._trust, self._name, self._keep = address, trust, name, keep
        self._connection: http.client.HTTPConnection | None = None
        self.connections = 0
        self.port = 0
        """Our end of the last connection."""

    def call(self, path: str, body: bytes) -> tuple[int, bytes]:
        if self._connection is not None and self._is_stale():
            self.close()
        if self._connection is None:
            self._connection = self._connect()
        try:
            self._connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            found = response.status, response.read()
        except BaseException:
            self.close()
            raise
        if response.will_close or not self._keep:
            self.close()
        return found

    def _is_stale(self) -> bool:
        """Closed by the other side while nobody looked."""
        sock = self._connection.sock if self._connection is not None else None
        return sock is None or bool(select.select([sock], [], [], 0)[0])

    def _connect(self) -> http.client.HTTPConnection:
        self.connections += 1
        context = self._trust()
        raw = socket.create_connection(self._address, timeout=PATIENCE)
        self.port = raw.getsockname()[1]
        connection = http.client.HTTPConnection(*self._address, timeout=PATIENCE)
        try:
            connection.sock = context.wrap_socket(raw, server_hostname=self._name)
        except BaseException:
            raw.close()
            raise
        return connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def served(self) -> bytes:
        """The certificate that was shown, as DER."""
        if self._connection is None:
            self._connection = self._connect()
        shown = self._connection.sock.getpeercert(binary_form=True)
        assert shown
        found: bytes = shown
        return found


class Load:
    """Callers that call without a pause, each in a thread of its own."""

    def __init__(self, callers: list[Caller], path: str, body: bytes) -> None:
        self.good = [0] * len(callers)
        self.failures: list[tuple[int, str]] = []
        """The port that a call came from, and what went wrong."""
        self._callers, self._path, self._body = callers, path, body
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(number,)) for number in range(len(callers))]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        for caller in self._callers:
            caller.close()

    def _work(self, number: int) -> None:
        while not self._stop.is_set():
            try:
                code, answer = self._callers[number].call(self._path, self._body)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((self._callers[number].port, f"{type(error).__name__}: {error}"))
                continue
            if code == 200 and b'"allowed":true' in answer:
                self.good[number] += 1
            else:
                self.failures.append((self._callers[number].port, f"{code} {answer[:200]!r}"))

    def progress(self, more: int = 5) -> None:
        """Waits until every caller has had so many answers more."""
        wanted = [count + more for count in self.good]
        until(lambda: all(count >= want for count, want in zip(self.good, wanted, strict=True)))


class Balancer:
    """A small TCP balancer: each connection goes to a replica that is ready, the next in turn."""

    def __init__(self, replicas: list[Replica], look_seconds: float = 0.05) -> None:
        self._replicas = replicas
        self._ready: list[Replica] = []
        self._turn = 0
        self.routes: dict[int, Replica] = {}
        """Where the connection from a port has gone."""
        self._stop = threading.Event()
        self._look = look_seconds
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]

    def __enter__(self) -> Balancer:
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._watch, self._accept)]
        for thread in self._threads:
            thread.start()
        until(lambda: len(self._ready) == len(self._replicas))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        # Closing alone would not wake whoever waits in accept.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def has_left(self, replica: Replica) -> bool:
        """Whether new connections go to others only."""
        return replica not in self._ready and bool(self._ready)

    def _watch(self) -> None:
        while True:
            self._ready = [each for each in self._replicas if each.process is not None and each.is_ready()]
            if self._stop.wait(self._look):
                return

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, client: socket.socket) -> None:
        with client:
            server = self._connected(client.getpeername()[1])
            if server is None:
                return
            with server:
                back = threading.Thread(target=_pump, args=(client, server), daemon=True)
                back.start()
                _pump(server, client)
                back.join()

    def _connected(self, port: int) -> socket.socket | None:
        """To the next replica that takes the connection, as a Service does."""
        for _ in range(100):
            ready = self._ready or self._replicas
            self._turn += 1
            replica = ready[self._turn % len(ready)]
            try:
                found = socket.create_connection(("127.0.0.1", replica.port), timeout=PATIENCE)
            except OSError:
                time.sleep(0.01)
            else:
                self.routes[port] = replica
                return found
        return None


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for each, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            each.shutdown(how)
