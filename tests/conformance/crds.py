"""Recorded cases about CustomResourceDefinitions and custom objects, sent to a server: in this process, or over HTTPS.

A case has its own definition, or names those in cases/crds-definitions.json that exist before it; README.md says what else
differs.
"""

from __future__ import annotations

import copy
import json
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Protocol

from podstrat.apiserver.api import Api
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.engine import Engine
from tests.conformance import compare, kinds
from tests.conformance.one_second import in_one_second
from tests.conformance.recorded import CASES, PATCHES, TABLE, Recording, area
from tests.conformance.replay import Verdict

Object = dict[str, Any]

JSON = "application/json"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
METHODS = {
    "create": "POST",
    "replace": "PUT",
    "patch": "PATCH",
    "apply": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
ON_COLLECTIONS = ("create", "list", "tablelist", "deletecollection")


class Client(Protocol):
    def send(self, method: str, path: str, body: Any, content_type: str, accept: str) -> Object:
        """The answer: code, body and warnings, if there are any."""


@cache
def definitions() -> dict[str, Object]:
    """The definitions that cases name, by name."""
    found: dict[str, Object] = json.loads((CASES / "crds-definitions.json").read_text())
    return found


class InProcess:
    """A server in this process, with its store in memory."""

    def __init__(self, version: str) -> None:
        api = Api(Store.open(), Engine(version))
        api.bootstrap()
        self._client = Http(api, Authenticator([], allow_anonymous=True), lambda _: None, Metrics()).app().test_client()

    def send(self, method: str, path: str, body: Any, content_type: str, accept: str) -> Object:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Accept": accept, "User-Agent": ""}
        response = self._client.open(path, method=method, data=data, content_type=content_type, headers=headers)
        return answer(response.status_code, response.get_data(), response.headers.getlist("Warning"))


def answer(code: int, text: bytes, warnings: list[str]) -> Object:
    """An answer in the form of the record."""
    try:
        body = json.loads(text)
    except ValueError:
        body = {"raw": text.decode()}
    told = [re.sub(r'^299 \S+ "(.*)"$', r"\1", each).replace('\\"', '"') for each in warnings]
    return {"code": code, "body": body, **({"warnings": told} if told else {})}


def verdicts(recording: Recording, prefix: str = "") -> Iterator[Verdict]:
    """Every case of a file whose id begins so, sent to a server in this process."""
    client = InProcess(recording.version)
    for case in recording.cases():
        if case["id"].startswith(prefix):
            yield verdict(case, client)


def verdict(case: Object, client: Client) -> Verdict:
    """How one case comes out."""
    return in_one_second(case, lambda: _verdict(case, client), lambda found: found.whole)


def _verdict(case: Object, client: Client) -> Verdict:
    got = list(answers(case, client))
    codes = [each["code"] for each in case["want"]] == [each["code"] for each in got]
    for i, (want, one) in enumerate(zip(case["want"], got, strict=True)):
        if why := compare.first_difference(want, one):
            return Verdict(case["id"], area(case), codes, False, f"step {i}: {why}")
    return Verdict(case["id"], area(case), codes, True, None)


def ensure(client: Client, names: Iterable[str]) -> None:
    """Creates definitions that do not exist yet."""
    for name in names:
        if client.send("GET", f"{CRDS}/{name}", None, JSON, JSON)["code"] == 404:
            client.send("POST", CRDS, definitions()[name], JSON, JSON)


class _Resource:
    """What a case knows about one resource: its last object, its name, its uid."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last: Any = None
        self.uid = ""


def answers(case: Object, client: Client) -> Iterator[Object]:
    """What the server answers to each step, in the form of the record; at the end what the case made is removed."""
    ensure(client, case.get("crds", []))
    seen: dict[tuple[str, str], _Resource] = {}
    made: list[str] = []
    for step in case["steps"]:
        if step["do"] == "pause":
            yield {"code": 0, "body": {}}
            continue
        resource = {**step.get("on", case["resource"])}
        resource["version"] = step.get("version", resource["version"])
        kind = step["on"]["kind"] if "on" in step else case["kind"]
        known = seen.setdefault((resource["group"], resource["plural"]), _Resource(case.get("object", "w")))
        yield _step(step, resource, kind, known, case.get("managed", False), client, made)
    for path in reversed(made):
        _remove(client, path)


def _root(resource: Object) -> str:
    base = f"/apis/{resource['group']}/{resource['version']}"
    return f"{base}/namespaces/default/{resource['plural']}" if resource["namespaced"] else f"{base}/{resource['plural']}"


def _step(step: Object, resource: Object, kind: str, known: _Resource, managed: bool, client: Client, made: list[str]) -> Object:
    do, sub, root = step["do"], step.get("sub", ""), _root(resource)
    path = root if do in ON_COLLECTIONS else f"{root}/{step.get('at', known.name)}{'/' + sub if sub else ''}"
    query = dict(step.get("query") or {})
    body = kinds.body_of(step, known.last, known.uid) if do in METHODS else None
    if do == "replace" and sub == "scale" and "raw" not in step:
        body = kinds.scale(known.name, body)
    if do == "apply":
        query = {"fieldManager": step.get("manager", "m"), **({"force": "true"} if step.get("force") else {}), **query}
    if do == "path":
        path = step["path"]
    path += f"?{urllib.parse.urlencode(query)}" if query else ""
    form = {"patch": PATCHES.get(step.get("type", "")), "apply": PATCHES["apply"]}.get(do) or step.get("ctype", JSON)
    got = client.send(METHODS.get(do, "GET"), path, body, form, TABLE if do.startswith("table") else step.get("accept", JSON))
    _note(step, got, kind, known, root, client, made)
    return {**got, "body": _washed(got["body"], do, known.uid, managed)}


def _note(step: Object, got: Object, kind: str, known: _Resource, root: str, client: Client, made: list[str]) -> None:
    do, body = step["do"], got["body"]
    if got["code"] == 201 and do in ("create", "apply"):
        if do == "create":
            known.name = body["metadata"]["name"]
        made.append(f"{root}/{body['metadata']['name']}")
    if got["code"] < 300 and body.get("kind") == kind and isinstance(body.get("metadata"), dict):
        known.last = copy.deepcopy(body)
        known.uid = body["metadata"].get("uid", known.uid)
    elif got["code"] < 300 and step.get("sub") == "scale" and do in ("replace", "patch", "apply"):
        known.last = client.send("GET", f"{root}/{known.name}", None, JSON, JSON)["body"]


def _washed(body: Any, do: str, uid: str, managed: bool) -> Any:
    if do in ("list", "deletecollection") and isinstance(body.get("items"), list):
        metadata = {key: value for key, value in body["metadata"].items() if key not in ("resourceVersion", "continue")}
        items = [kinds.washed(each, each["metadata"].get("uid", ""), managed) for each in body["items"]]
        return {**body, "metadata": metadata, "items": items}
    if body.get("kind") == "Table":
        return _table(body)
    text = json.dumps(kinds.washed(body, uid, managed))
    return json.loads(re.sub(r"(revision=)[0-9]+", r"\1<rv>", text))


def _table(body: Object) -> Object:
    """A table without descriptions, ages and what differs from run to run in the metadata of its objects."""
    columns = [{key: value for key, value in each.items() if key != "description"} for each in body["columnDefinitions"]]
    rows = []
    for row in body["rows"]:
        cells = [
            "<age>" if column["type"] == "date" and isinstance(cell, str) and cell not in ("<invalid>", "<unknown>") else cell
            for column, cell in zip(columns, row["cells"], strict=True)
        ]
        rows.append({**row, "cells": cells, "object": compare.clean(row["object"])})
    return {"kind": "Table", "apiVersion": body["apiVersion"], "columnDefinitions": columns, "rows": rows}


def _remove(client: Client, path: str) -> None:
    for _ in range(10):
        found = client.send("GET", path, None, JSON, JSON)
        if found["code"] != 200:
            return
        metadata = found["body"]["metadata"]
        kept = [each for each in metadata.get("finalizers") or () if each == CLEANUP]
        if (metadata.get("finalizers") or []) != kept:
            client.send("PATCH", path, {"metadata": {"finalizers": kept or None}}, PATCHES["merge"], JSON)
        client.send("DELETE", path, {"propagationPolicy": "Background"}, JSON, JSON)
