"""Recorded requests as material: whole cases, and the bodies in them."""

from __future__ import annotations

import copy
import functools
import gzip
import json
import random
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.strategy import errors, kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from tests.conformance import kinds as kind_replay
from tests.conformance import replay
from tests.conformance.recorded import CASES

FILES = ("1.37", "fuzz-1.37", "fuzz-1.37-all-alpha", "1.37-apply-and-tables", "kinds-1.37", "workloads-full-1.37")
ENGINES = (Engine("1.37"), Engine("1.34"), Engine("1.36"), Engine("1.37", {"AllAlpha": True, "AllBeta": True}))


@functools.cache
def cases() -> list[dict[str, Any]]:
    found = []
    for name in FILES:
        with gzip.open(CASES / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += [case for case in map(json.loads, lines) if _usable(case)]
    return found


def _usable(case: dict[str, Any]) -> bool:
    """Tables are the embedded server's; some cases begin with objects that were loaded before, some have kinds without rules."""
    known = "resource" not in case or _resource(case) in kinds.BY_RESOURCE
    return known and "name" not in case and not any(step["do"] == "table" for step in case["steps"])


def _resource(case: dict[str, Any]) -> str:
    return ".".join(filter(None, (case["resource"]["plural"], case["resource"]["group"])))


@functools.cache
def bodies() -> list[dict[str, Any]]:
    """Objects that were sent."""
    return [step["body"] for case in cases() for step in case["steps"] if isinstance(step.get("body"), dict)]


class Session:
    """A case as it is replayed: its engine, its store, and the request of each step."""

    def __init__(self, case: dict[str, Any], engine: Engine) -> None:
        self.case = case
        self.engine = engine
        self.kind = kinds.BY_RESOURCE[_resource(case)] if "resource" in case else kinds.POD
        self.store = kind_replay.Cluster(engine, self.kind)
        self.name = case.get("object", "w") if "resource" in case else "p"
        self.last: Any = None

    def request(self, number: int, step: dict[str, Any]) -> Request | None:
        """None if the body's content type is refused before it reaches the engine."""
        try:
            if "resource" in self.case:
                uid = (self.last or {}).get("metadata", {}).get("uid", "")
                return kind_replay._request(step, self.kind, self.last, self.name, uid, number, self.engine)
            return replay._request(step, self.last, self.name, number, replay.Stored(self.engine))
        except errors.ApiError:
            return None

    def stored(self, request: Request) -> dict[str, Any] | None:
        return copy.deepcopy(self.store.objects.get(request.name))

    def send(self, request: Request) -> Any:
        answer = self.store.send(request)
        body = answer.body
        if answer.code < 300 and isinstance(body, dict) and body.get("kind") == self.kind.kind:
            self.last = copy.deepcopy(body)
            if request.verb == "create":
                self.name = body["metadata"]["name"]
        return answer


def value_of(body: Any) -> Any:
    """The value of a body that is a text; None if it has none."""
    if isinstance(body, negotiation.YamlBody):
        body = body.data
    if isinstance(body, bytes):
        try:
            return json.loads(body)
        except ValueError:
            return None
    return body


def chosen(dice: random.Random) -> tuple[dict[str, Any], Engine]:
    engine = ENGINES[0] if dice.random() < 0.7 else dice.choice(ENGINES)
    return dice.choice(cases()), engine
