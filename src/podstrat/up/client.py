"""API server client of the system: a rejected request raises with the server's message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from podstrat.kubeclient.answer import JSON, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from podstrat.kubeclient.answer import JSON_PATCH as JSON_PATCH
from podstrat.kubeclient.errors import StatusError, Unavailable
from podstrat.kubeclient.sync import Client
from podstrat.up.process import UpError

Object = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
MERGE, STRATEGIC = MERGE_PATCH, STRATEGIC_MERGE_PATCH
TIMEOUT = 15.0  # longer than a write through two webhooks with their timeouts of 5 s


class Refused(UpError):
    """The server rejected a request. Where that is not expected, it is an error of the system."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class ApiClient:
    """One user of the server, in one thread."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client = Client(kubeconfig, TIMEOUT)

    def get(self, path: str) -> Object:
        return self._send("GET", path)

    def items(self, path: str) -> list[Object]:
        items: list[Object] = self.get(path)["items"]
        return items

    def create(self, path: str, obj: Object) -> Object:
        return self._send("POST", path, obj)

    def patch(self, path: str, change: Any, kind: str = STRATEGIC) -> Object:
        return self._send("PATCH", path, change, kind)

    def delete(self, path: str) -> None:
        self._send("DELETE", path)

    def _send(self, method: str, path: str, body: Any = None, kind: str = JSON) -> Object:
        try:
            answer: Object = self._client.call(method, path, body, kind)
        except Unavailable as error:
            raise UpError(f"API server: {error}") from error
        except StatusError as error:
            raise Refused(error.code, error.message) from None
        return answer

    def close(self) -> None:
        self._client.close()
