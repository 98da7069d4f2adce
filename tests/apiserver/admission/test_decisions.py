"""What the server tells of its webhooks' decisions, to those who watch."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from typing import Any

import pytest

from podstrat.apiserver.admission import decisions
from podstrat.apiserver.admission.decisions import Decision, Decisions
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import Scene

PATH = "/podstrat/webhook-decisions"


def made(name: str = "p") -> Decision:
    return Decision(0.0, "c", "w", True, "CREATE", "pods", "d", name, "u", decisions.ALLOWED, "m" * 5000, 1.0, False)


def told(scene: Scene) -> list[tuple[Any, ...]]:
    wanted = ("webhook", "mutating", "operation", "name", "decision", "message")
    return [tuple(each[name] for name in wanted) for each in scene.admission.decisions.after(0)["items"]]


def test_every_call_is_told_in_order(scene: Scene, start: Start) -> None:
    changing, judging = start(hooks.note("x")), start(hooks.deny("no such luck"))
    scene.register(hooks.mutating("m", changing.entry("m.example.com")))
    scene.register(hooks.validating("v", judging.entry("v.example.com")))
    assert scene.create(hooks.pod("a")).code == 400
    changing.behave = judging.behave = hooks.allow
    assert scene.create(hooks.pod("b")).code == 201
    assert told(scene) == [
        ("m.example.com", True, "CREATE", "a", "patched", ""),
        ("v.example.com", False, "CREATE", "a", "denied", "no such luck"),
        ("m.example.com", True, "CREATE", "b", "allowed", ""),
        ("v.example.com", False, "CREATE", "b", "allowed", ""),
    ]


@pytest.mark.parametrize("policy, code, decision", [("Ignore", 201, "failed open"), ("Fail", 500, "failed")])
def test_a_webhook_that_cannot_be_used(scene: Scene, start: Start, policy: str, code: int, decision: str) -> None:
    webhook = start()
    webhook.raw = 200, "application/json", b"[]"
    scene.register(hooks.mutating("m", webhook.entry(failurePolicy=policy)))
    assert scene.create(hooks.pod("a")).code == code
    (found,) = told(scene)
    assert found[4] == decision
    assert found[5].startswith("failed to call webhook: ")


def test_a_reader_gets_what_comes_after_its_number() -> None:
    log = Decisions()
    for name in "abc":
        log.add(made(name))
    assert [each["name"] for each in log.after(1)["items"]] == ["b", "c"]
    assert log.after(3) == {"last": 3, "items": []}
    assert len(log.after(99)["items"]) == 3
    assert len(log.after(0)["items"][0]["message"]) == decisions.LONGEST_MESSAGE


def test_only_the_latest_are_kept() -> None:
    log = Decisions()
    for number in range(decisions.KEPT + 10):
        log.add(made(str(number)))
    found = log.after(0)
    assert (len(found["items"]), found["items"][0]["name"], found["last"]) == (decisions.KEPT, "10", decisions.KEPT + 10)
    assert [each["name"] for each in log.after(found["last"] - 1)["items"]] == [str(decisions.KEPT + 9)]


def test_a_reader_waits_until_there_is_something_or_the_server_stops() -> None:
    log, found = Decisions(), []
    reader = threading.Thread(target=lambda: found.append(log.after(0, 60)))
    reader.start()
    log.add(made())
    reader.join(60)
    log.hang_up()
    found.append(log.after(1, 60))
    assert [len(each["items"]) for each in found] == [1, 0]


def test_over_http(start: Start) -> None:
    webhook = start()
    with Server() as server, Client(server.kubeconfig) as client:
        configuration = hooks.mutating("m", webhook.entry())
        client.call("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", configuration)
        client.call("POST", "/api/v1/namespaces/default/pods", hooks.pod("a"))
        answer = client.call("GET", f"{PATH}?after=0&timeoutSeconds=1")
        assert [(each["resource"], each["name"], each["user"]) for each in answer["items"]] == [("pods", "a", "kubernetes-admin")]
        assert client.call("GET", f"{PATH}?after={answer['last']}&timeoutSeconds=x")["items"] == []


def test_they_are_for_those_who_may_list_events() -> None:
    with Server(
        "--http", "--token", "a,admin,system:masters", "--token", "b,guest,people", "--authorization-mode", "RBAC"
    ) as server:

        def code(**headers: str) -> int:
            try:
                with urllib.request.urlopen(urllib.request.Request(f"{server.url}{PATH}", headers=headers)) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as refused:
                refused.close()
                return refused.code

        assert [code(Authorization="Bearer a"), code(Authorization="Bearer b"), code()] == [200, 403, 401]
