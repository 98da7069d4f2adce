"""How webhooks are reached: connections that are kept, services by a table, and nobody else held up."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.admission import tls
from podstrat.testing.server import Server
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import Scene


def test_a_connection_is_used_again(scene: Scene, start: Start) -> None:
    webhook = start()
    scene.register(hooks.mutating("m", webhook.entry()))
    for number in range(20):
        assert scene.create(hooks.pod(f"p{number}")).code == 201
    assert (len(webhook.requests), webhook.connections) == (20, 1)


def test_a_connection_that_was_given_up_is_made_again(scene: Scene, start: Start) -> None:
    webhook = start()
    scene.register(hooks.mutating("m", webhook.entry()))
    assert scene.create(hooks.pod("a")).code == 201
    # The other side ends it while nobody looks.
    for waiting in scene.admission.caller._idle.values():
        for connection in waiting:
            socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)
    assert scene.create(hooks.pod("b")).code == 201
    assert webhook.connections == 2


def test_a_connection_is_not_kept_forever(scene: Scene, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    from podstrat.apiserver.admission import calling

    webhook = start()
    scene.register(hooks.mutating("m", webhook.entry()))
    monkeypatch.setattr(calling, "IDLE_SECONDS", 0.0)
    for name in "ab":
        assert scene.create(hooks.pod(name)).code == 201
    assert webhook.connections == 2


def test_a_new_version_of_a_configuration_counts_at_once(scene: Scene, start: Start) -> None:
    one, two = start(), start()
    scene.register(hooks.mutating("m", one.entry()))
    scene.create(hooks.pod("a"))
    kind = scene.admission.configurations._store.kinds
    [mutating] = [each for each in kind if each.kind == "MutatingWebhookConfiguration"]
    assert scene.send("PUT", mutating, "m", body=hooks.mutating("m", two.entry())).code == 200
    scene.create(hooks.pod("b"))
    assert scene.send("DELETE", mutating, "m").code == 200
    scene.create(hooks.pod("c"))
    assert (len(one.requests), len(two.requests)) == (1, 1)


def test_a_service_is_found_by_the_table(tmp_path: Path) -> None:
    with hooks.running(tls(tmp_path, "web.hooks.svc")) as webhook:
        entry = webhook.entry()
        service = {"name": "web", "namespace": "hooks", "path": "/mutate", "port": 8443}
        entry["clientConfig"] = {"service": service, "caBundle": webhook.bundle}
        with Scene(resolve={"web.hooks.svc": ("127.0.0.1", webhook.port)}) as scene:
            scene.register(hooks.mutating("m", entry))
            assert scene.create(hooks.pod()).code == 201
        assert webhook.paths == ["/mutate?timeout=10s"]


def test_webhooks_that_judge_are_asked_all_at_once(scene: Scene, start: Start) -> None:
    meeting = threading.Barrier(3, timeout=29)

    def wait(request: dict[str, Any]) -> dict[str, Any]:
        meeting.wait()
        return hooks.allow(request)

    judges = [start(wait) for _ in range(3)]
    scene.register(hooks.validating("v", *(judge.entry(f"j{number}", timeoutSeconds=30) for number, judge in enumerate(judges))))
    assert scene.create(hooks.pod()).code == 201
    assert [len(judge.requests) for judge in judges] == [1, 1, 1]


def test_what_changed_meanwhile_is_asked_about_again(scene: Scene, start: Start) -> None:
    """The write is computed from what is stored; another writer is faster while the webhook thinks."""
    scene.create(hooks.pod())
    webhook = start(hooks.note("seen"))
    first = threading.Event()

    def interrupted(request: dict[str, Any]) -> dict[str, Any]:
        if not first.is_set():
            first.set()
            assert scene.merge("web", {"metadata": {"labels": {"other": "writer"}}}).code == 200
        return hooks.once("seen")(request)

    webhook.behave = interrupted
    scene.register(hooks.mutating("m", webhook.entry(objectSelector={"matchLabels": {"slow": "yes"}})))
    changed = scene.merge("web", {"metadata": {"labels": {"slow": "yes"}}})
    assert changed.code == 200
    assert changed.body is not None
    assert changed.body["metadata"]["labels"] == {"other": "writer", "slow": "yes"}
    assert len(webhook.requests) == 2


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with (
        hooks.running(tls(tmp_path, "slow.hooks.svc")) as webhook,
        Server("--resolve", f"slow.hooks.svc=127.0.0.1:{webhook.port}") as running,
    ):
        yield running, webhook


def test_a_webhook_that_hangs_delays_nobody_else(server: Any) -> None:
    """Over HTTPS: a pod waits for its webhook, and meanwhile everybody else is served as ever."""
    running, webhook = server
    asked, go_on = threading.Event(), threading.Event()

    def hang(request: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        go_on.wait(25)
        return hooks.allow(request)

    webhook.behave = hang
    entry = webhook.entry(objectSelector={"matchLabels": {"slow": "yes"}}, timeoutSeconds=30)
    entry["clientConfig"] = {"service": {"name": "slow", "namespace": "hooks"}, "caBundle": webhook.bundle}
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    pods = "/api/v1/namespaces/default/pods"
    with Client(running.kubeconfig) as client, Client(running.kubeconfig) as other:
        assert client.send("POST", path, hooks.mutating("m", entry))[0] == 201
        answers: list[int] = []
        slow = hooks.pod("slow", labels={"slow": "yes"})
        thread = threading.Thread(target=lambda: answers.append(client.send("POST", pods, slow)[0]))
        thread.start()
        assert asked.wait(20)
        for number in range(20):
            for method, where, body in (
                ("POST", pods, hooks.pod(f"p{number}")),
                ("GET", f"{pods}/p{number}", None),
                ("DELETE", f"{pods}/p{number}", None),
            ):
                assert other.send(method, where, body)[0] in (200, 201)
        assert answers == []
        go_on.set()
        thread.join(10)
        assert answers == [201]
