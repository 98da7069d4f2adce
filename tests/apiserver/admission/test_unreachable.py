"""Webhooks that cannot be called: address, certificate, time limit. In the server's words, and as failurePolicy decides."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from podstrat.certs import files
from podstrat.certs.issuing import Authority
from podstrat.testing.admission import Tls
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.failures import FAILED, INTERNAL, NAME, post
from tests.apiserver.admission.hooks import Webhook
from tests.apiserver.admission.scene import Scene, said

Setting = Callable[[Webhook], dict[str, Any]]


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_webhook_that_is_not_there(kind: str, policy: str, scene: Scene, start: Start) -> None:
    port = closed_port()
    entry = start().entry(failurePolicy=policy)
    entry["clientConfig"]["url"] = f"https://127.0.0.1:{port}/review"
    scene.register(hooks.configuration(kind, "c", entry))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
        word = "mutation" if kind == "Mutating" else "validating"
        assert reply.annotations[f"failed-open.{word}.webhook.admission.k8s.io/round_0_index_0"] == NAME
        return
    cause = f'failed to call webhook: Post "https://127.0.0.1:{port}/review?timeout=10s": '
    assert said(reply) == f"{FAILED}{cause}dial tcp 127.0.0.1:{port}: connect: connection refused"
    assert reply.body is not None
    assert (reply.code, reply.body["reason"]) == (500, "InternalError")
    assert reply.body["details"] == {"causes": [{"message": said(reply).removeprefix(INTERNAL)}]}


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_a_webhook_that_takes_too_long(kind: str, scene: Scene, start: Start) -> None:
    slow = start()
    slow.delay = 3
    scene.register(hooks.configuration(kind, "c", slow.entry(timeoutSeconds=1)))
    refused = scene.create(hooks.pod())
    assert said(refused) == f"{FAILED}{post(slow, 1)}context deadline exceeded"
    assert slow.paths == ["/review?timeout=1s"]


def test_a_slow_webhook_that_may_be_left_out(scene: Scene, start: Start) -> None:
    slow, next_one = start(hooks.note("slow")), start(hooks.note("next"))
    slow.delay = 3
    entries = slow.entry(timeoutSeconds=1, failurePolicy="Ignore"), next_one.entry("next.example.com")
    scene.register(hooks.mutating("c", *entries))
    made = scene.create(hooks.pod()).body
    assert made is not None
    assert made["metadata"]["annotations"] == {"path": "next"}


def test_a_webhook_that_answers_drop_by_drop_has_no_more_time(scene: Scene, podstrat_tls: Tls) -> None:
    """Each byte comes in time, the whole does not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(podstrat_tls.certificate, podstrat_tls.key)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        with listener.accept()[0] as plain, context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(65536)
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100:
                    connection.send(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    url = f"https://127.0.0.1:{listener.getsockname()[1]}/review"
    bundle = base64.b64encode(podstrat_tls.ca.read_bytes()).decode()
    entry = {"name": NAME, "clientConfig": {"url": url, "caBundle": bundle}, "rules": [hooks.PODS], "timeoutSeconds": 1}
    scene.register(hooks.mutating("c", {**entry, "sideEffects": "None", "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())).endswith("context deadline exceeded")
    thread.join(60)
    assert not thread.is_alive()
    listener.close()


def test_an_authority_that_did_not_sign(scene: Scene, start: Start) -> None:
    hook = start()
    other = Authority.new("somebody else", datetime.now(UTC)).certificate
    entry = hook.entry()
    entry["clientConfig"]["caBundle"] = base64.b64encode(other).decode()
    scene.register(hooks.mutating("c", entry))
    unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert said(scene.create(hooks.pod())) == f"{FAILED}{post(hook)}{unknown}"
    assert hook.requests == []


def test_without_a_bundle_this_machine_says_whom_to_believe(scene: Scene, start: Start) -> None:
    hook = start()
    entry = hook.entry()
    del entry["clientConfig"]["caBundle"]
    scene.register(hooks.mutating("c", entry))
    assert said(scene.create(hooks.pod())).endswith("x509: certificate signed by unknown authority")


def test_a_bundle_that_is_none(scene: Scene, start: Start) -> None:
    entry = start().entry()
    entry["clientConfig"]["caBundle"] = base64.b64encode(b"not PEM").decode()
    scene.register(hooks.mutating("c", entry))
    cause = "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block"
    assert said(scene.create(hooks.pod())) == f"{FAILED}{cause}"


def issued(folder: Path, names: list[str], life: timedelta = timedelta(days=1), ago: timedelta = timedelta()) -> Tls:
    now = datetime.now(UTC)
    authority = Authority.new("test", now)
    leaf = authority.server(names, now - ago, life)
    made = Tls(folder / "crt", folder / "key", folder / "ca")
    for path, text in zip(made, (leaf.certificate, leaf.key, authority.certificate), strict=True):
        files.write(path, text)
    return made


@pytest.mark.parametrize(
    "names, words",
    [
        pytest.param(["10.0.0.1"], "x509: certificate is valid for 10.0.0.1, not 127.0.0.1", id="another-address"),
        pytest.param(
            ["web.default.svc"],
            "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
            id="no-address",
        ),
    ],
)
def test_a_certificate_for_somebody_else(names: list[str], words: str, scene: Scene, tmp_path: Path) -> None:
    with hooks.running(issued(tmp_path, names)) as hook:
        scene.register(hooks.mutating("c", hook.entry()))
        refused = scene.create(hooks.pod())
        assert said(refused) == f"{FAILED}{post(hook)}tls: failed to verify certificate: {words}"


def test_a_certificate_for_another_name(tmp_path: Path) -> None:
    with hooks.running(issued(tmp_path, ["a.svc", "b.svc"])) as hook:
        entry = hook.entry()
        entry["clientConfig"]["url"] = f"https://web.default.svc:{hook.port}/review"
        with Scene(resolve={"web.default.svc": ("127.0.0.1", hook.port)}) as scene:
            scene.register(hooks.mutating("c", entry))
            words = "x509: certificate is valid for a.svc, b.svc, not web.default.svc"
            assert said(scene.create(hooks.pod())).endswith(f"tls: failed to verify certificate: {words}")


def test_a_certificate_that_has_expired(scene: Scene, tmp_path: Path) -> None:
    old = issued(tmp_path, ["127.0.0.1"], timedelta(hours=1), timedelta(hours=2))
    with hooks.running(old) as hook:
        scene.register(hooks.mutating("c", hook.entry()))
        words = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time "
        told = said(scene.create(hooks.pod()))
        assert told.startswith(f"{FAILED}{post(hook)}{words}")
        assert " is after " in told


def test_a_server_that_speaks_no_tls(scene: Scene) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listener.accept()[0] as plain:
            plain.recv(65536)
            plain.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    port = listener.getsockname()[1]
    client = {"url": f"https://127.0.0.1:{port}/"}
    entry = {"name": NAME, "clientConfig": client, "rules": [hooks.PODS], "sideEffects": "None"}
    scene.register(hooks.mutating("c", {**entry, "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())).endswith("http: server gave HTTP response to HTTPS client")
    thread.join(60)
    listener.close()


@pytest.mark.parametrize(
    "client, words",
    [
        pytest.param(
            {"service": {"name": "web", "namespace": "default", "path": "/mutate"}},
            'failed to call webhook: Post "https://web.default.svc:443/mutate?timeout=10s": service "web" not found',
            id="service",
        ),
        pytest.param(
            {"service": {"name": "web", "namespace": "default", "port": 8443}},
            'failed to call webhook: Post "https://web.default.svc:8443/?timeout=10s": service "web" not found',
            id="port",
        ),
        pytest.param(
            {"url": "https://nowhere.invalid/x"},
            'failed to call webhook: Post "https://nowhere.invalid/x?timeout=10s": '
            "dial tcp: lookup nowhere.invalid: no such host",
            id="name",
        ),
        pytest.param({}, "could not get REST client: webhook configuration must have either service or URL", id="neither"),
    ],
)
def test_an_address_that_is_none(client: dict[str, Any], words: str, scene: Scene) -> None:
    entry = {"name": NAME, "clientConfig": client, "rules": [hooks.PODS], "sideEffects": "None"}
    scene.register(hooks.mutating("c", {**entry, "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())) == f"{FAILED}{words}"
