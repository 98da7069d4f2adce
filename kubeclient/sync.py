"""Blocking client of an API server on http.client: requests on a kept connection, watches on connections of their own.

with Client(kubeconfig.load(path)) as client:
    code, pod = client.send("GET", "/api/v1/namespaces/default/pods/web")
    client.call("DELETE", "/api/v1/namespaces/default/pods/web")  # StatusError unless it succeeds
"""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import ssl
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.answer import JSON, Answer
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import StatusError as StatusError
from podstrat.kubeclient.errors import Unavailable, unavailable
from podstrat.kubeclient.proxy import LARGEST_HEAD, Proxy, check_tunnel

TIMEOUT = 60.0
"""Seconds to wait for each part of an answer."""


class Client:
    """One API server, for one thread: a configuration, or a kubeconfig file with its current context."""

    def __init__(self, config: ClientConfig | Path, timeout: float = TIMEOUT) -> None:
        self.config = kubeconfig.load(config) if isinstance(config, Path) else config
        self._timeout = timeout
        self._connection: _Connection | None = None

    def call(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> Any:
        """One request: the body of the answer, or StatusError."""
        answer = self.request(method, path, body, content_type)
        if answer.code >= 300:
            raise answer.error()
        return answer.body

    def send(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> tuple[int, Any]:
        """One request: the status code, and the body as a value."""
        answer = self.request(method, path, body, content_type)
        return answer.code, answer.body

    def request(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        return self.exchange(method, path, data, {"Content-Type": content_type})

    def exchange(self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request with these bytes as its body. After a 401 it is sent again if there are newer credentials."""
        identity = self.config.credentials.current()
        answer = self._exchanged(identity, method, path, data, headers or {})
        if answer.code == 401 and self.config.credentials.renewed(identity):
            answer = self._exchanged(self.config.credentials.current(), method, path, data, headers or {})
        return answer

    def watch(self, path: str) -> Generator[dict[str, Any], None, None]:
        """The events of a watch as they arrive."""
        identity = self.config.credentials.current()
        with contextlib.closing(self.connection()) as connection, _failures(self.config):
            _send(connection, self.config, identity, "GET", path, None, {})
            response = connection.getresponse()
            if response.status >= 300:
                raise Answer(response.status, response.headers, response.read()).error()
            for line in response:
                yield _event(line)

    def connection(self) -> _Connection:
        """A new connection, not yet opened."""
        return _Connection(self.config, self.config.tls(self.config.credentials.current()), self._timeout)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _exchanged(self, identity: Identity, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection = self._idle(identity) or _Connection(self.config, self.config.tls(identity), self._timeout)
        try:
            with _failures(self.config):
                _send(connection, self.config, identity, method, path, data, headers)
                response = connection.getresponse()
                text = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._connection = connection
        return Answer(response.status, response.headers, text)

    def _idle(self, identity: Identity) -> _Connection | None:
        """The kept connection, unless the server has closed it or the certificate is another one. It is put back after use."""
        connection, self._connection = self._connection, None
        if connection is None:
            return None
        if connection.context is self.config.tls(identity) and not select.select([connection.sock], [], [], 0)[0]:
            return connection
        connection.close()
        return None


class _Connection(http.client.HTTPConnection):
    """A connection to the API server, through its proxy and with TLS as configured."""

    def __init__(self, config: ClientConfig, context: ssl.SSLContext | None, timeout: float) -> None:
        host, port = (config.host, config.port) if config.proxy is None else config.proxy[:2]
        super().__init__(host, port, timeout=timeout)
        self.context = context
        self._config = config

    def connect(self) -> None:
        super().connect()
        config = self._config
        if self.context is None:
            return
        if config.proxy is not None:
            self._open_tunnel(config.proxy)
        self.sock = self.context.wrap_socket(self.sock, server_hostname=config.server_name or config.host)

    def _open_tunnel(self, proxy: Proxy) -> None:
        self.sock.sendall(proxy.connect_request(self._config.host, self._config.port))
        head = b""
        while b"\r\n\r\n" not in head and len(head) < LARGEST_HEAD and (more := self.sock.recv(4096)):
            head += more
        check_tunnel(head)


def _send(
    connection: _Connection,
    config: ClientConfig,
    identity: Identity,
    method: str,
    path: str,
    data: bytes | None,
    headers: Mapping[str, str],
) -> None:
    connection.putrequest(method, config.target(path), skip_host=True, skip_accept_encoding=True)
    names = {name.lower() for name in headers}
    every = [("Host", config.authority_part), ("Accept", JSON), *config.headers(identity)]
    for name, value in [*(pair for pair in every if pair[0].lower() not in names), *headers.items()]:
        connection.putheader(name, value.encode())
    if "content-length" not in names and (data is not None or method not in ("GET", "HEAD", "DELETE")):
        connection.putheader("Content-Length", str(len(data or b"")))
    connection.endheaders(data)


def _event(line: bytes) -> dict[str, Any]:
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        raise Unavailable("the watch ended within an event") from None
    return event


@contextlib.contextmanager
def _failures(config: ClientConfig) -> Generator[None, None, None]:
    """Whatever the layers below raise is Unavailable, with their reason."""
    try:
        yield
    except Unavailable:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise unavailable(config.address, error) from error
