"""Putting recorded cases about any kind through the request function: what replay.py does for pods.

A case names its kind and its resource; README.md beside this file says what else differs.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Answer, Remove, Request, Store
from tests.conformance import compare
from tests.conformance.recorded import edited

NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
NAMESPACE = "default"
YEARS = re.compile(r"\d+y\d+d")
"""A length of time since some day: it grows by the day."""
VERBS = {"create": "create", "replace": "update", "patch": "patch", "delete": "delete", "get": "get", "apply": "patch"}


@dataclass
class Cluster:
    """A store for one case: the objects of its kind by name, and a counter for resource versions."""

    engine: Engine
    kind: kinds.Kind
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 100

    def send(self, request: Request) -> Answer:
        answer = self.engine.answer(request, self.objects.get(request.name))
        name = request.name
        for effect in answer.effects:
            if isinstance(effect, Remove):
                del self.objects[name]
            elif isinstance(effect, Store):
                self.version += 1
                obj = effect.pod
                obj["metadata"]["resourceVersion"] = str(self.version)
                name = obj["metadata"]["name"]
                self.objects[name] = obj
        return answer


def answers(case: dict[str, Any], engine: Engine) -> Iterator[dict[str, Any]]:
    """What we answer to each step, in the form of the record."""
    resource = case["resource"]
    kind = kinds.BY_RESOURCE[".".join(filter(None, (resource["plural"], resource["group"])))]
    cluster = Cluster(engine, kind)
    name, last, uid = case.get("object", "w"), None, ""
    for number, step in enumerate(case["steps"]):
        request = _request(step, kind, last, name, uid, number, engine)
        answer = cluster.send(request)
        body = answer.body
        if request.verb == "create" and answer.code == 201:
            name = body["metadata"]["name"]
        if answer.code < 300 and body["kind"] == case["kind"]:
            last = copy.deepcopy(body)
            uid = body["metadata"].get("uid", uid)
        elif answer.code < 300 and request.subresource == "scale" and request.verb != "get":
            last = copy.deepcopy(cluster.objects[name])
        record = {"code": answer.code, "body": washed(body, uid, case.get("managed", False))}
        if answer.warnings:
            record["warnings"] = list(answer.warnings)
        yield record


def _request(step: dict[str, Any], kind: kinds.Kind, last: Any, name: str, uid: str, number: int, engine: Engine) -> Request:
    do, at = step["do"], step.get("at", name)
    name, _, subresource = at.partition("/")
    subresource = subresource or step.get("sub", "")
    body = body_of(step, last, uid)
    options = dict(step.get("query") or {})
    patch_type = step.get("type", "")
    if do == "replace" and subresource == "scale":
        body = scale(name, body)
    elif do == "apply":
        patch_type = "apply"
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        _, body = negotiation.patch("application/apply-patch+yaml", text)
        force = {"force": "true"} if step.get("force") else {}
        options = {"fieldManager": step.get("manager", "m"), **force, **options}
    elif isinstance(body, bytes) and do == "create":
        body = negotiation.read(step.get("ctype", "application/json"), body, engine)
    new_uid = f"00000000-0000-4000-8000-{number + 1:012}"
    return Request(
        VERBS[do],
        subresource if do != "create" else "",
        body,
        patch_type,
        options,
        name,
        NAMESPACE if kind.namespaced else "",
        now=NOW,
        uid=new_uid,
        suffix="abcde",
        resource=kind.resource,
        track=True,
    )


def body_of(step: dict[str, Any], last: Any, uid: str) -> Any:
    """The body of a step; ``last`` is the object that edits work on."""
    if "raw" in step:
        return step["raw"].encode()
    body = edited(last or {}, step["edit"]) if "edit" in step else copy.deepcopy(step.get("body"))
    if isinstance(body, str):
        return body.encode()
    if uid and body is not None:
        body = json.loads(json.dumps(body).replace("<uid>", uid))
    return body


def scale(name: str, body: Any) -> dict[str, Any]:
    """A Scale with its head filled in."""
    head = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "namespace": NAMESPACE}}
    return {**head, **(body or {})}


def clean_table(table: dict[str, Any]) -> dict[str, Any]:
    """A table without descriptions, ages and what differs from run to run in the metadata of its objects."""
    columns = [{key: value for key, value in each.items() if key != "description"} for each in table["columnDefinitions"]]
    aged = [i for i, each in enumerate(columns) if each["name"] == "Age"]
    rows = []
    for row in table["rows"]:
        cells = ["<age>" if i in aged or YEARS.fullmatch(str(cell)) else cell for i, cell in enumerate(row["cells"])]
        rows.append({**row, "cells": cells, "object": compare.clean(row["object"])})
    return {"kind": "Table", "apiVersion": table["apiVersion"], "columnDefinitions": columns, "rows": rows}


def washed(body: Any, uid: str, managed: bool) -> Any:
    """A body as it is recorded: without ids and times, the object's own uid and a generated name marked."""
    text = json.dumps(clean_table(body) if body.get("kind") == "Table" else compare.clean(body, managed))
    if uid:
        text = text.replace(uid, "<uid>")
    meta = body.get("metadata") if isinstance(body, dict) else None
    if isinstance(meta, dict) and meta.get("generateName") and meta.get("name", "").startswith(meta["generateName"]):
        text = text.replace(meta["name"], meta["generateName"] + "<suffix>")
    return json.loads(text)
