"""API server client for certificates: read, create and replace objects with optimistic concurrency."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.errors import ConfigError, Unavailable
from podstrat.kubeclient.kubeconfig import in_cluster, load
from podstrat.kubeclient.official import Client

Object = dict[str, Any]

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0


class ClusterError(Exception):
    """The server cannot be reached, or will not have it."""


class Conflict(ClusterError):
    """A concurrent write: the object already exists, or has changed since it was read."""


class Cluster(Protocol):
    """Objects by their paths."""

    def get(self, path: str) -> Object | None:
        """The object; None if there is none."""

    def create(self, path: str, obj: Object) -> Object:
        """A new object in a collection; Conflict if it is there already."""

    def replace(self, path: str, obj: Object) -> Object:
        """The object instead of the one with the same resourceVersion; Conflict if that has changed."""


class KubernetesCluster:
    """The cluster that a kubeconfig names, or the one that this pod runs in, through the kubernetes package."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        try:
            config = load(kubeconfig, context) if kubeconfig or context else in_cluster()
        except ConfigError as error:
            raise ClusterError(str(error)) from None
        self._client = Client(config, CONNECT_SECONDS, READ_SECONDS)

    def close(self) -> None:
        """Closes the kept connections."""
        self._client.close()

    def get(self, path: str) -> Object | None:
        answer = self._send("GET", path)
        return None if answer.code == 404 else _good(answer)

    def create(self, path: str, obj: Object) -> Object:
        return _good(self._send("POST", path, obj))

    def replace(self, path: str, obj: Object) -> Object:
        return _good(self._send("PUT", path, obj))

    def _send(self, method: str, path: str, obj: Object | None = None) -> Answer:
        try:
            return self._client.request(method, path, obj)
        except Unavailable as error:
            raise ClusterError(f"{method} {path}: {error}") from None


def _good(answer: Answer) -> Object:
    if answer.code == 409:
        raise Conflict(answer.message)
    if answer.code >= 300:
        raise ClusterError(str(answer.error()))
    return answer.body if isinstance(answer.body, dict) else {}
