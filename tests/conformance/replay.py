"""Putting recorded cases through the request function, with a dict for a store."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from podstrat.apiserver import negotiation
from podstrat.strategy import errors, pipeline
from podstrat.strategy.admission import Admission, Settings, World
from podstrat.strategy.admission.plugins import beyond
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from podstrat.strategy.request import Answer, Remove, Request, Store
from tests.conformance import compare, kinds
from tests.conformance.recorded import BASES, Recording, area, edited, localised, recalled

NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
VERBS = {"create": "create", "replace": "update", "patch": "patch", "delete": "delete", "get": "get", "apply": "patch"}
POSTED = {
    "bind": ("binding", {"apiVersion": "v1", "kind": "Binding"}),
    "evict": ("eviction", {"apiVersion": "policy/v1", "kind": "Eviction"}),
}


class Verdict(NamedTuple):
    """How one case came out."""

    id: str
    area: str
    codes: bool
    """Whether every status code agrees."""
    whole: bool
    """Whether everything agrees."""
    why: str | None


@dataclass
class Stored:
    """A store for one case: pods by name, and a counter for resource versions."""

    engine: Engine
    namespace: str = "default"
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 100

    def send(self, request: Request) -> Answer:
        answer = self.engine.answer(request, self.pods.get(request.name))
        name = request.name
        for effect in answer.effects:
            if isinstance(effect, Remove):
                del self.pods[name]
            elif isinstance(effect, Store):
                self.version += 1
                pod = effect.pod
                pod["metadata"]["resourceVersion"] = str(self.version)
                name = pod["metadata"]["name"]
                self.pods[name] = pod
        return answer


def verdicts(recording: Recording, prefix: str = "") -> Iterator[Verdict]:
    """Every case of a file whose id begins so."""
    engine = _engine(recording)
    loaded = {pod["metadata"]["name"]: engine.stored(pod) for pod in recording.objects}
    for case in recording.cases():
        # A table is made from a stored pod by the embedded server; its tests have those cases.
        if case["id"].startswith(prefix) and not any(step["do"] == "table" for step in case["steps"]):
            yield _verdict(case, engine, loaded, recording.namespace)


def _engine(recording: Recording) -> Engine:
    """The engine of the server that answered. Of the admission plugins that were on, one refuses claims that grow."""
    if not recording.kinds:
        return Engine(recording.version, recording.gates)
    world = World([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}], complete="*")
    off = beyond(history.parse_version(recording.version))
    return Engine(recording.version, recording.gates, admission=Admission(world, Settings(disable=off)))


def _verdict(case: dict[str, Any], engine: Engine, loaded: dict[str, Any], namespace: str) -> Verdict:
    try:
        given = kinds.answers(case, engine) if "resource" in case else answers(case, engine, loaded, namespace)
        got = [recalled(each, namespace) for each in given]
    except Exception as error:  # a case that cannot be run is a difference, not the end of the run
        return Verdict(case["id"], area(case), False, False, f"{type(error).__name__}: {error}")
    codes = [each["code"] for each in case["want"]] == [each["code"] for each in got]
    for i, (want, one) in enumerate(zip(case["want"], got, strict=True)):
        one["body"] = compare.in_recorded_order(one["body"], want["body"])
        if why := compare.first_difference(want, one) or compare.first_other_order(want["body"], one["body"]):
            return Verdict(case["id"], area(case), codes, False, f"step {i}: {why}")
    return Verdict(case["id"], area(case), codes, True, None)


def answers(case: dict[str, Any], engine: Engine, loaded: dict[str, Any], namespace: str = "default") -> Iterator[dict[str, Any]]:
    """What we answer to each step, in the form of the record."""
    name = case.get("name", "p")
    store = Stored(engine, namespace=namespace)
    last: Any = None
    if "name" in case:
        store.pods[name] = copy.deepcopy(loaded[name])
        store.pods[name]["metadata"]["resourceVersion"] = "100"
        last = store.pods[name]
    for number, step in enumerate(case["steps"]):
        answer = _answer(store, step, last, name, number)
        if step["do"] == "create" and answer.code == 201:
            name = answer.body["metadata"]["name"]
        if answer.code < 300 and answer.body["kind"] == "Pod":
            last = answer.body
        elif answer.code < 300:
            last = store.pods.get(name, last)
        record = {"code": answer.code, "body": compare.clean(answer.body, case.get("managed", False))}
        if answer.warnings:
            # The record has the bytes of the header as they stand there.
            record["warnings"] = [text.encode().decode("latin-1") for text in answer.warnings]
        yield record


def _answer(store: Stored, step: dict[str, Any], last: Any, name: str, number: int) -> Answer:
    """A body whose content type is refused never reaches the engine."""
    try:
        request = _request(step, last, name, number, store)
    except errors.ApiError as error:
        return pipeline.refused(error).answer
    return store.send(request)


def _request(step: dict[str, Any], last: Any, name: str, number: int, store: Stored) -> Request:
    options, namespace = step.get("query") or {}, store.namespace
    body = localised(_body(step, last), namespace)
    uid = f"00000000-0000-0000-0000-{number + 1:012}"
    common: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "now": NOW,
        "uid": uid,
        "suffix": "abcde",
        "options": options,
        "track": True,
    }
    if step["do"] in POSTED:
        subresource, kind = POSTED[step["do"]]
        body = {**kind, "metadata": {"name": name, "namespace": namespace}, **(body or {})}
        return Request("create", subresource, body, **common)
    if step["do"] == "apply":
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        _, body = negotiation.patch("application/apply-patch+yaml", text)
        force = {"force": "true"} if step.get("force") else {}
        common["options"] = {"fieldManager": step["manager"], **force, **options}
        return Request("patch", step.get("sub", ""), body, "apply", **common)
    if "ctype" in step:
        body = negotiation.read(step["ctype"], body, store.engine)
    return Request(VERBS[step["do"]], step.get("sub", ""), body, step.get("type", ""), **common)


def _body(step: dict[str, Any], last: Any) -> Any:
    if "raw" in step:
        return step["raw"].encode()
    if "base" in step:
        return edited(BASES[step["base"]], step.get("edit", []))
    if "edit" in step:
        return edited(last or {}, step["edit"])
    body = step.get("body")
    if body is None and step["do"] in ("patch", "apply"):
        return b""
    return body.encode() if isinstance(body, str) else copy.deepcopy(body)
