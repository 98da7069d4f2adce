"""The API server as far as installing needs it: objects are read, applied and deleted, each as often as one likes.

Objects are applied by the server (server-side apply), so that what others have filled in, the replicas in the Secret and
cert-manager in the configurations, stays theirs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from podstrat.install.objects import Object, path

MANAGER = "podstrat-install"
APPLY = "application/apply-patch+yaml"
JSON = "application/json"
CONNECT_SECONDS, READ_SECONDS = 5.0, 40.0
PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Between the tries of a request that came to nothing: all of ours can be repeated."""
LATER = (429, 500, 502, 503, 504)

Outcome = Literal["created", "configured", "unchanged"]


class Refused(Exception):
    """The server cannot be reached, or will not have it; the text is for the user."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Applied(NamedTuple):
    """An object as it is now, and what has become of it."""

    obj: Object
    outcome: Outcome


class Cluster(Protocol):
    """What installing does to a cluster."""

    def get(self, where: str) -> Object | None: ...

    def apply(self, obj: Object, dry_run: bool = False) -> Applied: ...

    def delete(self, obj: Object, dry_run: bool = False) -> bool: ...


class KubernetesCluster:
    """The cluster that a kubeconfig names, through the client library, which is imported here only."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        from kubernetes import client, config

        configuration = client.Configuration()
        try:
            _configure(config, configuration, kubeconfig, context)
        except config.ConfigException as error:
            raise Refused(f"it is not known how to reach the API server: {error}") from None
        configuration.retries = False
        self._api = client.ApiClient(configuration)
        self.address: str = configuration.host

    def get(self, where: str) -> Object | None:
        """The object, or a document; None if there is none."""
        code, body = self._send("GET", where)
        return None if code == 404 else _good("GET", where, code, body)

    def apply(self, obj: Object, dry_run: bool = False) -> Applied:
        """Makes the object what is said about it, and leaves alone what is not."""
        where = path(obj)
        before = self.get(where)
        query = [("fieldManager", MANAGER), ("force", "true"), *([("dryRun", "All")] if dry_run else [])]
        code, body = self._send("PATCH", where, obj, query, APPLY)
        made = _good("PATCH", where, code, body)
        if before is None:
            return Applied(made, "created")
        return Applied(made, "unchanged" if _same(before, made, obj) else "configured")

    def delete(self, obj: Object, dry_run: bool = False) -> bool:
        """Whether there was something to delete."""
        where = path(obj)
        query = [("propagationPolicy", "Background"), *([("dryRun", "All")] if dry_run else [])]
        code, body = self._send("DELETE", where, None, query)
        if code == 404:
            return False
        _good("DELETE", where, code, body)
        return True

    def _send(
        self,
        method: str,
        where: str,
        body: Object | None = None,
        query: Sequence[tuple[str, str]] = (),
        content_type: str = JSON,
    ) -> tuple[int, Object]:
        """One request, tried again while the server is not to be reached or asks for patience."""
        headers = {"Accept": JSON, "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode() if content_type == APPLY else body
        told: Refused | None = None
        for pause in _pauses():
            time.sleep(pause)
            try:
                request = self._api.param_serialize(
                    method, where, query_params=list(query), header_params=headers, body=data, auth_settings=["BearerToken"]
                )
                response = self._api.call_api(*request, _request_timeout=(CONNECT_SECONDS, READ_SECONDS))
                text: bytes = response.read()  # type: ignore[no-untyped-call]
            except Exception as error:
                # Whatever the libraries below raise: the server was not reached.
                told = Refused(f"{self.address} cannot be reached: {_reason(error)}")
                continue
            code: int = response.status
            answer = _read(text)
            if code not in LATER:
                return code, answer
            told = Refused(f"{method} {where}: {code}: {answer.get('message', '')}", code)
        assert told is not None
        raise told


def _configure(config: Any, configuration: Any, kubeconfig: Path | None, context: str | None) -> None:
    """By a kubeconfig, as kubectl finds it; in a pod without one, as pods do."""
    named = None if kubeconfig is None else str(kubeconfig)
    try:
        config.load_kube_config(named, context=context, client_configuration=configuration, persist_config=False)
    except config.ConfigException as error:
        if named is not None or context is not None:
            raise
        try:
            config.load_incluster_config(client_configuration=configuration)
        except config.ConfigException:
            # Whoever is in no pod wants to know what is wrong with the kubeconfig.
            raise config.ConfigException(f"{error} Another one is --kubeconfig FILE, or KUBECONFIG.") from None


def _pauses() -> Iterator[float]:
    yield 0.0
    yield from PAUSES


def _reason(error: Exception) -> str:
    """The innermost reason of what the libraries below raise: the outer ones say where, not why."""
    inner: Any = error
    while (deeper := getattr(inner, "reason", None)) is not None and isinstance(deeper, Exception):
        inner = deeper
    return str(inner) or type(inner).__name__


def _read(text: bytes) -> Object:
    try:
        body = json.loads(text)
    except ValueError:
        return {"message": text[:200].decode(errors="replace")}
    return body if isinstance(body, dict) else {}


def _good(method: str, where: str, code: int, body: Object) -> Object:
    if code < 300:
        return body
    raise Refused(f"{method} {where}: {code}: {body.get('message', '')}", code)


def _same(before: Object, after: Object, applied: Object) -> bool:
    """Whether nothing differs of the parts that were applied, but for the book-keeping.

    The others, a status, the time in a Lease, the data of the Secret, are written by others all the time.
    """
    before, after = _content(before), _content(after)
    return all(before.get(key) == after.get(key) for key in applied.keys() | (before.keys() - after.keys()))


def _content(obj: Object) -> Object:
    metadata = {
        key: value
        for key, value in obj.get("metadata", {}).items()
        if key not in ("managedFields", "resourceVersion", "generation")
    }
    return {**obj, "metadata": metadata}
