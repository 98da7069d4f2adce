"""Talking to the API server of the world: what is refused is raised, in the server's words."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

from podstrat.http import JSON, Client
from podstrat.up.part import Trouble

Object = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TIMEOUT = 15.0


class Refused(Trouble):
    """The server's answer is no. Where that is not expected, it is trouble."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Api:
    """One user of the server, in one thread."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client = Client(kubeconfig, TIMEOUT)

    def get(self, path: str) -> Object:
        return self._send("GET", path)

    def items(self, path: str) -> list[Object]:
        found: list[Object] = self.get(path)["items"]
        return found

    def create(self, path: str, made: Object) -> Object:
        return self._send("POST", path, made)

    def patch(self, path: str, change: Any, kind: str = STRATEGIC) -> Object:
        return self._send("PATCH", path, change, kind)

    def delete(self, path: str) -> None:
        self._send("DELETE", path)

    def _send(self, method: str, path: str, body: Any = None, kind: str = JSON) -> Object:
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._client.exchange(method, path, data, {"Content-Type": kind})
        except (OSError, http.client.HTTPException) as error:
            raise Trouble(f"the API server does not answer: {error}") from error
        found: Object = answer.body
        if answer.code >= 300:
            raise Refused(answer.code, found.get("message") or "")
        return found

    def close(self) -> None:
        self._client.close()
