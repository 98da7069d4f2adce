"""Read requests: get, list and watch."""

from __future__ import annotations

from functools import partial
from typing import Any

from podstrat.apiserver import accept
from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.listing import list_options, lists, watching
from podstrat.apiserver.listing.list_options import Options
from podstrat.apiserver.negotiation import JSON, PROTOBUF, YAML
from podstrat.apiserver.protobuf import encode
from podstrat.apiserver.representation import Representation
from podstrat.apiserver.requests import Requests
from podstrat.apiserver.storage.store import Store
from podstrat.apiserver.strategies import Strategies
from podstrat.strategy import errors

Object = dict[str, Any]

IDLE = 5.0
"""Seconds without an event after which a watch checks that its client is still connected: a closed one frees its thread soon."""
WATCHES = 1_984
"""How many watches may be open. Each takes a thread and an open file; with the 64 threads for other requests that makes 2048,
half of the open files that serve asks the system for."""


class Reads:
    """Answers the read requests of one server."""

    def __init__(
        self,
        store: Store,
        strategies: Strategies,
        requests: Requests,
        representation: Representation,
        custom: CustomResources,
    ) -> None:
        self._store = store
        self._custom = custom
        self._context = strategies.engine.context
        self._strategies = strategies
        self._requests = requests
        self._representation = representation

    def get(self, call: Call) -> Reply:
        target = call.target
        lists.wait_for(self._store, list_options.version(list_options.first(call.query, "resourceVersion") or ""))
        entry = self._store.get(target.kind, target.namespace, target.name)
        answer = self._strategies.answer(self._requests.build("get", call), entry, target.kind)
        json = entry.json if entry is not None and answer.body is entry.obj else None
        return self._representation.convert(Reply(answer.code, answer.body, answer.warnings, json=json), call)

    def list_or_watch(self, call: Call) -> Reply:
        options = self.options(call)
        if options.watch:
            return self._watch(call, options)
        kind = call.target.kind
        if self._view(kind) is None and self._representation.form(call) == accept.PLAIN:
            found = self._entries(call, options)
            return Reply(200, json=partial(lists.encoded, found, kind))
        return self._representation.convert(Reply(200, self.page(call, options), self._custom.warnings(kind)), call)

    def _view(self, kind: Kind) -> lists.View | None:
        """How stored objects of a kind are shown; None where they are shown as they are stored."""
        return partial(self._strategies.view, kind=kind) if isinstance(kind, CustomKind) or kind.stored_as else None

    def options(self, call: Call) -> Options:
        """The ListOptions of a call."""
        ctx, target = self._context, call.target
        watch_list = "WatchList" in ctx.gates
        query = {**call.query, "watch": ["1"]} if target.watch else call.query
        name = target.name if target.watch else ""
        return list_options.decode(query, target.kind, watch_list=watch_list, unit=ctx.name_unit, name=name)

    def page(self, call: Call, options: Options) -> Object:
        """The list object that answers a call."""
        return lists.page(self._entries(call, options), call.target.kind)

    def _entries(self, call: Call, options: Options) -> lists.Page:
        kind = call.target.kind
        try:
            return lists.entries(self._store, kind, call.target.namespace, options, deadline=call.deadline, view=self._view(kind))
        except errors.ApiError as error:
            raise self._custom.listed(error) from None

    def _watch(self, call: Call, options: Options) -> Reply:
        if self._store.watchers() >= WATCHES:
            raise errors.TooManyRequests("there are too many watches, please try again later", {"retryAfterSeconds": 1})
        target = call.target
        form = self._representation.form(call)
        convert = self._representation.converter(form, target.kind) if form.name else None
        frame = partial(encode.event, types=self._context.types) if form.media == PROTOBUF else watching.line
        blank = self._blank(target.kind)
        stream = watching.watch(
            self._store,
            target.kind,
            target.namespace,
            options,
            convert,
            frame,
            form=str(form),
            blank=blank,
            idle=IDLE,
            view=self._view(target.kind),
        )
        if form.media == YAML:
            raise accept.not_acceptable(accept.STREAMED)
        return Reply(200, stream=stream, content_type=JSON if form.media == JSON else f"{form.media};stream=watch")

    def _blank(self, kind: Kind) -> Object:
        """An object of a kind without content, of which bookmarks are made."""
        if isinstance(kind, CustomKind):
            return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}}
        return self._strategies.blank(kind)
