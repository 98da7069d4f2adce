"""A faulty webhook for the story: it removes observedGeneration from every status that is written."""

from __future__ import annotations

import base64
import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from podstrat.certs import files, server_tls
from podstrat.certs.issuing import Authority
from podstrat.up.client import HOOKS, ApiClient, Object

HOST = "127.0.0.1"
NAME = "careless"
"""Before ours in the alphabet, and so called before it."""
CLEARED = "/status/observedGeneration"


class _Server(ThreadingHTTPServer):
    """Counts how often something was cleared."""

    daemon_threads = True
    cleared = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that has ended is nothing to be told."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response: Object = {"uid": review["request"]["uid"], "allowed": True}
        if "observedGeneration" in (review["request"]["object"].get("status") or {}):
            self.server.cleared += 1
            patch = json.dumps([{"op": "remove", "path": CLEARED}]).encode()
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
        answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class FaultyWebhook:
    """At work, and registered with the API server, while it is entered."""

    def __init__(self, api: ApiClient, folder: Path) -> None:
        self._api = api
        now = datetime.now(UTC)
        authority = Authority.new(NAME, now)
        pair = authority.server([HOST], now)
        file = folder / f"{NAME}.pem"
        files.write(file, pair.certificate + pair.key, 0o600)
        context = server_tls.context()
        context.load_cert_chain(file)
        self._server = _Server((HOST, 0), _Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._bundle = base64.b64encode(authority.certificate).decode()

    @property
    def cleared(self) -> int:
        return self._server.cleared

    def __enter__(self) -> FaultyWebhook:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name=NAME, daemon=True).start()
        self._api.create(f"{HOOKS}/mutatingwebhookconfigurations", self._configuration())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._api.delete(f"{HOOKS}/mutatingwebhookconfigurations/{NAME}")
        finally:
            self._server.shutdown()
            self._server.server_close()

    def _configuration(self) -> Object:
        hook = {
            "name": f"{NAME}.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Ignore",
            "clientConfig": {"url": f"https://{HOST}:{self._server.server_port}/", "caBundle": self._bundle},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods/status"]}],
        }
        kind = "MutatingWebhookConfiguration"
        return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": NAME}, "webhooks": [hook]}
