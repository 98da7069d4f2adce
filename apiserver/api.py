"""The router: which handler answers a call, by method and target. A Call in, a Reply out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podstrat.apiserver.account_tokens import AccountTokens
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.bootstrap import NAMESPACES, Bootstrap
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.controllers import GARBAGE_COLLECTOR, Controllers
from podstrat.apiserver.controllers import NAMESPACES as NAMESPACES_CONTROLLER
from podstrat.apiserver.conversion_webhooks import ConversionWebhooks
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.garbage_collection.thread import GarbageCollector
from podstrat.apiserver.kinds import BINDING, POD
from podstrat.apiserver.kubelet import requests as kubelet
from podstrat.apiserver.listing import lists
from podstrat.apiserver.reads import Reads
from podstrat.apiserver.representation import Representation
from podstrat.apiserver.requests import Requests
from podstrat.apiserver.reviews import Reviews
from podstrat.apiserver.service_ranges import ServiceRanges
from podstrat.apiserver.storage.journal import Place, StoreError, StoreFull
from podstrat.apiserver.storage.store import Store
from podstrat.apiserver.strategies import Strategies
from podstrat.apiserver.writes import Writes
from podstrat.strategy import errors
from podstrat.strategy.admission.authorization import MASTERS, RBAC, Access, allows
from podstrat.strategy.admission.authorization import refusal as refused_access
from podstrat.strategy.engine import Engine
from podstrat.strategy.ranges import DEFAULT, Ranges
from podstrat.strategy.request import Request

TOKEN = "token"
BASIC = ("SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview")
"""What every authenticated user may ask for, whatever the roles. Upstream: the ClusterRole system:basic-user"""
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Api:
    """The resources of one server."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        *,
        pod_strategy: bool = True,
        admission: Admission | None = None,
        ranges: Ranges = DEFAULT,
        controllers: frozenset[str] = frozenset({NAMESPACES_CONTROLLER}),
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        key_folder: Path | None = None,
    ) -> None:
        self.store = store
        admission = admission or Admission(store, engine.context.version)
        self.decisions = admission.decisions
        self.engine = engine = engine.admitting(admission.over_the_store())
        self.custom = CustomResources(store, engine, ConversionWebhooks(lambda: admission.caller).convert)
        strategies = self._strategies = Strategies(engine, self.custom, pod_strategy)
        self.tokens = AccountTokens(store, clock, key_folder)
        self.reviews = Reviews(strategies, self.tokens)
        representation = Representation(engine.context, clock, self.custom)
        self._representation = representation
        self._ranges = ServiceRanges(store, ranges)
        self._requests = Requests(store, engine, clock, self._ranges.ranges)
        self._reads = Reads(store, strategies, self._requests, representation, self.custom)
        self._kubelet = kubelet.KubeletRequests(store, clock)
        self._controllers = Controllers(store, strategies, controllers, clock)
        self._writes = Writes(
            store, strategies, self._requests, representation, admission, self._ranges, self._controllers, self.custom
        )
        self._bootstrap = Bootstrap(store, strategies, clock, self.custom, self._writes.definitions)

    def bootstrap(self, namespaces: Sequence[str] = NAMESPACES, authority: bytes = b"") -> None:
        """Creates what every cluster has: namespaces, priority classes, the API server's Service, and what controllers make.

        ``authority`` is the certificate that client certificates are verified with.
        """
        self._bootstrap.namespaces(namespaces)
        if authority:
            self._bootstrap.authority(authority)
        self._bootstrap.priority_classes()
        self._ranges.claim_stored()
        if "default" in namespaces:
            self._bootstrap.api_service(self._ranges)
        self._controllers.start()

    def load(self, objects: Sequence[Any]) -> None:
        """Stores objects as if they had been written earlier."""
        self._bootstrap.load(objects)
        self._ranges.claim_stored()
        self._controllers.start()

    def service_account(self, token: str) -> User | None:
        """The service account that a token belongs to."""
        identity = self.tokens.shown(token)
        return None if identity is None else identity.user

    def run_controllers(self) -> None:
        """Starts what works on its own, and goes on with what an earlier server left undone.

        It starts threads: only to be called in the process that serves.
        """
        self._writes.namespaces.resume()
        self._writes.definitions.resume()
        if self._controllers.runs(GARBAGE_COLLECTOR):
            GarbageCollector(self.store, self.custom, self._writes.send).start()

    def reset(self) -> None:
        """Back to the initial objects."""
        self.store.reset()
        self.custom.refresh()

    def restore(self, snapshot: Mapping[Place, Any]) -> None:
        """Back to the objects of a snapshot."""
        self.store.restore(snapshot)
        self.custom.refresh()

    def handle(self, call: Call) -> Reply:
        """The reply to a call. A client's error becomes a reply; it is never raised."""
        try:
            return self._route(call)
        except errors.ApiError as error:
            return refusal(error)
        except StoreError as error:
            return refusal(NotStored(error))

    def _route(self, call: Call) -> Reply:
        target = call.target
        self._authorize(call)
        self._representation.form(call)  # refused before anything happens
        if target.kind is POD and target.subresource in kubelet.SUBRESOURCES:
            return self._kubelet.answer(call)
        if call.method == "GET":
            return self._reads.get(call) if target.name and not target.watch else self._reads.list_or_watch(call)
        if call.method not in VERBS:
            raise errors.MethodNotAllowed()
        if not target.name and call.method != "POST":
            if call.method == "DELETE":
                return self._delete_collection(call)
            raise errors.MethodNotAllowed()
        request = self._requests.build(VERBS[call.method], call)
        if target.kind is BINDING:
            return self._bind(call, request)
        if not target.kind.stored:
            return self._representation.convert(self.reviews.answer(call, request), call)
        if target.subresource == TOKEN:
            return self._representation.convert(self.reviews.token(call, request), call)
        return self._writes.write(call, request)

    def _bind(self, call: Call, request: Request) -> Reply:
        """A Binding posted to …/bindings, which names the pod itself.

        Upstream: LegacyBindingREST.Create
        """
        try:
            name = self.engine.decoder.read(request.body, "Binding", "v1", "Ignore")[0]["metadata"].get("name", "")
        except errors.ApiError:
            name = ""  # evaluated below, with the answer
        target = Target(POD, call.target.namespace, name, "binding")
        binding = request._replace(name=name, subresource="binding", resource=POD.qualified, admitted_as=BINDING.qualified)
        return self._writes.write(replace(call, target=target), binding)

    def _authorize(self, call: Call) -> None:
        """Forbidden where the roles do not allow a call; everything is allowed unless --authorization-mode says otherwise.

        Upstream: WithAuthorization
        """
        target = call.target
        verb = VERBS.get(call.method, "get" if target.name else "list")
        if call.method == "GET" and (target.watch or call.query.get("watch", ["false"])[-1] in ("true", "1")):
            verb = "watch"
        if call.method == "DELETE" and not target.name:
            verb = "deletecollection"
        kind = target.kind
        if kind.kind in BASIC and AUTHENTICATED in call.user.groups:
            return
        access = Access(verb, kind.plural, kind.group, target.subresource, target.namespace, target.name)
        self._check_access(call.user, access, kind.qualified)

    def webhook_decisions(self, user: User, after: int, seconds: float) -> dict[str, Any]:
        """The latest decisions of webhooks behind a number, for those who may list all events."""
        self._check_access(user, Access("list", "events"), "events")
        return self.decisions.after(after, seconds)

    def check_impersonation(self, user: User, acted_as: User) -> None:
        """Forbidden where a user may not act as another one, or as one of its groups.

        Stricter than AlwaysAllow: without RBAC only system:masters may, or else nodes could escape NodeRestriction.
        Upstream: WithImpersonation
        """
        plugins = self.engine.plugins
        if MASTERS not in user.groups and (plugins is None or plugins.authorization_mode != RBAC):
            raise errors.Forbidden("users", acted_as.name, refused_access(user, Access("impersonate", "users")))
        self._check_access(user, Access("impersonate", "users", name=acted_as.name), "users")
        for group in acted_as.groups:
            if group != AUTHENTICATED:
                self._check_access(user, Access("impersonate", "groups", name=group), "groups")

    def _check_access(self, user: User, access: Access, resource: str) -> None:
        plugins = self.engine.plugins
        if plugins is not None and not allows(plugins.authorization_mode, plugins.world, user, access):
            raise errors.Forbidden(resource, access.name, refused_access(user, access))

    def _delete_collection(self, call: Call) -> Reply:
        """Deletes the selected objects, each as if it were deleted alone; the reply is the list of them, or the first refusal.

        Upstream: DeleteCollection, Store.DeleteCollection
        """
        options = self._reads.options(call)
        self._strategies.check_delete_options(self._requests.build("delete", call))
        page = self._reads.page(call, options)
        for item in page["items"]:
            metadata = item["metadata"]
            target = replace(call.target, namespace=metadata.get("namespace", ""), name=metadata["name"])
            one = replace(call, target=target, of_many=True)
            reply = self._writes.write(one, self._requests.build("delete", one))
            if reply.code >= 300 and reply.code != errors.NotFound.code:
                return reply
        return self._representation.convert(Reply(200, page), call)


class NotStored(errors.ApiError):
    """The write could not be stored: 507 where the disk is full, else 500. The message has the reason."""

    code = 500
    reason = "InternalError"

    def __init__(self, error: StoreError) -> None:
        super().__init__(f"Internal error occurred: {error}", {"causes": [{"message": str(error)}]})
        if isinstance(error, StoreFull):
            self.code = 507
            self.reason = "InsufficientStorage"


def refusal(error: errors.ApiError) -> Reply:
    """The reply to a refused call."""
    return Reply(error.code, lists.failure(error), error.warnings)
