"""Builds the engine's Request from a Call: body decoded by content type, time, UID and name suffix filled in."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from podstrat.apiserver import negotiation, subresources
from podstrat.apiserver.calls import Call, Target
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import BUDGET, NAMESPACE, POD
from podstrat.apiserver.listing.selectors import label_selector_of
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.context import NO_LABELS
from podstrat.strategy.engine import Engine
from podstrat.strategy.kinds import BY_RESOURCE
from podstrat.strategy.patch import media_types
from podstrat.strategy.ranges import Ranges
from podstrat.strategy.request import Request

Object = dict[str, Any]

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Upstream: rand.String. No vowels and no digits that look like letters, so that no word appears."""


def new_uid() -> str:
    return str(uuid.uuid4())


def new_suffix() -> str:
    return "".join(random.choices(SUFFIX_LETTERS, k=5))


def _is_numbered(target: Target) -> bool:
    """Whether protobuf bodies for a target can be decoded: the field numbers of their type are known."""
    names = {each.name for each in subresources.of(target.kind)}
    return target.kind.numbered or (bool(target.subresource) and target.subresource not in names)


class Requests:
    """Builds the requests of one server."""

    def __init__(self, store: Store, engine: Engine, clock: Callable[[], datetime], ranges: Ranges) -> None:
        self._store = store
        self._engine = engine
        self.clock = clock
        self._ranges = ranges

    def build(self, verb: str, call: Call) -> Request:
        target = call.target
        patch_type = ""
        body: Any = None
        if verb == "patch":
            custom = isinstance(target.kind, CustomKind)
            accepted = media_types.CUSTOM_PATCHES if custom else media_types.PATCHES
            patch_type, body = negotiation.patch(call.content_type, call.body, self._engine.gates, accepted)
        elif verb == "update":
            body = negotiation.read_late(call.content_type, call.body, self._engine, _is_numbered(target))
        elif verb == "create":
            body = negotiation.read(call.content_type, call.body, self._engine, _is_numbered(target))
        elif verb == "delete" and call.body:
            body = negotiation.read(call.content_type, call.body, self._engine)
        return Request(
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
            budgets=self._budgets(call) if target.subresource == "eviction" else (),
            ranges=self._ranges,
            namespace_labels=self._namespace_labels(call) if verb != "delete" else NO_LABELS,
        )

    def _namespace_labels(self, call: Call) -> Mapping[str, str]:
        """The labels of the namespace, for kinds whose rules look at them."""
        kind = BY_RESOURCE.get(call.target.kind.qualified)
        if kind is None or not kind.strategy.reads_request:
            return NO_LABELS
        entry = self._store.get(NAMESPACE, "", call.target.namespace)
        return NO_LABELS if entry is None else entry.obj["metadata"].get("labels") or NO_LABELS

    def _budgets(self, call: Call) -> list[Object]:
        """The disruption budgets whose selector matches the pod."""
        entry = self._store.get(POD, call.target.namespace, call.target.name)
        if entry is None:
            return []
        labels = entry.obj["metadata"].get("labels") or {}
        budgets, _ = self._store.list(BUDGET, call.target.namespace)
        return [each.obj for each in budgets if label_selector_of((each.obj.get("spec") or {}).get("selector"))(labels)]
