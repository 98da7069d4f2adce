"""The webhook client: HTTPS with keep-alive connections and one deadline for the whole call."""

from __future__ import annotations

import base64
import binascii
import http.client
import json
import logging
import math
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from podstrat.apiserver.admission import handshakes
from podstrat.strategy.formats.go import quote

Object = dict[str, Any]
Address = tuple[str, int]

HTTPS_PORT = 443  # the default of ServiceReference.port
IDLE_EACH, IDLE_SECONDS = 8, 30.0
"""How many connections to one webhook are kept when they are not needed, and for how long."""
ERROR_TEXT = 2048
"""How much of a wrong answer is shown."""
HEADERS = {"Accept": "application/json, */*", "Content-Type": "application/json", "User-Agent": "kube-apiserver-admission"}
TOO_LATE = "context deadline exceeded"
log = logging.getLogger("podstrat.apiserver")


class Unreached(Exception):
    """A webhook that did not answer, or with no success; the text says why, in the server's words."""


class NoClient(Exception):
    """A configuration by which no webhook can be called."""


class Endpoint(NamedTuple):
    """Where a webhook is, and whom it must prove to be."""

    shown: str
    """The URL as messages show it."""
    path: str
    authority: str
    """Host and port as the URL has them."""
    host: str
    """The name that its certificate must bear."""
    port: int
    service: str
    """The name of the service; empty for a plain URL."""
    bundle: str
    """The authorities that may vouch for it, as PEM in base64; empty for those of this machine."""


def endpoint(client: Object) -> Endpoint:
    """The endpoint of a clientConfig.

    Upstream: ClientManager.HookClient
    """
    bundle = client.get("caBundle") or ""
    if service := client.get("service"):
        host, port = f"{service['name']}.{service['namespace']}.svc", service.get("port") or HTTPS_PORT
        path = "/" + (service.get("path") or "").lstrip("/")
        authority = f"{host}:{port}"
        return Endpoint(f"https://{authority}{path}", path, authority, host, port, service["name"], bundle)
    url = urlsplit(client.get("url") or "")
    if not url.hostname:
        raise NoClient("webhook configuration must have either service or URL")
    path = url.path or "/"
    return Endpoint(f"{url.scheme}://{url.netloc}{path}", path, url.netloc, url.hostname, url.port or HTTPS_PORT, "", bundle)


class _Socket(ssl.SSLSocket):
    """A socket of which no single step outlasts the deadline of the whole."""

    deadline = math.inf

    def _hurry(self) -> None:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self.settimeout(seconds)

    def recv_into(self, *args: Any, **options: Any) -> int:
        self._hurry()
        return super().recv_into(*args, **options)

    def send(self, *args: Any, **options: Any) -> int:
        self._hurry()
        return super().send(*args, **options)


class _Connection(http.client.HTTPConnection):
    """A connection that has been made already."""

    def __init__(self, end: Endpoint, sock: _Socket) -> None:
        super().__init__(end.host, end.port)
        self.sock: _Socket = sock
        self.since = time.monotonic()
        self.auto_open = 0


class Caller:
    """Calls webhooks. ``resolve`` says where names are found that no name server knows, services above all."""

    def __init__(self, resolve: Mapping[str, Address] | None = None) -> None:
        self._resolve = dict(resolve or {})
        self._lock = threading.Lock()
        self._idle: dict[Endpoint, list[_Connection]] = {}

    def post(self, end: Endpoint, body: bytes, seconds: int) -> bytes:
        """The body of the answer to a POST; Unreached, or NoClient.

        Upstream: rest.Request.Do
        """
        context = _context(end.bundle)
        path = f"{end.path}?timeout={seconds}s"
        deadline = time.monotonic() + seconds
        try:
            connection = self._kept(end)
            if connection is not None:
                try:
                    return self._exchange(end, connection, path, body, deadline)
                except (ConnectionError, http.client.RemoteDisconnected, ssl.SSLError):
                    # The other side had given it up. A fresh one must do.
                    connection.close()
            return self._exchange(end, self._connect(end, context, deadline), path, body, deadline)
        except _Failure as failure:
            raise Unreached(f"Post {quote(f'{end.shown}?timeout={seconds}s')}: {failure}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreached(f"Post {quote(f'{end.shown}?timeout={seconds}s')}: {_why(error)}") from None

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()

    # ---- connections -----------------------------------------------------------------------------------

    def _kept(self, end: Endpoint) -> _Connection | None:
        with self._lock:
            waiting = self._idle.get(end, [])
            while waiting:
                connection = waiting.pop()
                if time.monotonic() - connection.since < IDLE_SECONDS:
                    return connection
                connection.close()
        return None

    def _keep(self, end: Endpoint, connection: _Connection) -> None:
        connection.since = time.monotonic()
        with self._lock:
            waiting = self._idle.setdefault(end, [])
            if len(waiting) < IDLE_EACH:
                waiting.append(connection)
                return
        connection.close()

    def _connect(self, end: Endpoint, context: ssl.SSLContext, deadline: float) -> _Connection:
        address = self._address(end)
        plain = _dialled(address, deadline)
        try:
            plain.settimeout(max(deadline - time.monotonic(), 0.001))
            connection = context.wrap_socket(plain, server_hostname=end.host)
            assert isinstance(connection, _Socket)
            return _Connection(end, connection)
        except ssl.SSLError as error:
            plain.close()
            looked_at = isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in handshakes.ABOUT_THE_LEAF
            leaf = _shown_leaf(address, deadline) if looked_at else None
            raise _Failure(handshakes.why(error, end.host, leaf)) from None
        except BaseException:
            plain.close()
            raise

    def _address(self, end: Endpoint) -> Address:
        override = self._resolve.get(end.host)
        if override is not None:
            return override
        if end.service:
            log.warning("no address for %s: say where it is with --resolve %s=HOST:PORT", end.host, end.host)
            raise _Failure(f"service {quote(end.service)} not found")
        return end.host, end.port

    # ---- requests --------------------------------------------------------------------------------------

    def _exchange(self, end: Endpoint, connection: _Connection, path: str, body: bytes, deadline: float) -> bytes:
        connection.sock.deadline = deadline
        try:
            connection.request("POST", path, body, {**HEADERS, "Host": end.authority})
            response = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        try:
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unreached(f"unexpected error when reading response body. Please retry. Original error: {_why(error)}") from None
        if response.will_close:
            connection.close()
        else:
            self._keep(end, connection)
        if not 200 <= response.status <= 206:
            raise Unreached(_refused(response.status, text, response.headers.get_content_type()))
        if not text:
            kind = response.headers.get("Content-Type", "")
            raise Unreached(f"0-length response with status code: {response.status} and content type: {kind}")
        return text


class _Failure(Exception):
    """What kept a request from being made."""


def _dialled(address: Address, deadline: float) -> socket.socket:
    """A connection to the first of a name's addresses that takes one."""
    host, port = address
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise _Failure(f"dial tcp: lookup {host}: no such host") from None
    last: Exception = _Failure(f"dial tcp: lookup {host}: no such host")
    for family, kind, protocol, _, place in addresses:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(seconds)
            connection.connect(place)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError as error:
            connection.close()
            last = error
            if not isinstance(error, TimeoutError):
                name = f"[{place[0]!s}]" if family == socket.AF_INET6 else str(place[0])
                last = _Failure(f"dial tcp {name}:{port}: connect: {(error.strerror or str(error)).lower()}")
    raise last


def _shown_leaf(address: Address, deadline: float) -> bytes | None:
    """The certificate of a server, unverified: only to explain why it was rejected."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with _dialled(address, deadline) as plain, context.wrap_socket(plain) as looking:
            return looking.getpeercert(binary_form=True)
    except (OSError, _Failure):
        return None


@lru_cache(64)
def _context(bundle: str) -> ssl.SSLContext:
    """A TLS context that trusts the CA bundle alone or, without one, the system's CAs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = _Socket
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    # A bundle may hold the very certificate of the webhook, or one in the middle of the chain.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not bundle:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(cadata=base64.b64decode(bundle).decode("ascii"))
    except (ssl.SSLError, binascii.Error, ValueError):
        raise NoClient("unable to load root certificates: unable to parse bytes as PEM block") from None
    return context


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return TOO_LATE
    if isinstance(error, ssl.SSLError):
        return handshakes.why(error, "", None)
    if isinstance(error, http.client.IncompleteRead):
        return "unexpected EOF"
    if isinstance(error, http.client.RemoteDisconnected):
        return "EOF"
    if isinstance(error, http.client.BadStatusLine):
        return f"net/http: HTTP/1.x transport connection broken: malformed HTTP response {quote(str(error).strip())}"
    if isinstance(error, OSError):
        return (error.strerror or str(error) or "EOF").lower()
    return f"net/http: HTTP/1.x transport connection broken: {error}"


_REFUSALS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


def _refused(code: int, body: bytes, media: str) -> str:
    """The error text of a response that is not a success.

    Upstream: NewGenericServerResponse
    """
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if (
        isinstance(answer, dict)
        and answer.get("kind") == "Status"
        and answer.get("status") == "Failure"
        and answer.get("message")
    ):
        return str(answer["message"])
    if code in _REFUSALS:
        return _REFUSALS[code]
    text = body[:ERROR_TEXT].decode(errors="replace").strip() if media.startswith("text/") else "unknown"
    if code in (403, 406, 415):
        return text
    if code >= 500:
        return f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"
