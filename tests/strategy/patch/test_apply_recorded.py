"""Server-side apply and managed fields against the recorded answers of a real server: whole answers, with the entries.

The requests go through the engine; what is applied, and the entries of every writer, come from strategy.patch.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pytest

from podstrat.strategy import defaults, errors, kinds, options, pipeline
from podstrat.strategy.engine import Engine
from podstrat.strategy.patch import managed, serverside
from podstrat.strategy.request import Answer, Remove, Request, Store
from podstrat.strategy.verbs import incoming, preconditions
from tests.conformance import compare, recorded
from tests.conformance.replay import NOW, VERBS

RECORDING = next(each for each in recorded.recordings() if each.name == "1.37-apply-and-tables")
CASES = [case for case in RECORDING.cases() if case["id"].startswith("apply/")]
ENGINE = Engine(RECORDING.version, RECORDING.gates)
SERVER = ENGINE._server
PODS = managed.ManagedKind(SERVER.ctx.types)


@dataclass
class Cluster:
    """A server with one pod. All requests come within one second, as those that were recorded."""

    pod: dict[str, Any] | None = None
    version: int = 100
    requests: int = 0
    last: Any = field(default=None)

    def send(self, step: dict[str, Any]) -> Answer:
        self.requests += 1
        request = self._request(step)
        try:
            answer = _applied(request, self.pod) if request.patch_type == "apply" else _ordinary(request, self.pod)
        except errors.ApiError as error:
            answer = pipeline.refused(error).answer
        for effect in answer.effects:
            self.version += 1
            self.pod = None if isinstance(effect, Remove) else effect.pod
            if self.pod is not None:
                self.pod["metadata"]["resourceVersion"] = str(self.version)
        if answer.code < 300 and answer.body["kind"] == "Pod":
            self.last = copy.deepcopy(answer.body)
        return answer

    def _request(self, step: dict[str, Any]) -> Request:
        query = dict(step.get("query") or {})
        kind = step.get("type", "")
        if step["do"] == "apply":
            kind = "apply"
            query["fieldManager"] = step["manager"]
            if step.get("force"):
                query["force"] = "true"
        if "base" in step:
            body = recorded.edited(recorded.BASES[step["base"]], step.get("edit", []))
        else:
            body = recorded.edited(self.last, step["edit"]) if "edit" in step else copy.deepcopy(step.get("body"))
        verb = {**VERBS, "apply": "patch"}[step["do"]]
        uid = f"00000000-0000-0000-0000-{self.requests:012}"
        return Request(verb, step.get("sub", ""), body, kind, query, "p", now=NOW, uid=uid)


def _writer(request: Request) -> managed.WriteOrigin:
    return managed.writer(options.one(request, "fieldManager"), "", request.subresource, request.now)


def _ordinary(request: Request, stored: Any) -> Answer:
    """Any write but an apply: as the engine answers it, with the entries that it makes."""
    answer = ENGINE.answer(request, stored)
    if answer.code >= 300 or request.verb == "get":
        return answer
    if request.verb == "create":
        pod = incoming.read(request, kinds.POD, SERVER.ctx, SERVER.decoder).pod
        live = None
    else:
        live, (pod, *_) = incoming.for_update(request, stored, kinds.POD, SERVER.ctx, SERVER.decoder)
    return _noted(answer, managed.updated(live, pod, _writer(request), PODS), live, request)


def _applied(request: Request, stored: Any) -> Answer:
    if stored is None and request.subresource:
        raise errors.NotFound("pods", request.name)
    force = options.one(request, "force") == "true"
    merged = serverside.apply(stored, request.body, _writer(request), force, PODS)
    decoded = serverside.read(merged, stored, SERVER.decoder, PODS)
    pod = decoded.value
    defaults.pod(pod, SERVER.ctx)
    incoming.namespace_matches(pod, request, kinds.POD)
    incoming.name_matches(pod, request)
    applied = incoming.Incoming(pod, [], decoded.seen)
    plain = request._replace(patch_type="merge", options={k: v for k, v in request.options.items() if k != "force"})
    if stored is None:
        with mock.patch.object(incoming, "for_create", return_value=applied):
            return _noted(pipeline.run(plain._replace(verb="create"), None, SERVER).answer, merged.managed, None, request)
    preconditions.unchanged(pod, stored, request)
    with mock.patch.object(incoming, "for_update", return_value=(stored, applied)):
        return _noted(pipeline.run(plain, stored, SERVER).answer, merged.managed, stored, request)


def _noted(answer: Answer, entries: Any, stored: Any, request: Request) -> Answer:
    """The answer with these entries in its pod."""
    if answer.code >= 300:
        return answer
    pod = {**answer.body, "metadata": {**answer.body["metadata"], "managedFields": entries}}
    if stored is not None:
        pod["metadata"]["managedFields"] = managed.settled(pod, stored)
    if not entries:
        del pod["metadata"]["managedFields"]
    changed = pod != stored and not options.is_dry_run(request)
    return answer._replace(body=pod, effects=(Store(pod),) if changed else ())


def _clean(answer: Answer) -> dict[str, Any]:
    """The answer as it is recorded; of an entry only the time is not."""
    record: dict[str, Any] = {"code": answer.code, "body": compare.clean(answer.body)}
    entries = (answer.body.get("metadata") or {}).get("managedFields")
    if entries:
        record["body"]["metadata"]["managedFields"] = [
            {**entry, "time": "<time>"} if "time" in entry else entry for entry in entries
        ]
    if answer.warnings:
        record["warnings"] = list(answer.warnings)
    return record


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_recorded(case):
    cluster = Cluster()
    for step, want in zip(case["steps"], case["want"], strict=True):
        got = _clean(cluster.send(step))
        assert compare.first_difference(want, got) is None
        assert _entries(got) == _entries(want)


def _entries(record: dict[str, Any]) -> str:
    """The entries as text: their keys have an order."""
    return json.dumps((record["body"].get("metadata") or {}).get("managedFields"), indent=1)


def test_every_case_is_here():
    assert len(CASES) == 39
