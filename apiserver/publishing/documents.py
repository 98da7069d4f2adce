"""Finds the document of a path: discovery, OpenAPI, version. Built on the first request, then cached."""

from __future__ import annotations

import json
import threading
from typing import NamedTuple

from podstrat.apiserver import negotiation
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.publishing import openapi_v2
from podstrat.strategy.engine import Engine

AGGREGATED = "apidiscovery.k8s.io"


class Document(NamedTuple):
    body: bytes
    content_type: str


class Documents:
    """The documents of one server."""

    def __init__(self, engine: Engine, custom: CustomResources, address: str = "127.0.0.1") -> None:
        self._engine = engine
        self._custom = custom
        self._number = custom.number
        self._address = address
        self._documents: dict[tuple[str, bool], Document] = {}
        self._lock = threading.Lock()

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path; None if there is none."""
        if path == openapi_v2.PATH:
            return Document(*openapi_v2.document(self._engine.version, accept))
        key = path.rstrip("/") or "/", AGGREGATED in accept and path.rstrip("/") in ("/api", "/apis")
        with self._lock:
            if self._number != self._custom.number:
                # The definitions have changed, and what is served with them.
                self._number = self._custom.number
                self._documents.clear()
            document = self._documents.get(key) or self._make(*key)
            if document is not None:
                self._documents[key] = document
            return document

    def _make(self, path: str, aggregated: bool) -> Document | None:
        from podstrat.apiserver.publishing import discovery

        if path.startswith("/openapi/"):
            return self._schema(path.strip("/").split("/")[1:])
        if aggregated:
            aggregate = discovery.aggregated_core if path == "/api" else discovery.aggregated_groups
            body = aggregate(self._custom.served())
            return Document(_text(body), f"{negotiation.JSON};g={AGGREGATED};v=v2;as=APIGroupDiscoveryList")
        discovered = self._discovered(path.strip("/").split("/"))
        return None if discovered is None else Document(_text(discovered), negotiation.JSON)

    def _schema(self, parts: list[str]) -> Document | None:
        from podstrat.apiserver.publishing import custom_openapi, openapi

        release = self._engine.version
        match parts:
            case ["v3"]:
                document: openapi.Document | None = openapi.index(release, custom_openapi.documents(release, self._custom))
            case ["v3", "api", version]:
                document = openapi.document(release, "", version)
            case ["v3", "apis", group, version]:
                document = openapi.document(release, group, version) or custom_openapi.document(
                    release, group, version, self._custom
                )
            case _:
                document = None
        return None if document is None else Document(document.body, openapi.CONTENT_TYPE)

    def _discovered(self, parts: list[str]) -> object | None:
        from podstrat.apiserver.publishing import discovery

        kinds = self._custom.served()
        match parts:
            case [""]:
                return discovery.root_paths(kinds)
            case ["version"]:
                return discovery.version(self._engine.version)
            case ["api"]:
                return discovery.api_versions(self._address)
            case ["apis"]:
                return discovery.api_group_list(kinds)
            case ["api", version]:
                return discovery.api_resource_list("", version, kinds)
            case ["apis", group]:
                return discovery.api_group(group, kinds)
            case ["apis", group, version]:
                return discovery.api_resource_list(group, version, kinds)
        return None


def _text(body: object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"
