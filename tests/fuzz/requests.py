"""Targets of the request function: recorded requests with their bodies mutated; of all verbs, of patches, of server-side apply.

An answer is documented if its code is one of the API's and its body is JSON. The stored object is not changed by a request, and
the same request has the same answer. What was stored is stable: reading it again, updating it to itself, and applying the same
again changes nothing.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.strategy.request import Answer, Request, Store
from tests.fuzz import mutations, recorded
from tests.fuzz.target import Failure, expect

CODES = frozenset((200, 201, 202, 400, 404, 405, 409, 413, 415, 422, 429, 500))
"""500 is an answer of the server's own (errors.ServerError); an error of ours is an exception."""


class Requests:
    """Cases with a step of some verbs, of which one is mutated."""

    def __init__(self, *does: str) -> None:
        self._does = frozenset(does)

    def check(self, number: int) -> str:
        dice = random.Random(number)
        case, engine = recorded.chosen(dice)
        while not any(step["do"] in self._does for step in case["steps"]):
            case, engine = recorded.chosen(dice)
        session = recorded.Session(case, engine)
        at = dice.choice([i for i, step in enumerate(case["steps"]) if step["do"] in self._does])
        for i, step in enumerate(case["steps"][: at + 1]):
            request = session.request(i, step)
            if request is None:
                return "unsent"
            if i == at:
                return _checked(session, _mutated(request, dice))
            session.send(request)
        raise AssertionError("not reached")


def _mutated(request: Request, dice: random.Random) -> Request:
    value = recorded.value_of(request.body)
    if value is None:
        return request
    value = mutations.value(value, dice, recorded.bodies())
    if request.patch_type == "apply" or dice.random() < 0.5:
        text = json.dumps(value).encode()
        if dice.random() < 0.3:
            text = mutations.spoilt(text, dice)
        body: Any = negotiation.YamlBody(text) if request.patch_type == "apply" else text
    else:
        body = value
    return request._replace(body=body)


def _sent(session: recorded.Session, request: Request) -> Any:
    body = request.body.data if isinstance(request.body, negotiation.YamlBody) else request.body
    shown = body.decode("latin-1") if isinstance(body, bytes) else body
    fields = {name: getattr(request, name) for name in ("verb", "subresource", "patch_type", "options", "name", "resource")}
    return {
        "case": session.case["id"],
        "version": session.engine.version,
        **fields,
        "body": shown,
        "stored": session.stored(request),
    }


def _checked(session: recorded.Session, request: Request) -> str:
    sent = _sent(session, request)
    before, stored = session.stored(request), session.stored(request)
    body = copy.deepcopy(request.body)
    try:
        answer = session.engine.answer(request, stored)
        again = session.engine.answer(request._replace(body=body), session.stored(request))
    except Exception as error:
        raise Failure(f"{type(error).__name__}: {error}", sent) from error
    expect(stored == before, "the stored object was changed", sent)
    expect(_json(answer.body, sent) == _json(again.body, sent), "another answer to the same request", sent)
    kind = _documented(answer, sent)
    for effect in answer.effects:
        if isinstance(effect, Store) and request.verb != "delete" and not request.subresource:
            _stable(session, effect.pod, sent)
            if request.patch_type == "apply":
                _applied_again(session, request._replace(body=body), effect.pod, sent)
    return kind


def _documented(answer: Answer, sent: Any) -> str:
    expect(answer.code in CODES, f"code {answer.code}", sent)
    if answer.code >= 400:
        expect(answer.body["kind"] == "Status" and answer.body["code"] == answer.code, f"not a Status: {answer.body}", sent)
    return str(answer.code)


def _json(body: Any, sent: Any) -> str:
    try:
        return json.dumps(body, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise Failure(f"the answer is not JSON: {error}", sent) from error


def _stable(session: recorded.Session, obj: dict[str, Any], sent: Any) -> None:
    kind, engine = session.kind, session.engine
    stored = copy.deepcopy(obj)
    stored["metadata"]["resourceVersion"] = "7"
    expect(engine.stored(stored, kind.resource) == stored, "what was stored is read as something else", sent)
    if kind.kind == "Service":
        return  # recorded: an address may stay when the type becomes ExternalName, and the next update is refused for it
    same = Request("update", body=copy.deepcopy(stored), name=stored["metadata"]["name"], resource=kind.resource)
    answer = engine.answer(same._replace(namespace=stored["metadata"].get("namespace", "")), stored)
    expect(answer.code == 200, f"an update to itself is answered with {answer.code}: {answer.body.get('message')}", sent)
    expect(answer.body == stored, "an update to itself changes it", sent)


def _applied_again(session: recorded.Session, request: Request, obj: dict[str, Any], sent: Any) -> None:
    if not obj["metadata"].get("managedFields"):
        return  # it applied nothing, so that the next apply is the first
    answer = session.engine.answer(request._replace(name=obj["metadata"]["name"]), copy.deepcopy(obj))
    causes = (answer.body.get("details") or {}).get("causes") or ()
    if answer.code == 409 or any(cause["field"].startswith("metadata.") for cause in causes):
        return  # it sets a resourceVersion, or metadata that a create takes away and an update refuses
    expect(answer.code == 200, f"applied again it is answered with {answer.code}: {answer.body.get('message')}", sent)
    expect(not answer.effects, "applied again it changes", sent)
