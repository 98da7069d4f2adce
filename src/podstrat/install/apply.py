"""API client of the installer: get, server-side apply and delete, all of them idempotent.

Server-side apply leaves fields of other managers alone: those of the replicas in the Secret, of cert-manager in configurations.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from podstrat.install.objects import Object, path
from podstrat.kubeclient.answer import APPLY_PATCH, JSON, MERGE_PATCH, Answer
from podstrat.kubeclient.errors import ConfigError, Unavailable
from podstrat.kubeclient.kubeconfig import load
from podstrat.kubeclient.official import Client

MANAGER = "podstrat-install"
CONNECT_SECONDS, READ_SECONDS = 5.0, 40.0
PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Back-off between retries: every request is idempotent."""
LATER = (429, 500, 502, 503, 504)

Outcome = Literal["created", "configured", "unchanged"]


class Refused(Exception):
    """The server cannot be reached, or rejected the request; the message is for the user."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Applied(NamedTuple):
    """The object after apply, and the outcome."""

    obj: Object
    outcome: Outcome


class Trial(NamedTuple):
    """The answer to a dry run."""

    code: int
    message: str
    warnings: tuple[str, ...]
    """Warning headers."""


class Cluster(Protocol):
    """What installing does to a cluster."""

    def get(self, where: str) -> Object | None: ...

    def apply(self, obj: Object, dry_run: bool = False) -> Applied: ...

    def delete(self, obj: Object, dry_run: bool = False) -> bool: ...

    def patch(self, where: str, body: Object, dry_run: bool = False) -> bool: ...

    def try_out(self, method: str, where: str, body: Object, content_type: str = JSON) -> Trial: ...


class KubernetesCluster:
    """The cluster that a kubeconfig names, through the kubernetes package."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        try:
            self._client = Client(load(kubeconfig, context), CONNECT_SECONDS, READ_SECONDS)
        except ConfigError as error:
            raise Refused(str(error)) from None
        self.address = self._client.config.address

    def get(self, where: str) -> Object | None:
        """The object, or a document; None if there is none."""
        answer = self._send("GET", where)
        return None if answer.code == 404 else _good("GET", where, answer)

    def apply(self, obj: Object, dry_run: bool = False) -> Applied:
        """Makes the object what is said about it, and leaves alone what is not."""
        where = path(obj)
        before = self.get(where)
        query = [("fieldManager", MANAGER), ("force", "true"), *([("dryRun", "All")] if dry_run else [])]
        answer = _good("PATCH", where, self._send("PATCH", where, obj, query, APPLY_PATCH))
        if before is None:
            return Applied(answer, "created")
        return Applied(answer, "unchanged" if _same(before, answer, obj) else "configured")

    def delete(self, obj: Object, dry_run: bool = False) -> bool:
        """Whether there was something to delete."""
        where = path(obj)
        query = [("propagationPolicy", "Background"), *([("dryRun", "All")] if dry_run else [])]
        answer = self._send("DELETE", where, None, query)
        if answer.code == 404:
            return False
        _good("DELETE", where, answer)
        return True

    def patch(self, where: str, body: Object, dry_run: bool = False) -> bool:
        """A merge patch; False if there is no such object."""
        answer = self._send("PATCH", where, body, [("dryRun", "All")] if dry_run else [], MERGE_PATCH)
        if answer.code == 404:
            return False
        _good("PATCH", where, answer)
        return True

    def try_out(self, method: str, where: str, body: Object, content_type: str = JSON) -> Trial:
        """A dry run, sent once; whatever the answer is."""
        try:
            answer = self._client.request(method, where, body, content_type, [("dryRun", "All")])
        except Unavailable as error:
            raise Refused(str(error)) from None
        return Trial(answer.code, answer.message, tuple(answer.headers.get_all("Warning") or ()))

    def _send(
        self,
        method: str,
        where: str,
        body: Object | None = None,
        query: Sequence[tuple[str, str]] = (),
        content_type: str = JSON,
    ) -> Answer:
        """One request, retried with back-off while the server cannot be reached, is overloaded or fails."""
        data = json.dumps(body).encode() if content_type == APPLY_PATCH else body
        failure: Refused | None = None
        for pause in _pauses():
            time.sleep(pause)
            try:
                answer = self._client.request(method, where, data, content_type, query)
            except Unavailable as error:
                failure = Refused(str(error))
                continue
            if answer.code not in LATER:
                return answer
            failure = _refused(method, where, answer)
        assert failure is not None
        raise failure


def _pauses() -> Iterator[float]:
    yield 0.0
    yield from PAUSES


def _good(method: str, where: str, answer: Answer) -> Object:
    if answer.code >= 300:
        raise _refused(method, where, answer)
    return answer.body if isinstance(answer.body, dict) else {}


def _refused(method: str, where: str, answer: Answer) -> Refused:
    return Refused(f"{method} {where}: {answer.error()}", answer.code)


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
