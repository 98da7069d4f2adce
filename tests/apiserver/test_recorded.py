"""Every recorded request, over HTTPS: what the engine answers reaches the client whole."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
import urllib.parse
from collections.abc import Iterator
from typing import Any

import pytest

from podstrat.child import Server
from tests.conformance import compare
from tests.conformance.recorded import BASES, Recording, edited, recordings

TOKEN = "recorded"
PODS = "/api/v1/namespaces/default/pods"
PATCHES = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
METHODS = {
    "create": "POST",
    "replace": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "get": "GET",
    "bind": "POST",
    "evict": "POST",
}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Client:
    """A kept-alive connection to one server."""

    def __init__(self, url: str) -> None:
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


def _path(step: dict[str, Any], name: str) -> str:
    tail = {"bind": "/binding", "evict": "/eviction"}.get(step["do"]) or (f"/{step['sub']}" if step.get("sub") else "")
    path = PODS if step["do"] == "create" else f"{PODS}/{name}{tail}"
    return f"{path}?{urllib.parse.urlencode(step['query'])}" if step.get("query") else path


def _body(step: dict[str, Any], name: str, last: Any) -> Any:
    if "raw" in step:
        return step["raw"].encode()
    if "base" in step:
        return edited(BASES[step["base"]], step.get("edit", []))
    if "edit" in step:
        return edited(last or {}, step["edit"])
    body = step.get("body")
    if isinstance(body, str):
        return body.encode()
    head = {"bind": ("v1", "Binding"), "evict": ("policy/v1", "Eviction")}.get(step["do"])
    if head is not None:
        metadata = {"name": name, "namespace": "default"}
        return {"apiVersion": head[0], "kind": head[1], "metadata": metadata, **(body or {})}
    return body


def _answers(case: dict[str, Any], client: Client) -> Iterator[dict[str, Any]]:
    name, last = case.get("name", "p"), None
    if "name" in case:
        last = client.send("GET", f"{PODS}/{name}", None, "", "application/json")["body"]
    made = {name} if "name" not in case else set()
    for step in case["steps"]:
        content_type = PATCHES[step["type"]] if step["do"] == "patch" else step.get("ctype", "application/json")
        path, body = _path(step, name), _body(step, name, last)
        answer = client.send(METHODS[step["do"]], path, body, content_type, "application/json")
        if step["do"] == "create" and answer["code"] == 201:
            name = answer["body"]["metadata"]["name"]
            made.add(name)
        if answer["code"] < 300 and answer["body"].get("kind") == "Pod":
            last = json.loads(json.dumps(answer["body"]))
        elif answer["code"] < 300:
            found = client.send("GET", f"{PODS}/{name}", None, "", "application/json")
            last = found["body"] if found["code"] == 200 else last
        yield {**answer, "body": compare.clean(answer["body"])}
    for each in made:
        _remove(client, each)


def _remove(client: Client, name: str) -> None:
    for _ in range(10):
        found = client.send("GET", f"{PODS}/{name}", None, "", "application/json")
        if found["code"] == 404:
            return
        if found["body"]["metadata"].get("finalizers"):
            client.send("PATCH", f"{PODS}/{name}", {"metadata": {"finalizers": None}}, PATCHES["merge"], "application/json")
        client.send("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0}, "application/json", "application/json")


def _files() -> list[Any]:
    """The newest release always; the others where there is time."""
    marks = {"1.37": ()}
    return [
        pytest.param(each, id=each.name, marks=marks.get(each.name, (pytest.mark.long,)))
        for each in recordings()
        if each.name != "1.37-apply-and-tables"
    ]


@pytest.mark.parametrize("recording", _files())
def test_recorded_answers_over_https(recording: Recording, tmp_path: Any) -> None:
    arguments = ["--token", TOKEN, "--kubernetes-version", recording.version]
    if recording.gates:
        arguments += ["--feature-gates", ",".join(f"{gate}={str(on).lower()}" for gate, on in recording.gates.items())]
    if recording.objects:
        objects = tmp_path / "objects.json"
        objects.write_text(json.dumps({"apiVersion": "v1", "kind": "PodList", "items": recording.objects}))
        arguments += ["--load", str(objects)]
    differing = []
    with Server(*arguments) as server, contextlib.ExitStack() as stack:
        client = Client(server.url)
        stack.callback(client.close)
        for case in recording.cases():
            got = list(_answers(case, client))
            for i, (want, given) in enumerate(zip(case["want"], got, strict=True)):
                given["body"] = compare.in_recorded_order(given["body"], want["body"])
                if why := compare.first_difference(want, given):
                    differing.append(f"{case['id']} step {i}: {why}")
                    break
    assert not differing, "\n".join(differing[:20])
