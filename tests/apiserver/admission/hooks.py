"""Webhooks for tests: real servers on this machine, over TLS, that do as they are told."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from podstrat.testing.admission import Tls

Object = dict[str, Any]
Behaviour = Callable[[Object], Object]
"""What is answered to a request: the response of an AdmissionReview, without its uid."""

REGISTRATION = "admissionregistration.k8s.io/v1"
PODS = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def allow(request: Object) -> Object:
    return {"allowed": True}


def deny(message: str = "", **status: Any) -> Behaviour:
    said = {"message": message, **status} if message else status
    return lambda request: {"allowed": False, **({"status": said} if said else {})}


def patch(*operations: Object, **more: Any) -> Behaviour:
    """Allows it with a patch."""
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda request: {"allowed": True, "patchType": "JSONPatch", "patch": encoded, **more}


def note(word: str) -> Behaviour:
    """Adds a word to the annotation ``path``: who has been there, in order."""

    def behave(request: Object) -> Object:
        noted = request["object"]["metadata"].get("annotations") or {}
        value = {**noted, "path": " ".join(filter(None, (noted.get("path"), word)))}
        return patch({"op": "add", "path": "/metadata/annotations", "value": value})(request)

    return behave


def once(word: str) -> Behaviour:
    """Notes a word if it is not there yet: as a webhook should."""

    def behave(request: Object) -> Object:
        noted = request["object"]["metadata"].get("annotations") or {}
        return allow(request) if word in noted.get("path", "").split() else note(word)(request)

    return behave


class Webhook:
    """A server that is running."""

    def __init__(self, server: ThreadingHTTPServer, ca: bytes) -> None:
        self._server = server
        self.ca = ca
        self.behave: Behaviour = allow
        self.raw: tuple[int, str, bytes] | None = None
        """An answer that is no AdmissionReview: code, content type, body."""
        self.delay = 0.0
        self.requests: list[Object] = []
        self.paths: list[str] = []
        self.connections = 0

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/review"

    @property
    def bundle(self) -> str:
        return base64.b64encode(self.ca).decode()

    def entry(self, name: str = "", **more: Any) -> Object:
        """A v1 webhook."""
        return {
            "name": name or "hook.example.com",
            "clientConfig": {"url": self.url, "caBundle": self.bundle},
            "rules": [PODS],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }

    def answer(self, review: Object) -> Object:
        request = review["request"]
        self.requests.append(request)
        return {**review, "request": None, "response": {"uid": request["uid"], **self.behave(request)}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    webhook: Webhook

    def setup(self) -> None:
        super().setup()
        self.webhook.connections += 1

    def do_POST(self) -> None:
        webhook = self.webhook
        body = self.rfile.read(int(self.headers["Content-Length"]))
        webhook.paths.append(self.path)
        time.sleep(webhook.delay)
        code, media, text = webhook.raw or (200, "application/json", b"")
        if webhook.raw is None:
            text = json.dumps(webhook.answer(json.loads(body))).encode()
        self.send_response(code)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up, or does not like the certificate, is no fault of the test."""


@contextmanager
def running(tls: Tls) -> Iterator[Webhook]:
    """A webhook for a while."""
    handler = type("Handler", (_Handler,), {})
    server = _Quiet(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    webhook = handler.webhook = Webhook(server, tls.ca.read_bytes())  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield webhook
    finally:
        server.shutdown()
        server.server_close()


def configuration(kind: str, name: str, *webhooks: Object) -> Object:
    """A v1 configuration; ``kind`` is Mutating or Validating."""
    return {"apiVersion": REGISTRATION, "kind": f"{kind}WebhookConfiguration", "metadata": {"name": name}, "webhooks": webhooks}


def mutating(name: str, *webhooks: Object) -> Object:
    return configuration("Mutating", name, *webhooks)


def validating(name: str, *webhooks: Object) -> Object:
    return configuration("Validating", name, *webhooks)


def pod(name: str = "web", image: str = "registry.example.com/web:1", **metadata: Any) -> Object:
    containers: Sequence[Object] = [{"name": "main", "image": image}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": {"containers": containers}}
