"""Plain requests to an API server, from a kubeconfig of ours: for fixtures and scenes, where a client library is too much."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import select
import ssl
import tempfile
from collections.abc import Generator, Mapping
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

JSON = "application/json"
TIMEOUT = 60.0
"""Seconds until a server that does not answer is given up."""


class Answer(NamedTuple):
    """What came back."""

    code: int
    headers: Message
    text: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.text or b"null")


class Client:
    """Talks to the server that a kubeconfig written by `podstrat serve` names. For one thread; connections are kept."""

    def __init__(self, kubeconfig: Path, timeout: float = TIMEOUT) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        self._address = urlsplit(cluster["server"])
        self._headers = {"Accept": JSON}
        if "token" in user:
            self._headers["Authorization"] = f"Bearer {user['token']}"
        self._context = _context(cluster, user) if self._address.scheme == "https" else None
        self._timeout = timeout
        self._kept: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> tuple[int, Any]:
        """One request: the status code, and the body as a value."""
        data = None if body is None else json.dumps(body).encode()
        answer = self.exchange(method, path, data, {"Content-Type": content_type})
        return answer.code, answer.body

    def exchange(self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request with whatever bytes as its body, and all that comes back."""
        connection = self._idle() or self.connection()
        try:
            connection.request(method, path, data, {**self._headers, **(headers or {})})
            response = connection.getresponse()
            text = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._kept = connection
        return Answer(response.status, response.headers, text)

    def _idle(self) -> http.client.HTTPConnection | None:
        """The kept connection, unless the server has closed it meanwhile. Whoever takes it gives it back when all went well."""
        kept, self._kept = self._kept, None
        if kept is None or not select.select([kept.sock], [], [], 0)[0]:
            return kept
        kept.close()
        return None

    def watch(self, path: str) -> Generator[dict[str, Any], None, None]:
        """The events of a watch as they come, on a connection of their own."""
        with contextlib.closing(self.connection()) as connection:
            connection.request("GET", path, headers=self._headers)
            for line in connection.getresponse():
                yield json.loads(line)

    def connection(self) -> http.client.HTTPConnection:
        """A new connection."""
        host, port = self._address.hostname or "", self._address.port
        if self._context is None:
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Socket(ssl.SSLSocket):
    """Is closed also where the server hangs up between connection and handshake: there the standard library forgets it."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except ConnectionResetError:
            self.close()
            raise


def _context(cluster: dict[str, str], user: dict[str, str]) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    context.sslsocket_class = _Socket
    if "client-certificate-data" in user:
        # The standard library takes a certificate from a file only.
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
            pair.flush()
            context.load_cert_chain(pair.name)
    return context
