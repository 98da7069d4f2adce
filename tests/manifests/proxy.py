"""A proxy before an API server: it notes every call, can hold one back, and keeps objects of groups that the server lacks."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from podstrat.testing.server import Server

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Call(NamedTuple):
    """One request, and the code of its answer."""

    user: str
    """The bearer token, or nothing."""
    method: str
    path: str
    query: str
    code: int


class Proxy:
    """Plain HTTP before a server with TLS."""

    def __init__(self, server: Server) -> None:
        self._target = urlsplit(server.url)
        cluster = json.loads(server.kubeconfig.read_text())["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._context = ssl.create_default_context(cadata=authority)
        self.groups: tuple[str, ...] = ()
        """Groups with versions, as cert-manager.io/v1, whose objects are kept here."""
        self.before: Callable[[str, str, str], None]
        """Is called with each request before it is passed on: user, method, path."""
        self.version: str
        """The release that /version tells, in place of the server's own; empty for that."""
        self.allows: Callable[[str, str, str], bool]
        """Whether somebody may do something; whoever may not is told so, and the server never hears of it."""
        self.clear()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # An answer in one piece: in two the second waits until the first is acknowledged.
            wbufsize = -1

            def setup(self) -> None:
                super().setup()
                self.upstream = proxy.connection()

            def finish(self) -> None:
                self.upstream.close()
                super().finish()

            def do(self) -> None:
                proxy.handle(self, self.upstream)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

            def log_message(self, format: str, *args: object) -> None:
                """The calls are noted elsewhere."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """Clients are killed in these tests."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def clear(self) -> None:
        """Nothing has been seen, and nothing is kept."""
        self.groups = ()
        self.objects: dict[str, dict[str, Any]] = {}
        self.calls: list[Call] = []
        self.version = ""
        self.answers: dict[str, Any] = {}
        """What is told of paths that the server does not have."""
        self.before = lambda user, method, path: None
        self.allows = lambda user, method, path: True

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def connection(self) -> http.client.HTTPSConnection:
        """To the server; kept for as long as a client keeps its own."""
        return http.client.HTTPSConnection(self._target.hostname or "", self._target.port, timeout=30, context=self._context)

    def handle(self, handler: BaseHTTPRequestHandler, upstream: http.client.HTTPSConnection) -> None:
        url = urlsplit(handler.path)
        user = handler.headers.get("Authorization", "").removeprefix("Bearer ")
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.before(user, handler.command, url.path)
        own = next((each for each in self.groups if url.path.startswith(f"/apis/{each}")), None)
        headers = [("Content-Type", "application/json")]
        if not self.allows(user, handler.command, url.path):
            code, text = 403, b'{"message": "forbidden"}'
        elif url.path in self.answers:
            code, text = 200, json.dumps(self.answers[url.path]).encode()
        elif url.path == "/version" and self.version:
            major, minor = self.version.split(".")
            code, text = 200, json.dumps({"major": major, "minor": minor, "gitVersion": f"v{self.version}.0"}).encode()
        elif own is None:
            code, headers, text = _passed_on(handler, upstream, body)
        else:
            code, text = self._kept(handler.command, url.path, own, body)
        self.calls.append(Call(user, handler.command, url.path, url.query, code))
        handler.send_response(code)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _kept(self, method: str, path: str, group: str, body: bytes) -> tuple[int, bytes]:
        """Enough of an API server for the objects of others: they are kept as they are applied."""
        if path == f"/apis/{group}":
            return 200, b"{}"
        found = self.objects.get(path)
        if method == "PATCH":
            self.objects[path] = json.loads(body)
            return 201 if found is None else 200, body
        if found is None:
            return 404, b'{"message": "not found"}'
        if method == "DELETE":
            del self.objects[path]
        return 200, json.dumps(found).encode()


def _passed_on(
    handler: BaseHTTPRequestHandler, upstream: http.client.HTTPSConnection, body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    headers = {name: value for name, value in handler.headers.items() if name.lower() not in HOP}
    upstream.request(handler.command, handler.path, body or None, headers)
    response = upstream.getresponse()
    text = response.read()
    return response.status, [each for each in response.getheaders() if each[0].lower() not in HOP], text


def kubeconfig(url: str, token: str) -> dict[str, Any]:
    """A kubeconfig for a server without TLS."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "default"}}],
        "current-context": "x",
    }
