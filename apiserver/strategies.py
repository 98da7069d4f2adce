"""Which strategy evaluates a request: the engine, for the kinds that it has rules for, or the generic one."""

from __future__ import annotations

from typing import Any

from podstrat.apiserver import conversions
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.generic_objects import Judge
from podstrat.apiserver.kinds import POD, Kind
from podstrat.apiserver.storage.store import Entry
from podstrat.strategy import options
from podstrat.strategy.api import key_order
from podstrat.strategy.decoding import codec
from podstrat.strategy.engine import Engine
from podstrat.strategy.kinds import BY_RESOURCE
from podstrat.strategy.request import Answer, Request
from podstrat.strategy.request import Store as StoreObject

Object = dict[str, Any]


class Strategies:
    """The strategies of one server; without ``pod_strategy`` pods are stored as they are, like every other kind."""

    def __init__(self, engine: Engine, custom: CustomResources, pod_strategy: bool = True) -> None:
        self.engine = engine
        self._custom = custom
        self._generic = Judge(engine.context)
        self._pod_strategy = pod_strategy

    def answer(self, request: Request, entry: Entry | None, kind: Kind) -> Answer:
        """What the server answers, and the effects on storage."""
        stored = None if entry is None else entry.obj
        if isinstance(kind, CustomKind):
            return self._answer_custom(request, stored, kind)
        if self._has_rules(kind):
            return self.engine.answer(request, stored)
        if kind.stored_as:
            return self._answer_converted(request, stored, kind)
        return self._answer_generic(request, stored, kind)

    def _answer_converted(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        """The answer about an object that is stored as another kind."""
        before = None if stored is None else self.view(stored, kind)
        answer = self._answer_generic(request, before, kind)
        effects = tuple(
            StoreObject(self.stored(conversions.kept(each.pod, kind, stored), conversions.stored_kind(kind)))
            if isinstance(each, StoreObject)
            else each
            for each in answer.effects
        )
        return answer._replace(effects=effects)

    def view(self, obj: Object, kind: Kind) -> Object:
        """A stored object as it is shown as an object of a kind."""
        if isinstance(kind, CustomKind):
            return self._custom.view(obj, kind)
        return self._generic.stored(conversions.shown(obj, kind), kind) if kind.stored_as else obj

    def read(self, request: Request, kind: str, api_version: str) -> tuple[Object, list[str]]:
        """A body that is only answered, not stored: the object, and warnings."""
        validation = options.one(request, "fieldValidation")
        return self._generic.decoder.read(request.body, kind, api_version, validation)[:2]

    def blank(self, kind: Kind) -> Object:
        """An object of a kind without content."""
        types = self.engine.context.types
        types = types if kind.type_name in types else self._generic.types
        zero = {"kind": kind.kind, "apiVersion": kind.api_version, **codec.zero(kind.type_name, types)}
        return key_order.ordered(zero, kind.type_name, types)

    def printed(self, obj: Object, type_name: str) -> Object:
        """An object as it is printed, by the name of its type."""
        return key_order.ordered(codec.prune(obj, type_name, self._generic.types), type_name, self._generic.types)

    def _answer_custom(self, request: Request, stored: Object | None, kind: CustomKind) -> Answer:
        """The schema of a custom resource with the admission plugins, policies and webhooks."""
        plugins = self.engine.plugins
        if plugins is None or request.verb == "get":
            return self._custom.answer(request, stored, kind)
        chain = plugins.chain(request)
        return chain.charged(self._custom.answer(request._replace(reviewers=chain), stored, kind))

    def _answer_generic(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        """The generic strategy with the admission plugins; pods that are stored as they are do without most of them."""
        plugins = self.engine.plugins
        if plugins is None or request.verb == "get":
            return self._generic.answer(request, stored, kind)
        chain = plugins.chain(request, stored_as_is=kind is POD)
        return chain.charged(self._generic.answer(request._replace(reviewers=chain), stored, kind))

    def check_delete_options(self, request: Request) -> None:
        """Refuses invalid DeleteOptions, whatever they are for."""
        options.check_delete(self._generic.delete_options(request), self._generic.ctx.version)

    def deletes_for_real(self, request: Request) -> bool:
        """Whether a delete is not a dry run."""
        return request.verb == "delete" and not self._generic.delete_options(request).get("dryRun")

    def stored(self, obj: Object, kind: Kind) -> Object:
        """An object as it comes out of the server's storage."""
        if isinstance(kind, CustomKind):
            return obj
        own = kind.qualified in BY_RESOURCE
        if not own:
            return key_order.ordered(self._generic.stored(obj, kind), kind.type_name, self._generic.types)
        return key_order.ordered(self.engine.stored(obj, kind.qualified), kind.type_name, self.engine.context.types)

    def _has_rules(self, kind: Kind) -> bool:
        return kind.qualified in BY_RESOURCE and (kind is not POD or self._pod_strategy)
