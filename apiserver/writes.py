"""Write requests: evaluated outside the store's lock, committed by compare-and-swap, retried when another write came first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from podstrat.apiserver.admission.attributes import Subject
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.admission.namespaces import Namespaces
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.controllers import NAMESPACES, Controllers
from podstrat.apiserver.custom_resources import DEFINITION, CustomResources
from podstrat.apiserver.definitions import Definitions
from podstrat.apiserver.kinds import ALLOCATION, BUDGET, BY_QUALIFIED, NAMESPACE
from podstrat.apiserver.representation import Representation
from podstrat.apiserver.requests import Requests
from podstrat.apiserver.service_ranges import ServiceRanges
from podstrat.apiserver.storage.store import Changed, Entry, Store, Write, key_of
from podstrat.apiserver.strategies import Strategies
from podstrat.strategy import errors, status
from podstrat.strategy.request import Answer, Claim, Release, Remove, Request, StoreBudget, StoreOther
from podstrat.strategy.request import Store as StoreObject
from podstrat.strategy.verbs import preconditions

if TYPE_CHECKING:
    from podstrat.apiserver.admission.chain import Chain

TRIES = 50
"""How often a write is evaluated because another one came first. One of N concurrent writers of an object wins each time, so this
is how many may write it at once and all succeed; beyond that a write is refused rather than left to starve."""


class Writes:
    """Carries out the write requests of one server."""

    def __init__(
        self,
        store: Store,
        strategies: Strategies,
        requests: Requests,
        representation: Representation,
        admission: Admission,
        ranges: ServiceRanges,
        controllers: Controllers,
        custom: CustomResources,
    ) -> None:
        self._store = store
        self._controllers = controllers
        self._strategies = strategies
        self._requests = requests
        self._representation = representation
        self._admission = admission
        self._ranges = ranges
        self._custom = custom
        self.namespaces = Namespaces(store, self.send, requests.clock, controllers.runs(NAMESPACES))
        self.definitions = Definitions(store, strategies.engine, custom, self.send, requests.clock)

    def send(self, call: Call) -> Reply:
        """A write by the server itself, through the same path as a client's."""
        return self.write(call, self._requests.build("patch" if call.method == "PATCH" else "delete", call))

    def write(self, call: Call, request: Request) -> Reply:
        """Evaluates a request against the stored object and commits the result, again if the object has changed meanwhile."""
        target = call.target
        chain = self._chain(call, request)
        request = request._replace(webhooks=chain, user=call.user)
        answer: Answer | None = None
        for _ in range(TRIES):
            call.deadline.check()
            answer, entry = self._evaluate(request, target, answer)
            try:
                reply = self._commit(answer, entry, call, request)
            except Changed as changed:
                if changed.write.kind is ALLOCATION:
                    answer = None  # an address or a port was taken meanwhile: another one is chosen, or it is refused
                continue
            if chain is not None:
                reply = replace(reply, annotations=chain.annotations)
            return self._representation.convert(reply, call)
        raise errors.Conflict(target.kind.qualified, request.name, "the object has been modified too often; please try again")

    def _chain(self, call: Call, request: Request) -> Chain | None:
        """The webhooks of a write; they are called while nothing is locked."""
        target = call.target
        return self._admission.chain(
            Subject(target.kind, target.namespace, target.name, target.subresource, call.user, call.of_many)
        )

    def _evaluate(self, request: Request, target: Target, previous: Answer | None) -> tuple[Answer, Entry | None]:
        """The strategy's answer, and the stored entry that it is based on."""
        if request.verb == "create" and not target.subresource:
            return self._evaluate_create(request, target, previous)
        entry = self._store.get(target.kind, target.namespace, target.name)
        return self._strategies.answer(request, entry, target.kind), entry

    def _evaluate_create(self, request: Request, target: Target, previous: Answer | None) -> tuple[Answer, Entry | None]:
        """A new object: evaluated once, as if its name were free, and refused if it is not."""
        # A quota that another write has changed meanwhile is looked at again.
        charges = previous is not None and any(isinstance(effect, StoreOther) for effect in previous.effects)
        answer = previous if previous is not None and not charges else self._strategies.answer(request, None, target.kind)
        name = _name(answer, request)
        entry = self._store.get(target.kind, target.namespace, name) if answer.code == 201 else None
        if entry is not None:
            conflict = preconditions.taken(answer.body["metadata"], entry.obj, target.kind.qualified)
            charged = tuple(effect for effect in answer.effects if isinstance(effect, StoreOther))
            answer = Answer(conflict.code, status.failure(conflict), answer.warnings, charged)
        return answer, entry

    def _commit(self, answer: Answer, entry: Entry | None, call: Call, request: Request) -> Reply:
        target = call.target
        writes = list(_writes(answer, entry, target, self._ranges))
        if not writes:
            if (
                target.kind is NAMESPACE
                and answer.code == 200
                and entry is not None
                and self._strategies.deletes_for_real(request)
            ):
                # An earlier delete may have been cut off by its deadline.
                self.namespaces.empty_if_terminating(entry.obj, call.deadline)
            return Reply(answer.code, answer.body, answer.warnings)
        body, json = answer.body, None
        answers_object = body.get("kind") == target.kind.kind  # a Status otherwise: bindings, evictions, most deletions
        for write, committed in zip(writes, self._store.commit(writes), strict=True):
            # The answer to a delete has the resourceVersion of the DELETED event; an update that removes keeps the old one.
            is_answer = write.kind is target.kind and (write.obj is not None or request.verb == "delete")
            if answers_object and is_answer:
                body = self._strategies.view(committed.obj, target.kind)
                json = committed.json if body is committed.obj else None
            elif answer.view is not None and write.obj is not None:
                body = answer.view(self._strategies.view(committed.obj, target.kind))
        self._controllers.after(writes)
        if target.kind is DEFINITION:
            self.definitions.settle(call.deadline)
        elif target.kind is NAMESPACE:
            self.namespaces.empty_if_terminating(body, call.deadline)
        elif any(write.obj is None for write in writes):
            self.namespaces.remove_if_empty(target.namespace)
            self.definitions.finish(target.kind, call.deadline)
        return Reply(answer.code, body, answer.warnings, json=json)


def _writes(answer: Answer, entry: Entry | None, target: Target, ranges: ServiceRanges) -> Iterator[Write]:
    """The effects of an answer as writes; the first one expects the version that the answer is based on."""
    expected: int | None = 0 if entry is None else entry.version
    for effect in answer.effects:
        if isinstance(effect, StoreBudget):
            metadata = effect.budget["metadata"]
            yield Write(BUDGET, metadata["namespace"], metadata["name"], effect.budget, int(metadata["resourceVersion"]))
            continue
        if isinstance(effect, (Claim, Release)):
            yield from ranges.writes(effect, key_of(answer.body if entry is None else entry.obj))
            continue
        if isinstance(effect, StoreOther):
            metadata = effect.obj["metadata"]
            kind = BY_QUALIFIED[effect.resource]
            yield Write(kind, metadata["namespace"], metadata["name"], effect.obj, int(metadata["resourceVersion"]))
            continue
        if isinstance(effect, StoreObject):
            name = effect.pod["metadata"]["name"]
            yield Write(target.kind, target.namespace, name, effect.pod, expected)
        elif isinstance(effect, Remove) and entry is not None:
            yield Write(target.kind, target.namespace, entry.obj["metadata"]["name"], None, expected)
        expected = None


def _name(answer: Answer, request: Request) -> str:
    return str((answer.body.get("metadata") or {}).get("name", request.name))
