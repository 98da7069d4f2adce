"""The API server as far as certificates need it: objects are read, made and replaced, and nobody's change is overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

Object = dict[str, Any]

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0


class ClusterError(Exception):
    """The server cannot be reached, or will not have it."""


class Conflict(ClusterError):
    """Somebody else was faster: the object is there already, or is no longer what was read."""


class Cluster(Protocol):
    """Objects by their paths."""

    def get(self, path: str) -> Object | None:
        """The object; None if there is none."""

    def create(self, path: str, obj: Object) -> Object:
        """A new object in a collection; Conflict if it is there already."""

    def replace(self, path: str, obj: Object) -> Object:
        """The object instead of the one with the same resourceVersion; Conflict if that has changed."""


class KubernetesCluster:
    """The cluster that a kubeconfig names, or the one that this pod runs in. The client library is imported here only."""

    def __init__(self, kubeconfig: Path | None = None) -> None:
        from kubernetes import client, config

        configuration = client.Configuration()
        try:
            if kubeconfig is not None:
                config.load_kube_config(str(kubeconfig), client_configuration=configuration, persist_config=False)  # type: ignore[no-untyped-call]
            else:
                config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
        except config.ConfigException as error:
            raise ClusterError(f"it is not known how to reach the API server: {error}") from None
        configuration.retries = False
        self._api = client.ApiClient(configuration)

    def close(self) -> None:
        """Gives up the connections that are kept."""
        self._api.rest_client.pool_manager.clear()

    def get(self, path: str) -> Object | None:
        code, body = self._send("GET", path)
        return None if code == 404 else _good(code, body)

    def create(self, path: str, obj: Object) -> Object:
        return _good(*self._send("POST", path, obj))

    def replace(self, path: str, obj: Object) -> Object:
        return _good(*self._send("PUT", path, obj))

    def _send(self, method: str, path: str, obj: Object | None = None) -> tuple[int, Object]:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        try:
            request = self._api.param_serialize(method, path, header_params=headers, body=obj, auth_settings=["BearerToken"])
            response = self._api.call_api(*request, _request_timeout=(CONNECT_SECONDS, READ_SECONDS))
            text = response.read()  # type: ignore[no-untyped-call]
        except Exception as error:
            # Whatever the libraries below raise: for us it is the same, and the next round tries again.
            raise ClusterError(f"{method} {path}: {type(error).__name__}: {error}") from None
        try:
            body = json.loads(text)
        except ValueError:
            body = {"message": text[:200].decode(errors="replace")}
        return response.status, body if isinstance(body, dict) else {}


def _good(code: int, body: Object) -> Object:
    if code == 409:
        raise Conflict(body.get("message", ""))
    if code >= 300:
        raise ClusterError(f"{code}: {body.get('message', '')}")
    return body
