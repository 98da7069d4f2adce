"""What the server says about itself: discovery, schemas, its version. Made when asked for, then kept."""

from __future__ import annotations

import json
import threading
from typing import NamedTuple

from apiserver import negotiation
from strategy.engine import Engine

AGGREGATED = "apidiscovery.k8s.io"


class Document(NamedTuple):
    body: bytes
    content_type: str


class Documents:
    """The documents of one server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._made: dict[tuple[str, bool], Document | None] = {}
        self._lock = threading.Lock()

    @staticmethod
    def paths() -> tuple[str, ...]:
        """The paths of documents, as routing rules."""
        return (
            "/",
            "/api",
            "/apis",
            "/api/<version>",
            "/apis/<group>",
            "/apis/<group>/<version>",
            "/openapi/v3",
            "/openapi/v3/<path:rest>",
            "/version",
        )

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path; None if there is none."""
        key = path.rstrip("/") or "/", AGGREGATED in accept and path.rstrip("/") in ("/api", "/apis")
        with self._lock:
            if key not in self._made:
                self._made[key] = self._make(*key)
            return self._made[key]

    def _make(self, path: str, aggregated: bool) -> Document | None:
        from apiserver import discovery, openapi

        if path.startswith("/openapi/"):
            made = openapi.document(path, self._engine)
            return None if made is None else Document(made, negotiation.JSON)
        if aggregated:
            kind = f"{negotiation.JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            return Document(_text(discovery.aggregated(path)), kind)
        body = discovery.document(path, self._engine.version)
        return None if body is None else Document(_text(body), negotiation.JSON)


def _text(body: object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"
