"""Definitions after a write: established, or emptied and removed. Does the work of their controllers, synchronously."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.background import Background
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.custom_resources import DEFINITION, CustomResources
from podstrat.apiserver.deadline import NEVER, Deadline
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.storage.store import Changed, Store, Write
from podstrat.strategy import errors
from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import times
from podstrat.strategy.request import Request
from podstrat.strategy.request import Store as StoreObject

Object = dict[str, Any]

SUCCESS = range(200, 300)
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
API_SERVER = User("system:apiserver", ("system:masters", AUTHENTICATED))
"""The user that deletes the objects of a terminating definition."""
TRIES = 20
"""How often a status is written again because another write came first: as many writers of one definition are never there."""


class Definitions:
    """The definitions of one server. ``delete`` sends a delete request through the same path as a client's."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        custom: CustomResources,
        delete: Callable[[Call], Reply],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._engine = engine
        self._custom = custom
        self._delete = delete
        self._clock = clock
        self._background = Background(self._empty_by_name, "definition-finalizer")

    def resume(self) -> None:
        """Goes on with the definitions that a server before this one has left terminating."""
        for entry in self._store.list(DEFINITION)[0]:
            if "deletionTimestamp" in entry.obj["metadata"]:
                self._background.add(entry.obj["metadata"]["name"])

    def settle(self, deadline: Deadline = NEVER) -> None:
        """Brings every definition to the state in which controllers leave it."""
        self._establish_all()
        for entry in self._store.list(DEFINITION)[0]:
            if "deletionTimestamp" in entry.obj["metadata"]:
                self._end(entry.obj, deadline)

    def _establish_all(self) -> None:
        self._custom.refresh()
        for entry in self._store.list(DEFINITION)[0]:
            self._establish(entry.obj["metadata"]["name"])
        self._custom.refresh()

    def _establish(self, name: str) -> None:
        """Writes the status of a definition, where controllers would change it."""
        from podstrat.strategy.crds import controllers

        for _ in range(TRIES):
            entry = self._store.get(DEFINITION, "", name)
            if entry is None:
                return
            others = [each.obj for each in self._store.list(DEFINITION)[0]]
            definition = controllers.settled(entry.obj, others, times.format(self._clock()))
            if definition is entry.obj:
                return
            with contextlib.suppress(Changed):
                self._store.commit([Write(DEFINITION, "", name, self._written(definition, entry.obj), entry.version)])
                return

    def _written(self, new: Object, old: Object) -> Object:
        """The definition after a write of its status by the server itself."""
        request = Request(
            "update",
            "status",
            new,
            name=new["metadata"]["name"],
            namespace="",
            now=self._clock(),
            user_agent="kube-apiserver",
            track=True,
            resource=DEFINITION.qualified,
        )
        answer = self._engine.answer(request, old)
        return next((effect.pod for effect in answer.effects if isinstance(effect, StoreObject)), new)

    # ---- deletion --------------------------------------------------------------------------------------

    def finish(self, kind: Kind, deadline: Deadline = NEVER) -> None:
        """After the removal of an object: a terminating definition goes with its last one."""
        resource = self._custom.resource(kind)
        if resource is not None and "deletionTimestamp" in resource.definition["metadata"]:
            self._end(resource.definition, deadline)

    def _end(self, definition: Object, deadline: Deadline) -> None:
        """Empties a terminating definition; what cannot be done at once is tried again in the background."""
        name = definition["metadata"]["name"]
        try:
            is_empty = self._empty(definition, deadline)
        except errors.ApiError:
            self._background.add(name)
            raise
        if not is_empty:
            self._background.add(name)

    def _empty_by_name(self, name: str) -> bool:
        entry = self._store.get(DEFINITION, "", name)
        return entry is None or "deletionTimestamp" not in entry.obj["metadata"] or self._empty(entry.obj, NEVER)

    def _empty(self, definition: Object, deadline: Deadline) -> bool:
        """Deletes the objects of a terminating definition; those that finalizers hold stay, and the definition with them.

        False if a delete was refused.
        """
        kind = self._kind(definition)
        refused = False
        for entry in self._store.list(kind)[0]:
            metadata = entry.obj["metadata"]
            if "deletionTimestamp" not in metadata:
                target = Target(kind, metadata.get("namespace", ""), metadata["name"])
                body = json.dumps({"propagationPolicy": "Background"}).encode()
                call = Call("DELETE", target, {}, body, negotiation.JSON, user=API_SERVER, of_many=True, deadline=deadline)
                refused |= self._delete(call).code not in (*SUCCESS, 404)
        if not self._store.list(kind)[0]:
            self._remove(definition["metadata"]["name"])
        return not refused

    def _kind(self, definition: Object) -> Kind:
        """The kind of a definition in its storage version, in which every object can be read."""
        from podstrat.apiserver import custom_kinds

        rows = custom_kinds.of(definition)
        storage = next(each["name"] for each in definition["spec"]["versions"] if each["storage"])
        return next(each for each in rows if each.version == storage)

    def _remove(self, name: str) -> None:
        """Takes the finalizer off; without others the definition is removed."""
        for _ in range(TRIES):
            entry = self._store.get(DEFINITION, "", name)
            if entry is None:
                return
            finalizers = [each for each in entry.obj["metadata"].get("finalizers") or () if each != CLEANUP]
            obj = None
            if finalizers:
                obj = {**entry.obj, "metadata": {**entry.obj["metadata"], "finalizers": finalizers}}
            with contextlib.suppress(Changed):
                self._store.commit([Write(DEFINITION, "", name, obj, entry.version)])
                break
        # Names that it had may be free for others now.
        self._establish_all()
