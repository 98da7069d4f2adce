"""Certificates are rotated while reviews come in without a pause, and nobody notices.

Two replicas share a Secret in an API server (the embedded one); eight callers, four on connections that they keep and four with a
new connection for every call, trust nothing but the bundle that is published at that moment.
"""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from podstrat.certs import inspect
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.strategy import make
from tests.webhook.child import Caller, Load, Replica, trusting, until
from tests.webhook.reviews import review

BODY = json.dumps(review(make.pod())).encode()
NAME = "podstrat-webhook.podstrat-system.svc"
SECRET = "/api/v1/namespaces/podstrat-system/secrets/podstrat-webhook-tls"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
SETTLE, OVERLAP = 1.0, 2.0


class Scene:
    """An API server with both configurations, and replicas that share a Secret in it."""

    def __init__(self, server: Server, folder: Path, replicas: int, **settings: Any) -> None:
        self.server = server
        self._published = b""
        self._clients = threading.local()
        self._every: list[Client] = []
        chosen = {
            "certificates": "secret",
            "kubeconfig": server.kubeconfig,
            "keeper_seconds": 0.2,
            "lease_seconds": 2,
            "settle_seconds": SETTLE,
            "overlap_seconds": OVERLAP,
        } | settings
        self.replicas = [
            Replica(folder / name, cert_dir=folder / name / "tls", identity=name, **chosen) for name in "abc"[:replicas]
        ]

    def install(self) -> None:
        self.send(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "podstrat-system"}}
        )
        for kind in ("Mutating", "Validating"):
            hook = {
                "name": "pods.podstrat.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                "clientConfig": {"service": {"name": "podstrat-webhook", "namespace": "podstrat-system"}},
                "rules": [
                    {"apiGroups": ["none.podstrat.dev"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}
                ],
            }
            made = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration"}
            made |= {"metadata": {"name": "podstrat-webhook"}, "webhooks": [hook]}
            self.send("POST", f"{CONFIGURATIONS}/{kind.lower()}webhookconfigurations", made)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        if not hasattr(self._clients, "own"):
            self._clients.own = Client(self.server.kubeconfig)
            self._every.append(self._clients.own)
        code, answer = self._clients.own.send(method, path, body)
        assert code < 300, answer
        return answer

    def close(self) -> None:
        for client in self._every:
            client.close()

    def published(self) -> bytes:
        """What clients of the validating webhook are told to trust."""
        for hook in self.entries():
            self._published = base64.b64decode(hook["clientConfig"].get("caBundle", ""))
        return self._published

    def entries(self) -> list[Any]:
        """The entries of the validating configuration."""
        found = self.send("GET", f"{CONFIGURATIONS}/validatingwebhookconfigurations/podstrat-webhook")
        return found.get("webhooks") or []

    def trust(self) -> ssl.SSLContext:
        return trusting(self.published())

    def secret(self) -> dict[str, bytes]:
        return {name: base64.b64decode(text) for name, text in self.send("GET", SECRET)["data"].items()}

    def rotate(self, *flags: str) -> None:
        command = [sys.executable, "-m", "podstrat", "certs", "rotate", "--secret", "podstrat-system/podstrat-webhook-tls"]
        # Another writer may be faster: whoever asks by hand asks again.
        until(
            lambda: subprocess.run([*command, "--kubeconfig", str(self.server.kubeconfig), *flags], check=False).returncode == 0
        )

    def caller(self, replica: Replica, keep: bool) -> Caller:
        return Caller(("127.0.0.1", replica.port), self.trust, NAME, keep)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def scene(server: Server, tmp_path: Path) -> Iterator[Scene]:
    with playing(Scene(server, tmp_path, 2)) as scene:
        yield scene


@contextmanager
def playing(scene: Scene) -> Iterator[Scene]:
    """The scene on a server without objects, with all replicas ready."""
    scene.send("POST", "/podstrat/reset")
    scene.install()
    with ExitStack() as stack:
        stack.callback(scene.close)
        for replica in scene.replicas:
            stack.enter_context(replica)
        for replica in scene.replicas:
            until(replica.is_ready)
        yield scene


def drill(scene: Scene, seconds: float) -> tuple[Load, set[str], set[bytes]]:
    """Leaf and authority are rotated again and again for so long; what was published is watched."""
    callers = [scene.caller(replica, keep) for replica in scene.replicas for keep in (True, True, False, False)]
    leaves: set[str] = set()
    bundles: set[bytes] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            found = scene.send("GET", f"{CONFIGURATIONS}/mutatingwebhookconfigurations/podstrat-webhook")
            bundles.add(base64.b64decode(found["webhooks"][0]["clientConfig"]["caBundle"]))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with Load(callers, "/mutate", BODY) as load:
            end = time.monotonic() + seconds
            while True:
                load.progress()
                scene.rotate()
                leaves.add(inspect.facts(scene.secret()["tls.crt"]).fingerprint)
                before = scene.secret()["authority.crt"]
                scene.rotate("--authority")
                until(lambda before=before: scene.secret()["authority.crt"] != before)
                until(lambda: scene.secret()["ca.crt"] == scene.secret()["authority.crt"])
                until(lambda: scene.published() == scene.secret()["ca.crt"])
                leaves.add(inspect.facts(scene.secret()["tls.crt"]).fingerprint)
                load.progress()
                if time.monotonic() > end:
                    break
    finally:
        over.set()
        watcher.join()
    return load, leaves, bundles


def check(scene: Scene, load: Load, leaves: set[str], bundles: set[bytes]) -> None:
    assert load.failures == []
    assert len(leaves) >= 2
    counts = {bundle.count(b"BEGIN CERTIFICATE") for bundle in bundles}
    assert counts == {1, 2}, "old and new together, and then the new one alone"
    steps = [replica.plain("/metrics")[1] for replica in scene.replicas]
    for step in ("note", "switch", "retire"):
        assert any(f'certificate_rotations_total{{step="{step}"}}' in text for text in steps)
    assert sum(replica.metric("certificate_leader") for replica in scene.replicas) == 1
    for replica in scene.replicas:
        assert replica.metric("certificate_published") == 1
        assert "Traceback" not in replica.log.read_text()


def test_rotation_under_load(scene: Scene) -> None:
    check(scene, *drill(scene, 0))


@pytest.mark.long
def test_rotation_under_load_for_half_a_minute(scene: Scene) -> None:
    load, leaves, bundles = drill(scene, 30)
    check(scene, load, leaves, bundles)
    assert len(leaves) > 4


def test_a_leader_that_dies_is_succeeded(scene: Scene) -> None:
    """Whoever leads is killed in the middle of a rotation; the other one brings it to its end."""
    until(lambda: sum(replica.metric("certificate_leader") for replica in scene.replicas) == 1)
    (leader,) = [replica for replica in scene.replicas if replica.metric("certificate_leader")]
    (other,) = [replica for replica in scene.replicas if replica is not leader]
    with Load([scene.caller(other, keep) for keep in (True, False)], "/validate", BODY) as load:
        before = scene.secret()["authority.crt"]
        scene.rotate("--authority")
        leader.kill(9)
        until(lambda: scene.secret()["authority.crt"] != before)
        until(lambda: scene.published() == scene.secret()["authority.crt"])
        load.progress()
    assert load.failures == []
    assert other.metric("certificate_leader") == 1


def test_two_who_begin_at_the_same_time_have_one_authority(server: Server, tmp_path: Path) -> None:
    for number in range(2):
        scene = Scene(server, tmp_path / str(number), 3, workers=2)
        scene.send("POST", "/podstrat/reset")
        scene.install()
        with ExitStack() as stack:
            stack.callback(scene.close)
            starting = [threading.Thread(target=stack.enter_context, args=(replica,)) for replica in scene.replicas]
            for thread in starting:
                thread.start()
            for thread in starting:
                thread.join()
            for replica in scene.replicas:
                until(replica.is_ready)
            assert scene.published() == scene.secret()["ca.crt"]
            assert scene.published().count(b"BEGIN CERTIFICATE") == 1
            served = {scene.caller(replica, False) for replica in scene.replicas}
            shown = {caller.served() for caller in served}
            for caller in served:
                caller.close()
            assert len(shown) == 1


def test_the_server_does_not_answer_for_a_while(scene: Scene) -> None:
    """Reviews need no API server."""
    trust = scene.trust()
    callers = [Caller(("127.0.0.1", replica.port), lambda: trust, NAME, keep=False) for replica in scene.replicas]
    assert scene.server.process is not None
    scene.server.process.send_signal(19)  # SIGSTOP
    try:
        for caller in callers:
            assert caller.call("/mutate", BODY)[0] == 200
        for replica in scene.replicas:
            assert replica.is_ready()
    finally:
        scene.server.process.send_signal(18)  # SIGCONT


# ---- what somebody breaks under load -------------------------------------------------------------


@pytest.fixture
def managed(server: Server, tmp_path: Path) -> Iterator[Scene]:
    """The same, where the replicas keep the entries of the configurations as well."""
    with playing(Scene(server, tmp_path, 2, registration="manage")) as scene:
        until(lambda: [hook["name"] for hook in scene.entries()] == ["validate.podstrat.dev"])
        yield scene


def failed_after(load: Load, broken: Callable[[], None], repaired: Callable[[], bool]) -> tuple[int, int]:
    """How many calls failed before the repair was seen, and how many after it."""
    load.progress()
    assert load.failures == []
    broken()
    until(repaired)
    before = len(load.failures)
    load.progress(20)
    return before, len(load.failures) - before


def all_ready(scene: Scene) -> bool:
    return all(replica.is_ready() for replica in scene.replicas)


def test_a_secret_that_is_deleted_is_repaired_under_load(managed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """No call fails, and no replica leaves its Service: old and new authority are trusted together until all have changed."""
    callers = [managed.caller(replica, keep) for replica in managed.replicas for keep in (True, True, False, False)]
    authority, over, unready = managed.secret()["ca.crt"], threading.Event(), []

    def watch() -> None:
        while not over.wait(0.05):
            if not all_ready(managed):
                unready.append(time.monotonic())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with Load(callers, "/mutate", BODY) as load:
            failed = failed_after(
                load,
                lambda: managed.send("DELETE", SECRET),
                lambda: authority not in managed.published() and managed.published() == managed.secret()["ca.crt"],
            )
    finally:
        over.set()
        watcher.join()
    with capsys.disabled():
        counted = f"{failed[0]} failed before the repair, {failed[1]} after"
        print(f"\nSecret deleted under load: {sum(load.good)} reviews, {counted}")
    assert load.failures == []
    assert unready == []


def test_a_configuration_that_is_emptied_is_repaired_under_load(managed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    callers = [managed.caller(replica, keep) for replica in managed.replicas for keep in (True, False)]
    path = f"{CONFIGURATIONS}/validatingwebhookconfigurations/podstrat-webhook"
    before = managed.entries()
    with Load(callers, "/mutate", BODY) as load:
        found = managed.send("GET", path)
        failed = failed_after(
            load, lambda: managed.send("PUT", path, {**found, "webhooks": []}), lambda: managed.entries() == before
        )
    with capsys.disabled():
        counted = f"{failed[0]} failed before the repair, {failed[1]} after"
        print(f"\nconfiguration emptied under load: {sum(load.good)} reviews, {counted}")
    assert load.failures == []
    assert all_ready(managed)
