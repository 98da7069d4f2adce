"""The switches of `podstrat serve` that have to do with admission."""

from __future__ import annotations

import logging

import pytest

from podstrat import exits
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.metrics import Metrics
from podstrat.cli import main
from podstrat.commands import serve
from podstrat.testing.server import Server
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import ADMIN, Scene
from tests.apiserver.test_faults import PODS, Caller


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("web.default.svc=127.0.0.1:9443", ("web.default.svc", ("127.0.0.1", 9443)), id="address"),
        pytest.param("web.default.svc=localhost:1", ("web.default.svc", ("localhost", 1)), id="name"),
        pytest.param("web.default.svc=[::1]:443", ("web.default.svc", ("::1", 443)), id="six"),
    ],
)
def test_an_address(text: str, expected: tuple[str, tuple[str, int]]) -> None:
    assert serve._address(text) == expected


@pytest.mark.parametrize(
    "text", ["", "web", "web=", "web=host", "web=host:", "web=host:x", "web=host:0", "web=host:70000", "=h:1"]
)
def test_an_address_that_is_none(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--http", "--port", "0", "--resolve", text]) == exits.USAGE
    assert f"--resolve: {text!r} is not NAME.NAMESPACE.svc=HOST:PORT" in capsys.readouterr().err


def test_nodes_are_restricted_over_http() -> None:
    tokens = ("--token", "root", "--token", "n1,system:node:n1,system:nodes", "--token", "n2,system:node:n2,system:nodes")
    with Server("--http", "--node-restriction", *tokens) as server:
        pod = hooks.pod()
        pod["spec"]["nodeName"] = "n1"
        assert Caller(server, "root").send("POST", PODS, pod)[0] == 201
        written = {**pod, "status": {"phase": "Running"}}
        assert Caller(server, "n1").send("PUT", f"{PODS}/web/status", written)[0] == 200
        code, _, status = Caller(server, "n2").send("PUT", f"{PODS}/web/status", written)
        words = 'node "n2" can only update pod status for pods with spec.nodeName set to itself'
        assert (code, status["message"]) == (403, f'pods "web" is forbidden: {words}')


def test_warnings_in_any_script(start: Start) -> None:
    """As bytes of UTF-8; clients that take them for Latin-1 see what they see of a real server."""
    told = start(lambda request: {"allowed": True, "warnings": ["grün ✓", ""]})
    with Server("--http", "--token", "root") as server:
        configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert Caller(server, "root").send("POST", configurations, hooks.validating("v", told.entry()))[0] == 201
        code, headers, _ = Caller(server, "root").send("POST", PODS, hooks.pod())
        assert (code, headers["Warning"].encode("latin-1").decode()) == (201, '299 - "grün ✓"')


def test_audit_annotations_stand_in_the_log(scene: Scene, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    noted = start(lambda request: {"allowed": True, "auditAnnotations": {"why": "because"}})
    scene.register(hooks.validating("v", noted.entry()))
    app = Http(scene.api, Authenticator([("t", ADMIN)], False), lambda _: None, Metrics()).app()
    with caplog.at_level(logging.INFO, "podstrat.apiserver"):
        response = app.test_client().post(PODS, json=hooks.pod(), headers={"Authorization": "Bearer t"})
    assert response.status_code == 201
    assert vars(caplog.records[-1])["fields"]["annotations"] == {"hook.example.com/why": "because"}
