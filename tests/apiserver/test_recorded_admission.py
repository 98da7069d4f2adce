"""Recorded requests to default servers, over HTTPS: a sample always, all of them where there is time."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import urllib.parse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.testing.server import Server
from tests.conformance import admission, worlds
from tests.conformance.admission import Sent
from tests.conformance.worlds import World

Object = dict[str, Any]

TOKEN = "recorded"
NEWEST = "admission-1.37"
POLICIES = "admission-policies-1.37"
SAMPLED = 12
"""Every twelfth case is sent where time is short."""


class Client:
    """A kept-alive connection of an administrator, who may act as somebody else."""

    def __init__(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        context = ssl._create_unverified_context()
        self._connection = http.client.HTTPSConnection(address.hostname or "", address.port, context=context, timeout=60)
        self.made: list[str] = []
        """The objects that were created, in order."""

    def close(self) -> None:
        self._connection.close()

    def send(self, sent: Sent) -> tuple[int, Object, list[str]]:
        data = sent.body if isinstance(sent.body, bytes) else b"" if sent.body is None else json.dumps(sent.body).encode()
        connection = self._connection
        connection.putrequest(sent.method, sent.path)
        headers = {"Content-Type": sent.content_type, "Accept": sent.accept, "User-Agent": "admission"}
        headers["Authorization"] = f"Bearer {TOKEN}"
        if sent.user is not None:
            headers["Impersonate-User"] = sent.user["user"]
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            connection.putheader(name, value)
        for group in (sent.user or {}).get("groups", ()):
            connection.putheader("Impersonate-Group", group)
        connection.endheaders(data)
        response = connection.getresponse()
        body = json.loads(response.read())
        told = [value for key, value in response.getheaders() if key.lower() == "warning"]
        path = sent.path.partition("?")[0]
        if sent.method == "POST" and response.status == 201 and (body.get("metadata") or {}).get("name"):
            self.made.append(f"{path}/{body['metadata']['name']}")
        elif sent.method == "PATCH" and response.status == 201:
            self.made.append(path)
        return response.status, body, [re.sub(r'^299 \S+ "(.*)"$', r"\1", each).replace('\\"', '"') for each in told]

    def remove(self) -> None:
        """Removes what was created since the last time."""
        for path in reversed(self.made):
            code, body, _ = self.send(Sent("DELETE", path, {"gracePeriodSeconds": 0}))
            if code == 200 and (body.get("metadata") or {}).get("finalizers"):
                cleared = {"metadata": {"finalizers": None}}
                self.send(Sent("PATCH", path, cleared, "application/merge-patch+json"))
        self.made = []


def _answers(case: Object, client: Client, world: World) -> admission.Verdict:
    """Plays a case. A world that cases change is made anew for each, as far as the case needs it."""
    if world.fresh:
        client.send(Sent("POST", "/podstrat/reset"))
        admission.make(_around(world, case.get("namespace", "default")), client.send)
    client.made = []
    try:
        return admission.verdict(case, client.send)
    finally:
        client.remove()


def _around(world: World, namespace: str) -> World:
    """The part of a world that a case in this namespace can see."""
    kept = [each for each in world.objects if _is_near(each, namespace)]
    return world._replace(objects=kept)


def _is_near(obj: Object, namespace: str) -> bool:
    plural, namespaced = worlds.KINDS[obj["kind"]]
    if namespaced:
        return bool(obj["metadata"].get("namespace", "default") == namespace)
    return plural != "namespaces" or bool(obj["metadata"]["name"] == namespace)


def _verdicts(client: Client, name: str, server: str, step: int) -> Iterator[admission.Verdict]:
    every, _ = worlds.load()
    file = next(path for path in admission.files() if path.name.startswith(name))
    by_world: dict[str, list[Object]] = defaultdict(list)
    for number, case in enumerate(admission.cases(file)):
        if every[case["world"]].server == server and number % step == 0:
            by_world[case["world"]].append(case)
    for world, cases in by_world.items():
        client.send(Sent("POST", "/podstrat/reset"))
        if not every[world].fresh:
            admission.make(every[world], client.send)
        for case in cases:
            yield _answers(case, client, every[world])


@pytest.mark.parametrize(
    "name, server, step",
    [
        pytest.param(NEWEST, "default", SAMPLED, id="default-sample"),
        pytest.param(NEWEST, "default", 1, id="default-all", marks=pytest.mark.long),
        *(pytest.param(NEWEST, name, 1, id=name) for name in ("extras", "selectors", "nodes", "rbac", "configured")),
        pytest.param(POLICIES, "default", 1, id="policies"),
    ],
)
def test_recorded_admission_over_https(name: str, server: str, step: int, tmp_path: Path) -> None:
    flags = worlds.arguments(worlds.load()[1][server], tmp_path)
    with Server(*flags, "--controllers=", "--token", f"{TOKEN},admin,system:masters", admission=True) as running:
        client = Client(running.url)
        try:
            found = list(_verdicts(client, name, server, step))
        finally:
            client.close()
    assert found
    assert [f"{each.id}: {each.why}" for each in found if not each.whole] == []
