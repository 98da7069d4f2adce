"""Recorded requests about other kinds than pods, over HTTPS: a sample always, all of them where there is time."""

from __future__ import annotations

import json
import operator
import urllib.parse
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from podstrat.strategy.kinds import BY_RESOURCE
from podstrat.testing.server import Server
from tests.apiserver.test_recorded import TOKEN, Client
from tests.conformance import compare, kinds
from tests.conformance.one_second import in_one_second
from tests.conformance.recorded import PATCHES, TABLE, Recording, kind_recordings

METHODS = {
    "create": "POST",
    "replace": "PUT",
    "patch": "PATCH",
    "apply": "PATCH",
    "delete": "DELETE",
    "get": "GET",
    "table": "GET",
}
NEWEST = "1.37"
SAMPLED = 12
"""Every twelfth case is sent where time is short."""


def _root(case: dict[str, Any]) -> str:
    resource = case["resource"]
    base = f"/apis/{resource['group']}/{resource['version']}" if resource["group"] else f"/api/{resource['version']}"
    return f"{base}/namespaces/default/{resource['plural']}" if resource["namespaced"] else f"{base}/{resource['plural']}"


def _answers(case: dict[str, Any], client: Client) -> Iterator[dict[str, Any]]:
    root = _root(case)
    name, last, uid = case.get("object", "w"), None, ""
    made = {name}
    for step in case["steps"]:
        do = step["do"]
        path, query = f"{root}/{step.get('at', name)}", dict(step.get("query") or {})
        if do == "create":
            path = root
        elif step.get("sub"):
            path += f"/{step['sub']}"
        body = kinds.body_of(step, last, uid)
        if do == "replace" and step.get("sub") == "scale":
            body = kinds.scale(name, body)
        if do == "apply":
            query = {"fieldManager": step.get("manager", "m"), **({"force": "true"} if step.get("force") else {}), **query}
        path += f"?{urllib.parse.urlencode(query)}" if query else ""
        form = {"patch": PATCHES.get(step.get("type", "")), "apply": PATCHES["apply"]}.get(do)
        accept = TABLE if do == "table" else "application/json"
        answer = client.send(METHODS[do], path, body, form or step.get("ctype", "application/json"), accept)
        got = answer["body"]
        if do == "create" and answer["code"] == 201:
            name = got["metadata"]["name"]
            made.add(name)
        if answer["code"] < 300 and got.get("kind") == case["kind"]:
            last = json.loads(json.dumps(got))
            uid = got["metadata"].get("uid", uid)
        elif answer["code"] < 300 and step.get("sub") == "scale" and do != "get":
            last = client.send("GET", f"{root}/{name}", None, "", "application/json")["body"]
        yield {**answer, "body": kinds.washed(got, uid, case.get("managed", False))}
    for each in made:
        _remove(client, f"{root}/{each}")


def _remove(client: Client, path: str) -> None:
    for _ in range(10):
        found = client.send("GET", path, None, "", "application/json")
        if found["code"] == 404:
            return
        if (found["body"].get("spec") or {}).get("finalizers"):
            client.send("PUT", f"{path}/finalize", {**found["body"], "spec": {}}, "application/json", "application/json")
        if found["body"]["metadata"].get("finalizers"):
            client.send("PATCH", path, {"metadata": {"finalizers": None}}, PATCHES["merge"], "application/json")
        client.send("DELETE", path, {"propagationPolicy": "Background"}, "application/json", "application/json")


def _files() -> list[Any]:
    """A sample of the newest release always; whole files where there is time."""
    found = []
    for each in kind_recordings():
        if each.version == NEWEST and not each.gates:
            found.append(pytest.param(each, SAMPLED, id=f"{each.name}-sampled"))
        found.append(pytest.param(each, 1, id=each.name, marks=pytest.mark.long))
    return found


def _difference(case: dict[str, Any], client: Client) -> str:
    """The first difference from what was recorded; empty if there is none."""
    for i, (want, given) in enumerate(zip(case["want"], list(_answers(case, client)), strict=True)):
        if want["body"].get("kind") == "Table":
            want["body"] = kinds.clean_table(want["body"])
        given["body"] = compare.in_recorded_order(given["body"], want["body"])
        if why := compare.first_difference(want, given):
            return f"{case['id']} step {i}: {why}"
    return ""


@pytest.mark.parametrize("recording, every", _files())
def test_recorded_answers_over_https(recording: Recording, every: int) -> None:
    # The recorded servers ran without a controller manager.
    arguments = ["--token", TOKEN, "--kubernetes-version", recording.version, "--controllers="]
    if recording.gates:
        arguments += ["--feature-gates", ",".join(f"{gate}={str(on).lower()}" for gate, on in recording.gates.items())]
    differing, sent = [], 0
    with Server(*arguments) as server:
        client = Client(server.url, recording.namespace)
        for case in list(recording.cases())[::every]:
            resource = case["resource"]
            if ".".join(filter(None, (resource["plural"], resource["group"]))) not in BY_RESOURCE:
                continue
            sent += 1
            if fault := in_one_second(case, partial(_difference, case, client), operator.not_):
                differing.append(fault)
        client.close()
    assert not differing, "\n".join([f"{len(differing)} of {sent}", *differing[:20]])
    assert sent, "nothing was sent"
