"""Reviews for tests, and what comes of them."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from podstrat.webhook.app import make
from podstrat.webhook.chain import Chain
from podstrat.webhook.handler import Handler
from podstrat.webhook.limiter import Limiter
from podstrat.webhook.metrics import Metrics
from podstrat.webhook.probes import Probes
from podstrat.webhook.settings import Settings

Pod = dict[str, Any]
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
NODE = {"username": "system:node:n1", "groups": ["system:nodes", "system:authenticated"]}
ADMIN = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}


def review(new: Pod | None, old: Pod | None = None, part: str = "", user: Pod | None = None, **fields: Any) -> Pod:
    """As a real server writes it."""
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    request = {
        "uid": UID,
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": ((new or old or {}).get("metadata") or {}).get("name", ""),
        "namespace": "default",
        "operation": "CREATE" if old is None else "UPDATE",
        "userInfo": user or ADMIN,
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    if part:
        request |= {"subResource": part, "requestSubResource": part}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request | fields}


ALL_ON = {"server_version": "1.37", **dict.fromkeys(("generation", "observed_generation", "gated_fields"), "on")}
"""Out of the box a concern is on where the server needs it; most tests are about what it does when it is on."""


class Webhook:
    """The WSGI application, called without a server."""

    def __init__(self, **settings: Any) -> None:
        self.settings = Settings(**(ALL_ON | settings))
        self.chain = Chain(self.settings)
        self.metrics = Metrics("test")
        self.limiter = Limiter(self.settings.concurrency, self.settings.waiting)
        self.health = Probes({})
        self.app = make(Handler(self.chain, self.limiter, self.metrics, self.settings.patience_seconds), self.health)

    def call(self, path: str, body: bytes, **environ: Any) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to one request."""
        told: list[Any] = []
        given = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": path,
            "QUERY_STRING": "timeout=5s",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "443",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "https",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        answer = b"".join(self.app(given | environ, lambda *args: told.append(args)))
        status, headers = told[0][:2]
        return int(status.split()[0]), dict(headers), answer

    def ask(self, phase: str, sent: Pod) -> Pod:
        """The response to a review that is expected to have one."""
        code, _, body = self.call(f"/{phase}", json.dumps(sent).encode())
        assert code == 200, body
        answer = json.loads(body)
        assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
        assert answer["response"]["uid"] == sent["request"]["uid"]
        found: Pod = answer["response"]
        return found

    def mutate(self, *args: Any, **fields: Any) -> Pod:
        return self.ask("mutate", review(*args, **fields))

    def validate(self, *args: Any, **fields: Any) -> Pod:
        return self.ask("validate", review(*args, **fields))

    def observed(self, *args: Any, **fields: Any) -> Pod:
        return self.ask("observed", review(*args, **fields))

    def policy(self, *args: Any, **fields: Any) -> Pod:
        return self.ask("policy", review(*args, **fields))

    def preflight(self, *args: Any, **fields: Any) -> Pod:
        return self.ask("preflight", review(*args, **fields))


def patch(response: Pod) -> list[Pod]:
    """The operations in a response."""
    assert ("patch" in response) is (response.get("patchType") == "JSONPatch")
    found: list[Pod] = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    return found


def causes(response: Pod) -> list[str]:
    """What a refusal complains about."""
    assert response["allowed"] is False
    return [f"{each['field']}: {each['message']}" for each in response["status"]["details"]["causes"]]
