"""What a request to the API comes to: which object it is about, who judges it, what is stored, what goes back.

Free of any web framework: a Call in, a Reply out.
"""

from __future__ import annotations

import contextlib
import json
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from apiserver import lists, negotiation, watching
from apiserver.admission.attributes import Attributes, Subject
from apiserver.admission.gate import Admission
from apiserver.auth import AUTHENTICATED, User
from apiserver.kinds import BUDGET, BY_KIND, NAMESPACE, POD, Kind
from apiserver.objects import Judge
from apiserver.selectors import label_selector_of
from apiserver.store import Changed, Entry, Store, Write
from strategy import errors, shape, status, times
from strategy.engine import Engine
from strategy.request import Answer, Remove, Request, StoreBudget
from strategy.request import Store as StoreObject

if TYPE_CHECKING:
    from apiserver.admission.chain import Chain

Object = dict[str, Any]

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
IDLE = 5.0
"""After how many quiet seconds a watch looks whether its client is still there."""
NAMESPACE_CONTROLLER = User(
    "system:serviceaccount:kube-system:namespace-controller",
    ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED),
)
"""Who empties a namespace that is deleted."""
WATCHES = 960
"""How many watches may be open. Each takes a thread, and some must be left for everything else."""
TRIES = 50
"""How often a write is computed again because another one came first."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection, an object, or a subresource of one."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as the transport has read it."""

    method: str
    target: Target
    query: Mapping[str, Sequence[str]]
    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    user_agent: str = ""
    user: User = field(default_factory=lambda: User(""))
    of_many: bool = False
    """Whether the target is one of those that a request for a whole collection is about."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: a body, or a stream of chunks."""

    code: int
    body: Object | None = None
    warnings: tuple[str, ...] = ()
    stream: Iterator[bytes] | None = None
    content_type: str = negotiation.JSON
    annotations: Mapping[str, str] = field(default_factory=dict)
    """What those who were asked about a write leave for the log."""


def new_uid() -> str:
    return str(uuid.uuid4())


def new_suffix() -> str:
    return "".join(random.choices(SUFFIX_LETTERS, k=5))


class NamespaceTerminating(errors.Forbidden):
    """Clients that make things know this one by its cause, and give up."""

    def __init__(self, resource: str, name: str, namespace: str) -> None:
        text = f"unable to create new content in namespace {namespace} because it is being terminated"
        super().__init__(resource, name, text)
        message = f"namespace {namespace} is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}
        self.details = {**(self.details or {}), "causes": [cause]}


class Api:
    """The resources of one server."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        *,
        pod_strategy: bool = True,
        admission: Admission | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.store = store
        self.engine = engine
        self.clock = clock
        self._judge = Judge(engine.context)
        self._pod_strategy = pod_strategy
        self._admission = admission or Admission(store, engine.context.version)

    def bootstrap(self, namespaces: Sequence[str]) -> None:
        """The namespaces that every cluster has."""
        for name in namespaces:
            if self.store.get(NAMESPACE, "", name) is None:
                obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
                request = Request("create", body=obj, namespace="", now=self.clock(), uid=new_uid(), resource="namespaces")
                made = self._judge.answer(request, None, NAMESPACE)
                if made.code != 201:
                    raise errors.BadRequest(made.body["message"])
                self.store.commit([Write(NAMESPACE, "", name, made.body, 0)], bootstrap=True)

    def load(self, objects: Sequence[Any]) -> None:
        """Objects as if they had been written earlier: stored as they are, in namespaces that are made for them."""
        for obj in objects:
            kind = _kind_of(obj)
            metadata = dict(obj.get("metadata") or {})
            namespace = metadata.setdefault("namespace", "default") if kind.namespaced else ""
            metadata.setdefault("uid", new_uid())
            metadata.setdefault("creationTimestamp", times.format(self.clock()))
            metadata.pop("resourceVersion", None)
            stored = {**obj, "metadata": metadata}
            stored = self.engine.stored(stored) if kind is POD else self._judge.stored(stored, kind)
            if namespace:
                self.bootstrap([namespace])
            # What has been kept from an earlier start is newer.
            if self.store.get(kind, namespace, metadata["name"]) is None:
                self.store.commit([Write(kind, namespace, metadata["name"], stored, 0)], bootstrap=True)

    def reset(self) -> None:
        """Back to what was there in the beginning."""
        self.store.reset()

    def handle(self, call: Call) -> Reply:
        """The answer to a call. Whatever a client does wrong is answered, nothing of it is raised."""
        try:
            return self._route(call)
        except errors.ApiError as error:
            return refusal(error)

    def _route(self, call: Call) -> Reply:
        target = call.target
        if call.method == "GET":
            return self._get(call) if target.name else self._list_or_watch(call)
        if call.method == "POST":
            return self._write("create", call)
        if not target.name:
            if call.method == "DELETE":
                return self._delete_collection(call)
            raise errors.MethodNotAllowed()
        if call.method == "PUT":
            return self._write("update", call)
        if call.method == "PATCH":
            return self._write("patch", call)
        if call.method == "DELETE":
            return self._write("delete", call)
        raise errors.MethodNotAllowed()

    # ---- reading ---------------------------------------------------------------------------------------

    def _get(self, call: Call) -> Reply:
        target = call.target
        entry = self.store.get(target.kind, target.namespace, target.name)
        answer = self._judged(self._request("get", call), entry, target.kind)
        return self._shown(Reply(answer.code, answer.body), call)

    def _list_or_watch(self, call: Call) -> Reply:
        target = call.target
        options = self._list_options(call)
        if not options.watch:
            return self._shown(Reply(200, lists.page(self.store, target.kind, target.namespace, options)), call)
        if self.store.watchers() >= WATCHES:
            raise errors.TooManyRequests("there are too many watches, please try again later", {"retryAfterSeconds": 1})
        form = self._form(call)
        convert = None if form == negotiation.AS_IT_IS else self._converter(form)
        stream = watching.watch(
            self.store, target.kind, target.namespace, options, convert, form=str(form), blank=self._blank(target.kind), idle=IDLE
        )
        return Reply(200, stream=stream)

    def _list_options(self, call: Call) -> lists.Options:
        ctx = self.engine.context
        return lists.options(call.query, call.target.kind, watch_list="WatchList" in ctx.gates, unit=ctx.name_unit)

    def _blank(self, kind: Kind) -> Object:
        """An object of a kind without any content: a bookmark is made of it."""
        types = self.engine.context.types
        zero = shape.zero(kind.type_name, types) if kind.type_name in types else {"metadata": {}}
        return {"kind": kind.kind, "apiVersion": kind.api_version, **zero}

    def _form(self, call: Call) -> negotiation.Form:
        included = call.query.get("includeObject") or [""]
        return negotiation.form(call.accept, included[0])

    def _shown(self, reply: Reply, call: Call) -> Reply:
        """The body in the form that the client prefers."""
        form = self._form(call)
        if reply.body is None or reply.code >= 300 or form == negotiation.AS_IT_IS:
            return reply
        return replace(reply, body=self._converter(form)(reply.body, True))

    def _converter(self, form: negotiation.Form) -> Callable[[Object, bool], Object]:
        from apiserver import tables

        if form.name != "Table":
            return lambda obj, first: tables.partial(obj)
        include = tables.include_object(form.include)
        version = self.engine.context.version
        return lambda obj, first: tables.table(obj, now=self.clock(), version=version, include=include, headers=first)

    # ---- writing ---------------------------------------------------------------------------------------

    def _write(self, verb: str, call: Call) -> Reply:
        """Computes outside the store's lock and writes if nothing has changed meanwhile; otherwise computes again."""
        target = call.target
        request = self._request(verb, call)
        if not target.kind.stored:
            return self._review(call, request)
        chain = self._reviewers(call, request)
        request = request if chain is None else request._replace(reviewers=chain)
        answer: Answer | None = None
        for _ in range(TRIES):
            if verb == "create" and not target.subresource:
                answer, entry = self._created(request, target, answer)
            else:
                entry = self.store.get(target.kind, target.namespace, target.name)
                answer = self._judged(request, entry, target.kind)
                if answer.code == 201 and request.patch_type == "apply" and target.kind.namespaced:
                    self._namespace_is_open(request, _name_in(answer, request))
            try:
                reply = self._committed(answer, entry, target)
            except Changed:
                continue
            if chain is not None:
                reply = replace(reply, annotations=chain.annotations)
            return self._shown(reply, call)
        raise errors.Conflict(target.kind.qualified, request.name, "the object has been modified too often; please try again")

    def _reviewers(self, call: Call, request: Request) -> Chain | None:
        """Those who are asked about a write; they are called while nothing is locked."""
        target = call.target

        def first(attributes: Attributes) -> None:
            if attributes.operation == "CREATE" and target.kind.namespaced:
                self._namespace_is_open(request, attributes.name)

        subject = Subject(target.kind, target.namespace, target.name, target.subresource, call.user, call.of_many)
        return self._admission.chain(subject, first)

    def _created(self, request: Request, target: Target, judged: Answer | None) -> tuple[Answer, Entry | None]:
        """A new object: judged once, as if its name were free, and refused if it is not."""
        answer = judged or self._judged(request, None, target.kind)
        name = _name_in(answer, request)
        if target.kind.namespaced and answer.code not in (400, 415):
            self._namespace_is_open(request, name)
        entry = self.store.get(target.kind, target.namespace, name) if answer.code == 201 else None
        if entry is not None:
            taken = errors.AlreadyExists(target.kind.qualified, name)
            answer = Answer(taken.code, status.failure(taken), answer.warnings)
        return answer, entry

    def _judged(self, request: Request, entry: Entry | None, kind: Kind) -> Answer:
        stored = None if entry is None else entry.obj
        if kind is POD and self._pod_strategy:
            return self.engine.answer(request, stored)
        return self._judge.answer(request, stored, kind)

    def _committed(self, answer: Answer, entry: Entry | None, target: Target) -> Reply:
        writes = list(self._writes(answer, entry, target))
        body = answer.body
        if writes:
            for write, made in zip(writes, self.store.commit(writes), strict=True):
                if write.kind is target.kind and made is not None and write.obj is answer.body:
                    body = made.obj
            if target.kind is NAMESPACE:
                self._empty_if_terminating(body)
            elif any(write.obj is None for write in writes):
                self._end_if_empty(target.namespace)
        return Reply(answer.code, body, answer.warnings)

    def _writes(self, answer: Answer, entry: Entry | None, target: Target) -> Iterator[Write]:
        expected: int | None = 0 if entry is None else entry.version
        for effect in answer.effects:
            if isinstance(effect, StoreBudget):
                metadata = effect.budget["metadata"]
                yield Write(BUDGET, metadata["namespace"], metadata["name"], effect.budget, int(metadata["resourceVersion"]))
                continue
            if isinstance(effect, StoreObject):
                name = effect.pod["metadata"]["name"]
                yield Write(target.kind, target.namespace, name, effect.pod, expected)
            elif isinstance(effect, Remove) and entry is not None:
                yield Write(target.kind, target.namespace, entry.obj["metadata"]["name"], None, expected)
            expected = None

    def _request(self, verb: str, call: Call) -> Request:
        target = call.target
        patch_type = ""
        body: Any = None
        complaints: list[str] = []
        if verb == "patch":
            patch_type, body, complaints = negotiation.patch(call.content_type, call.body)
        elif verb in ("create", "update") or (verb == "delete" and call.body):
            body = negotiation.read(call.content_type, call.body, self.engine)
        request = Request(
            verb,
            target.subresource,
            body,
            patch_type,
            call.query,
            target.name,
            target.namespace,
            now=self.clock(),
            uid=new_uid(),
            suffix=new_suffix(),
            resource=target.kind.qualified,
            user_agent=call.user_agent,
            track=True,
            complaints=complaints,
        )
        if target.subresource == "eviction":
            request = request._replace(budgets=self._budgets(target))
        return request

    def _budgets(self, target: Target) -> list[Object]:
        """The disruption budgets whose selector takes in the pod."""
        entry = self.store.get(POD, target.namespace, target.name)
        if entry is None:
            return []
        labels = entry.obj["metadata"].get("labels") or {}
        found, _ = self.store.list(BUDGET, target.namespace)
        return [each.obj for each in found if label_selector_of((each.obj.get("spec") or {}).get("selector"))(labels)]

    def _namespace_is_open(self, request: Request, name: str) -> None:
        """Nothing is made in a namespace that is not there or is going away.

        Upstream: the admission plugin NamespaceLifecycle
        """
        entry = self.store.get(NAMESPACE, "", request.namespace)
        if entry is None:
            raise errors.NotFound("namespaces", request.namespace)
        if "deletionTimestamp" in entry.obj["metadata"] and not request.subresource:
            raise NamespaceTerminating(request.resource, name, request.namespace)

    def _empty_if_terminating(self, namespace: Object) -> None:
        """What is in a namespace goes with it, and then the namespace itself, as the namespace controller would do it."""
        metadata = namespace.get("metadata") or {}
        if "deletionTimestamp" in metadata:
            self._empty(metadata["name"])

    def _empty(self, name: str) -> None:
        for kind in self._namespaced():
            for entry in self.store.list(kind, name)[0]:
                self._purge(kind, entry)
        self._end_if_empty(name)

    def _end_if_empty(self, name: str) -> None:
        """A namespace that was only waiting for the last of its objects goes with it."""
        entry = self.store.get(NAMESPACE, "", name)
        if entry is None or "deletionTimestamp" not in entry.obj["metadata"] or entry.obj["metadata"].get("finalizers"):
            return
        if any(self.store.list(kind, name)[0] for kind in self._namespaced()):
            return
        # Whoever else has changed it has looked after it, too.
        with contextlib.suppress(Changed):
            self.store.commit([Write(NAMESPACE, "", name, None, entry.version)])

    def _namespaced(self) -> Iterable[Kind]:
        return (kind for kind in self.store.kinds if kind.namespaced)

    def _purge(self, kind: Kind, entry: Entry) -> None:
        """Removes an object at once, unless finalizers hold it."""
        metadata = entry.obj["metadata"]
        target = Target(kind, metadata["namespace"], metadata["name"])
        body = json.dumps({"gracePeriodSeconds": 0}).encode()
        self._write("delete", Call("DELETE", target, {}, body, negotiation.JSON, user=NAMESPACE_CONTROLLER, of_many=True))

    def _delete_collection(self, call: Call) -> Reply:
        """Deletes whatever the selectors select, each as if it had been deleted alone; answers with what was there."""
        target = call.target
        options = self._list_options(call)
        page = lists.page(self.store, target.kind, target.namespace, options)
        for item in page["items"]:
            metadata = item["metadata"]
            one = replace(target, namespace=metadata.get("namespace", ""), name=metadata["name"])
            try:
                self._write("delete", replace(call, target=one, of_many=True))
            except errors.NotFound:
                continue
        return self._shown(Reply(200, page), call)

    def _review(self, call: Call, request: Request) -> Reply:
        """A review of the caller's own rights or name: answered, not kept."""
        body = request.body if isinstance(request.body, dict) else {}
        kind = call.target.kind
        head = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {"creationTimestamp": None}}
        if kind.kind == "SelfSubjectReview":
            info = {"username": call.user.name, "groups": list(call.user.groups)}
            return Reply(201, {**head, "status": {"userInfo": info}})
        return Reply(201, {**head, "spec": body.get("spec") or {}, "status": {"allowed": True}})


def _kind_of(obj: Any) -> Kind:
    """The kind that an object to be loaded calls itself, if it has what it takes to be stored."""
    if not isinstance(obj, dict):
        raise errors.BadRequest("there is an item that is no object")
    named = obj.get("apiVersion"), obj.get("kind")
    kind = BY_KIND.get((str(named[0]), str(named[1])))
    if kind is None or not kind.stored:
        raise errors.BadRequest(f"{named[1]} of {named[0]} is not served")
    metadata = obj.get("metadata") or {}
    if not isinstance(metadata, dict) or not metadata.get("name"):
        raise errors.BadRequest(f"there is a {kind.kind} without a name")
    return kind


def _name_in(answer: Answer, request: Request) -> str:
    return str((answer.body.get("metadata") or {}).get("name", request.name))


def refusal(error: errors.ApiError) -> Reply:
    return Reply(error.code, lists.failure(error), error.warnings)
