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

    def __init__(self, engine: Engine, address: str = "127.0.0.1") -> None:
        self._engine = engine
        self._address = address
        self._made: dict[tuple[str, bool], Document] = {}
        self._lock = threading.Lock()

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path; None if there is none."""
        key = path.rstrip("/") or "/", AGGREGATED in accept and path.rstrip("/") in ("/api", "/apis")
        with self._lock:
            found = self._made.get(key) or self._make(*key)
            if found is not None:
                self._made[key] = found
            return found

    def _make(self, path: str, aggregated: bool) -> Document | None:
        from apiserver import discovery

        if path.startswith("/openapi/"):
            return self._schema(path.strip("/").split("/")[2:])
        if aggregated:
            body = discovery.aggregated_core() if path == "/api" else discovery.aggregated_groups()
            return Document(_text(body), f"{negotiation.JSON};g={AGGREGATED};v=v2;as=APIGroupDiscoveryList")
        found = self._discovered(path.strip("/").split("/"))
        return None if found is None else Document(_text(found), negotiation.JSON)

    def _schema(self, parts: list[str]) -> Document | None:
        from apiserver import openapi

        release = self._engine.version
        match parts:
            case []:
                made: openapi.Document | None = openapi.index(release)
            case ["api", version]:
                made = openapi.document(release, "", version)
            case ["apis", group, version]:
                made = openapi.document(release, group, version)
            case _:
                made = None
        return None if made is None else Document(made.body, openapi.CONTENT_TYPE)

    def _discovered(self, parts: list[str]) -> object | None:
        from apiserver import discovery

        match parts:
            case [""]:
                return discovery.root_paths()
            case ["version"]:
                return discovery.version(self._engine.version)
            case ["api"]:
                return discovery.api_versions(self._address)
            case ["apis"]:
                return discovery.api_group_list()
            case ["api", version]:
                return discovery.api_resource_list("", version)
            case ["apis", group]:
                return discovery.api_group(group)
            case ["apis", group, version]:
                return discovery.api_resource_list(group, version)
        return None


def _text(body: object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"
