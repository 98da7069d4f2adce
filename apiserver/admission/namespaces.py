"""A terminating namespace is emptied and removed: the work of the namespace controller, done synchronously.

What cannot be done at once, because the request's time is up or a delete was refused, is tried again in the background.

Upstream: namespacedResourcesDeleter
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.apiserver.admission import namespace_conditions
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.background import Background
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.deadline import NEVER, Deadline
from podstrat.apiserver.kinds import NAMESPACE, Kind
from podstrat.apiserver.storage.store import Changed, Store, Write
from podstrat.strategy import errors

Object = dict[str, Any]

FINALIZER = "kubernetes"
NAMESPACE_CONTROLLER = User(
    "system:serviceaccount:kube-system:namespace-controller",
    ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED),
)
"""The user that deletes the content of a terminating namespace."""
GONE = 404


class Namespaces:
    """The namespaces of one server. ``delete`` sends a delete request through the same path as a client's."""

    def __init__(
        self, store: Store, delete: Callable[[Call], Reply], clock: Callable[[], datetime], controller: bool = True
    ) -> None:
        self._store = store
        self._delete = delete
        self._clock = clock
        self._controller = controller
        """Whether terminating namespaces are emptied and removed; otherwise they wait for it, as without a controller."""
        self._background = Background(self._go_on, "namespace-controller")

    def resume(self) -> None:
        """Goes on with the namespaces that a server before this one has left terminating."""
        if self._controller:
            for entry in self._store.list(NAMESPACE)[0]:
                if "deletionTimestamp" in entry.obj["metadata"]:
                    self._background.add(entry.obj["metadata"]["name"])

    def empty_if_terminating(self, namespace: Object, deadline: Deadline = NEVER) -> None:
        """Deletes the content of a terminating namespace, then the namespace itself."""
        metadata = namespace.get("metadata") or {}
        if "deletionTimestamp" not in metadata or not self._controller:
            return
        try:
            is_empty = self._empty(metadata["name"], deadline)
        except errors.ApiError:
            self._background.add(metadata["name"])
            raise
        if not is_empty:
            self._background.add(metadata["name"])

    def _go_on(self, name: str) -> bool:
        entry = self._store.get(NAMESPACE, "", name)
        return entry is None or "deletionTimestamp" not in entry.obj["metadata"] or self._empty(name)

    def _empty(self, name: str, deadline: Deadline = NEVER) -> bool:
        """Whether everything has been deleted; finalizers may still hold what has."""
        replies = [
            self._purge(kind, entry.obj["metadata"], deadline)
            for kind in self._namespaced_kinds()
            for entry in self._store.list(kind, name)[0]
        ]
        self.remove_if_empty(name)
        self._tell_what_is_left(name)
        return all(reply.code < 300 or reply.code == GONE for reply in replies)

    def remove_if_empty(self, name: str) -> None:
        """Finalizes a terminating namespace whose last object has gone, and removes it unless other finalizers hold it."""
        entry = self._store.get(NAMESPACE, "", name)
        if not self._controller or entry is None or "deletionTimestamp" not in entry.obj["metadata"]:
            return
        if any(self._store.list(kind, name)[0] for kind in self._namespaced_kinds()):
            return
        namespace = _finalized(entry.obj)
        is_free = not namespace["spec"] and not namespace["metadata"].get("finalizers")
        if is_free or namespace != entry.obj:
            # A concurrent writer that changed the namespace makes this same check after its own write.
            with contextlib.suppress(Changed):
                self._store.commit([Write(NAMESPACE, "", name, None if is_free else namespace, entry.version)])

    def _tell_what_is_left(self, name: str) -> None:
        """Writes into the status of a terminating namespace what keeps it from going."""
        entry = self._store.get(NAMESPACE, "", name)
        if entry is None or "deletionTimestamp" not in entry.obj["metadata"]:
            return
        remaining: Counter[str] = Counter()
        finalizers: Counter[str] = Counter()
        for kind in self._namespaced_kinds():
            entries = self._store.list(kind, name)[0]
            if entries:
                remaining[f"{kind.plural}.{kind.group}"] = len(entries)
            for each in entries:
                finalizers.update(each.obj["metadata"].get("finalizers") or ())
        namespace = namespace_conditions.told(entry.obj, remaining, finalizers, self._clock())
        if namespace != entry.obj:
            with contextlib.suppress(Changed):
                self._store.commit([Write(NAMESPACE, "", name, namespace, entry.version)])

    def _namespaced_kinds(self) -> Iterable[Kind]:
        return (kind for kind in self._store.kinds if kind.namespaced)

    def _purge(self, kind: Kind, metadata: Object, deadline: Deadline) -> Reply:
        """Deletes an object without a grace period; finalizers still hold it."""
        target = Target(kind, metadata["namespace"], metadata["name"])
        body = json.dumps({"gracePeriodSeconds": 0, "propagationPolicy": "Background"}).encode()
        user = NAMESPACE_CONTROLLER
        return self._delete(Call("DELETE", target, {}, body, negotiation.JSON, user=user, of_many=True, deadline=deadline))


def _finalized(namespace: Object) -> Object:
    """A namespace without the finalizer of the namespace controller."""
    finalizers = [each for each in (namespace.get("spec") or {}).get("finalizers") or () if each != FINALIZER]
    return {**namespace, "spec": {"finalizers": finalizers} if finalizers else {}}
