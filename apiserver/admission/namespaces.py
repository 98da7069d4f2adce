"""A terminating namespace is emptied and removed: the work of the namespace controller, done synchronously."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.calls import Call, Target
from podstrat.apiserver.deadline import NEVER, Deadline
from podstrat.apiserver.kinds import NAMESPACE, Kind
from podstrat.apiserver.storage.store import Changed, Store, Write

Object = dict[str, Any]

FINALIZER = "kubernetes"
NAMESPACE_CONTROLLER = User(
    "system:serviceaccount:kube-system:namespace-controller",
    ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED),
)
"""The user that deletes the content of a terminating namespace."""


class Namespaces:
    """The namespaces of one server. ``delete`` sends a delete request through the same path as a client's."""

    def __init__(self, store: Store, delete: Callable[[Call], object], controller: bool = True) -> None:
        self._store = store
        self._delete = delete
        self._controller = controller
        """Whether terminating namespaces are emptied and removed; otherwise they wait for it, as without a controller."""

    def empty_if_terminating(self, namespace: Object, deadline: Deadline = NEVER) -> None:
        """Deletes the content of a terminating namespace, then the namespace itself.

        What is left at the deadline stays: the namespace is terminating, and another delete of it goes on.
        """
        metadata = namespace.get("metadata") or {}
        if "deletionTimestamp" in metadata and self._controller:
            self._empty(metadata["name"], deadline)

    def _empty(self, name: str, deadline: Deadline) -> None:
        for kind in self._namespaced_kinds():
            for entry in self._store.list(kind, name)[0]:
                self._purge(kind, entry.obj["metadata"], deadline)
        self.remove_if_empty(name)

    def remove_if_empty(self, name: str) -> None:
        """Finalizes a terminating namespace whose last object has gone, and removes it unless other finalizers hold it."""
        entry = self._store.get(NAMESPACE, "", name)
        if not self._controller or entry is None or "deletionTimestamp" not in entry.obj["metadata"]:
            return
        if any(self._store.list(kind, name)[0] for kind in self._namespaced_kinds()):
            return
        left = _finalized(entry.obj)
        is_free = not left["spec"] and not left["metadata"].get("finalizers")
        if is_free or left != entry.obj:
            # A concurrent writer that changed the namespace makes this same check after its own write.
            with contextlib.suppress(Changed):
                self._store.commit([Write(NAMESPACE, "", name, None if is_free else left, entry.version)])

    def _namespaced_kinds(self) -> Iterable[Kind]:
        return (kind for kind in self._store.kinds if kind.namespaced)

    def _purge(self, kind: Kind, metadata: Object, deadline: Deadline) -> None:
        """Deletes an object without a grace period; finalizers still hold it."""
        target = Target(kind, metadata["namespace"], metadata["name"])
        body = json.dumps({"gracePeriodSeconds": 0}).encode()
        user = NAMESPACE_CONTROLLER
        self._delete(Call("DELETE", target, {}, body, negotiation.JSON, user=user, of_many=True, deadline=deadline))


def _finalized(namespace: Object) -> Object:
    """A namespace without the finalizer of the namespace controller."""
    finalizers = [each for each in (namespace.get("spec") or {}).get("finalizers") or () if each != FINALIZER]
    return {**namespace, "spec": {"finalizers": finalizers} if finalizers else {}}
