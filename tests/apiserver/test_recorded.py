"""Every recorded request, over HTTPS: what the engine answers reaches the client whole."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import operator
import re
import ssl
import urllib.parse
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from podstrat.testing.server import Server
from tests.conformance import compare
from tests.conformance.one_second import in_one_second
from tests.conformance.recorded import BASES, PATCHES, TABLE, Recording, edited, localised, recalled, recordings

TOKEN = "recorded"
METHODS = {
    "create": "POST",
    "replace": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "get": "GET",
    "bind": "POST",
    "evict": "POST",
    "apply": "PATCH",
    "table": "GET",
}


class Client:
    """A kept-alive connection to one server, and the namespace that its requests are about."""

    def __init__(self, url: str, namespace: str) -> None:
        self.namespace = namespace
        self.pods = f"/api/v1/namespaces/{namespace}/pods"
        address = urllib.parse.urlsplit(url)
        context = ssl._create_unverified_context()
        self._connection = http.client.HTTPSConnection(address.hostname or "", address.port, context=context, timeout=60)

    def close(self) -> None:
        self._connection.close()

    def send(self, method: str, path: str, body: Any, content_type: str, accept: str) -> dict[str, Any]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type, "Accept": accept, "Authorization": f"Bearer {TOKEN}"}
        self._connection.request(method, path, data, headers)
        response = self._connection.getresponse()
        text = response.read()
        told = [value for key, value in response.getheaders() if key.lower() == "warning"]
        answer = {"code": response.status, "body": json.loads(text)}
        if told:
            answer["warnings"] = [re.sub(r'^299 \S+ "(.*)"$', r"\1", each).replace('\\"', '"') for each in told]
        return answer


def _path(step: dict[str, Any], name: str, pods: str) -> str:
    tail = {"bind": "/binding", "evict": "/eviction"}.get(step["do"]) or (f"/{step['sub']}" if step.get("sub") else "")
    path = pods if step["do"] == "create" else f"{pods}/{name}{tail}"
    query = dict(step.get("query") or {})
    if step["do"] == "apply":
        query = {"fieldManager": step["manager"], **({"force": "true"} if step.get("force") else {}), **query}
    return f"{path}?{urllib.parse.urlencode(query)}" if query else path


def _body(step: dict[str, Any], name: str, last: Any, namespace: str) -> Any:
    if "raw" in step:
        return localised(step["raw"].encode(), namespace)
    if "base" in step:
        return localised(edited(BASES[step["base"]], step.get("edit", [])), namespace)
    if "edit" in step:
        return edited(last or {}, step["edit"])
    body = step.get("body")
    if isinstance(body, str):
        return body.encode()
    head = {"bind": ("v1", "Binding"), "evict": ("policy/v1", "Eviction")}.get(step["do"])
    if head is not None:
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": head[0], "kind": head[1], "metadata": metadata, **(localised(body, namespace) or {})}
    return localised(body, namespace)


def _answers(case: dict[str, Any], client: Client) -> Iterator[dict[str, Any]]:
    name, last = case.get("name", "p"), None
    if "name" in case:
        last = client.send("GET", f"{client.pods}/{name}", None, "", "application/json")["body"]
    made = {name} if "name" not in case else set()
    for step in case["steps"]:
        kind = step["type"] if step["do"] == "patch" else step["do"]
        content_type = PATCHES.get(kind) or step.get("ctype", "application/json")
        path, body = _path(step, name, client.pods), _body(step, name, last, client.namespace)
        accept = TABLE if step["do"] == "table" else "application/json"
        answer = client.send(METHODS[step["do"]], path, body, content_type, accept)
        if step["do"] == "create" and answer["code"] == 201:
            name = answer["body"]["metadata"]["name"]
            made.add(name)
        if answer["code"] < 300 and answer["body"].get("kind") == "Pod":
            last = json.loads(json.dumps(answer["body"]))
        elif answer["code"] < 300:
            found = client.send("GET", f"{client.pods}/{name}", None, "", "application/json")
            last = found["body"] if found["code"] == 200 else last
        yield recalled({**answer, "body": compare.clean(answer["body"], case.get("managed", False))}, client.namespace)
    for each in made:
        _remove(client, each)


def _remove(client: Client, name: str) -> None:
    for _ in range(10):
        found = client.send("GET", f"{client.pods}/{name}", None, "", "application/json")
        if found["code"] == 404:
            return
        if found["body"]["metadata"].get("finalizers"):
            body = {"metadata": {"finalizers": None}}
            client.send("PATCH", f"{client.pods}/{name}", body, PATCHES["merge"], "application/json")
        client.send("DELETE", f"{client.pods}/{name}", {"gracePeriodSeconds": 0}, "application/json", "application/json")


def _difference(case: dict[str, Any], client: Client) -> str:
    """The first difference from what was recorded; empty if there is none."""
    for i, (want, given) in enumerate(zip(case["want"], list(_answers(case, client)), strict=True)):
        given["body"] = compare.in_recorded_order(given["body"], want["body"])
        if why := compare.first_difference(want, given) or compare.first_other_order(want["body"], given["body"]):
            return f"{case['id']} step {i}: {why}"
    return ""


SAMPLED = {"fuzz-agree-1.37": 8}
"""Files of which every so manieth case is replayed always, and all where there is time."""
ALWAYS = ("1.37", "fuzz-1.37", "fuzz-1.37-all-alpha", "fuzz-1.37-beta-off")


def _files() -> Iterator[Any]:
    """The newest release always; the others where there is time."""
    for each in recordings():
        # Tables of other pods have a test of their own, and so have the other kinds.
        if each.name == "1.37-apply-and-tables" or each.name.startswith(("workloads", "kinds")):
            continue
        if each.name in SAMPLED:
            yield pytest.param(each, SAMPLED[each.name], id=f"{each.name}-sampled")
        yield pytest.param(each, 1, id=each.name, marks=() if each.name in ALWAYS else (pytest.mark.long,))


@pytest.mark.parametrize("recording, every", list(_files()))
def test_recorded_answers_over_https(recording: Recording, every: int, tmp_path: Any) -> None:
    arguments = ["--token", TOKEN, "--kubernetes-version", recording.version]
    if recording.gates:
        arguments += ["--feature-gates", ",".join(f"{gate}={str(on).lower()}" for gate, on in recording.gates.items())]
    if recording.objects:
        objects = tmp_path / "objects.json"
        objects.write_text(json.dumps({"apiVersion": "v1", "kind": "PodList", "items": recording.objects}))
        arguments += ["--load", str(objects)]
    differing = []
    with Server(*arguments) as server, contextlib.ExitStack() as stack:
        client = Client(server.url, recording.namespace)
        stack.callback(client.close)
        if client.namespace != "default":
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": client.namespace}}
            assert client.send("POST", "/api/v1/namespaces", body, "application/json", "application/json")["code"] == 201
        for case in itertools.islice(recording.cases(), 0, None, every):
            if fault := in_one_second(case, partial(_difference, case, client), operator.not_):
                differing.append(fault)
    assert not differing, "\n".join(differing[:20])
