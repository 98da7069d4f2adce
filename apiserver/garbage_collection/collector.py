"""What becomes of one object: deleted after its owners, freed of references to them, or let go once its dependents are settled.

Everything is decided by what is stored now, and written by requests with preconditions, through the same path as a client's: a
decision that has been overtaken is refused, and made again.

Upstream: GarbageCollector.attemptToDeleteItem, attemptToOrphan
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from podstrat.apiserver import negotiation
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.garbage_collection.graph import Graph, Item, is_deleting, references
from podstrat.apiserver.kinds import BY_KIND, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors
from podstrat.strategy.verbs.deletion import FOREGROUND, ORPHAN

Object = dict[str, Any]

COLLECTOR: Final = User(
    "system:serviceaccount:kube-system:generic-garbage-collector",
    ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED),
)
MANAGER: Final = "kube-controller-manager"
"""The user agent of its writes, which managedFields name."""
MERGE: Final = "application/merge-patch+json"
GONE, OVERTAKEN = (404, 410), 409


class Refused(Exception):
    """A write was refused: it is tried again later."""


class UnknownOwner(Exception):
    """An owner is of a kind that is not served: nothing can be said about it until it is."""


class _Owners(NamedTuple):
    """The owner references of an object."""

    solid: list[Object]
    """To owners that are there."""
    dangling: list[Object]
    """To owners that are not."""
    waiting: list[Object]
    """To owners that wait for the deletion of their dependents."""


class Collector:
    """Settles objects, one at a time. ``send`` carries out a write request."""

    def __init__(self, store: Store, custom: CustomResources, graph: Graph, send: Callable[[Call], Reply]) -> None:
        self._store = store
        self._custom = custom
        self._graph = graph
        self._send = send

    def settle(self, item: Item) -> None:
        """Reconciles an object. Raises Refused or UnknownOwner if it has to be requeued."""
        obj = self._current(item)
        if obj is None:
            return
        if is_deleting(obj, ORPHAN):
            self._orphan_dependents(item, obj)
        elif is_deleting(obj, FOREGROUND):
            if not any(self._blocks(dependent, item.uid) for dependent in self._graph.dependents(item.uid)):
                self._finalize(item, obj, FOREGROUND)
        elif "deletionTimestamp" not in obj["metadata"] and references(obj):
            self._settle_dependent(item, obj)

    # ---- dependents ------------------------------------------------------------------------------------

    def _settle_dependent(self, item: Item, obj: Object) -> None:
        """An object goes with the last of its owners; as long as one is left it only loses its references to the others."""
        owners = self._classified(item, obj)
        if owners.solid:
            if owners.dangling or owners.waiting:
                self._patch(item, obj, {"ownerReferences": owners.solid})
            return
        dependents = [self._current(each) for each in self._graph.dependents(item.uid)] if owners.waiting else []
        if not any(dependents):
            policy = {ORPHAN: "Orphan", FOREGROUND: "Foreground"}
            finalizers = obj["metadata"].get("finalizers") or ()
            self._delete(item, obj, next((policy[each] for each in policy if each in finalizers), "Background"))
            return
        if any(each is not None and is_deleting(each, FOREGROUND) for each in dependents):
            # A circle: its objects would wait for each other.
            freed = [{**each, "blockOwnerDeletion": False} for each in references(obj)]
            self._patch(item, obj, {"ownerReferences": freed})
            obj = self._current(item) or obj
        self._delete(item, obj, "Foreground")

    def _classified(self, item: Item, obj: Object) -> _Owners:
        owners = _Owners([], [], [])
        for reference in references(obj):
            owner = self._owner(item, reference)
            if owner is None:
                owners.dangling.append(reference)
            elif is_deleting(owner, FOREGROUND):
                owners.waiting.append(reference)
            else:
                owners.solid.append(reference)
        return owners

    def _owner(self, item: Item, reference: Object) -> Object | None:
        """The object that a reference names: in the namespace of the dependent, with that very UID."""
        uid = reference.get("uid", "")
        if self._graph.is_gone(uid, item.namespace):
            return None
        api_version, name = reference.get("apiVersion", ""), reference.get("kind", "")
        kind = BY_KIND.get((api_version, name)) or self._custom.by_name(api_version, name)
        if kind is None or not kind.stored:
            raise UnknownOwner(f"no matches for kind {name!r} in version {api_version!r}")
        if kind.namespaced and not item.namespace:
            # A cluster-scoped object cannot belong to a namespace: such a reference is never resolved.
            raise UnknownOwner("cluster-scoped objects cannot refer to namespaced owners")
        namespace = item.namespace if kind.namespaced else ""
        entry = self._store.get(kind, namespace, reference.get("name", ""))
        return entry.obj if entry is not None and entry.obj["metadata"].get("uid") == uid else None

    # ---- owners ----------------------------------------------------------------------------------------

    def _blocks(self, dependent: Item, uid: str) -> bool:
        obj = self._current(dependent)
        return obj is not None and any(
            each.get("uid") == uid and bool(each.get("blockOwnerDeletion")) for each in references(obj)
        )

    def _orphan_dependents(self, item: Item, obj: Object) -> None:
        """Takes the references to an owner out of its dependents, then the finalizer off the owner.

        Upstream: GarbageCollector.orphanDependents
        """
        for dependent in self._graph.dependents(item.uid):
            current = self._current(dependent)
            if current is not None:
                others = [each for each in references(current) if each.get("uid") != item.uid]
                if len(others) < len(references(current)):
                    self._patch(dependent, current, {"ownerReferences": others})
        self._finalize(item, obj, ORPHAN)

    def _finalize(self, item: Item, obj: Object, finalizer: str) -> None:
        others = [each for each in obj["metadata"].get("finalizers") or () if each != finalizer]
        self._patch(item, obj, {"finalizers": others})

    # ---- reading and writing ---------------------------------------------------------------------------

    def _kind(self, item: Item) -> Kind | None:
        """The kind of an object; of a custom resource in the version that is stored."""
        kind = self._store.kind(item.group, item.plural)
        return replace(kind, version=kind.storage_version) if isinstance(kind, CustomKind) else kind

    def _current(self, item: Item) -> Object | None:
        """The object as it is stored; None if it is gone, or another one has its name."""
        kind = self._kind(item)
        entry = None if kind is None else self._store.get(kind, item.namespace, item.name)
        return entry.obj if entry is not None and entry.obj["metadata"].get("uid", "") == item.uid else None

    def _delete(self, item: Item, obj: Object, policy: str) -> None:
        metadata = obj["metadata"]
        preconditions = {"uid": item.uid, "resourceVersion": metadata["resourceVersion"]}
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions, "propagationPolicy": policy}
        self._write("DELETE", item, options, negotiation.JSON)

    def _patch(self, item: Item, obj: Object, metadata: Object) -> None:
        version = obj["metadata"]["resourceVersion"]
        emptied: Iterable[tuple[str, Any]] = ((name, value or None) for name, value in metadata.items())
        self._write("PATCH", item, {"metadata": {"uid": item.uid, "resourceVersion": version, **dict(emptied)}}, MERGE)

    def _write(self, method: str, item: Item, body: Object, content_type: str) -> None:
        kind = self._kind(item)
        assert kind is not None
        target = Target(kind, item.namespace, item.name)
        call = Call(method, target, {}, json.dumps(body).encode(), content_type, user_agent=MANAGER, user=COLLECTOR)
        try:
            reply = self._send(call)
        except errors.ApiError as error:
            code, message = error.code, error.message
        else:
            code, message = reply.code, str((reply.body or {}).get("message", ""))
        if code >= 300 and code not in GONE:
            raise Refused(f"{method} {item.plural} {item.namespace}/{item.name}: {code} {message}")
