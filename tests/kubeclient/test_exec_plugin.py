"""Credential plugins: what they are told, what they may print, how long it holds."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient import exec_plugin, kubeconfig
from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import PluginError, Unavailable
from tests.kubeclient import files
from tests.kubeclient.files import PRINT, Certificates, base64_of, config, write

V1, V1BETA1 = exec_plugin.VERSIONS
PATH = "/usr/bin:/bin"


class Calls:
    """A kubeconfig whose user has a plugin, and the calls of that plugin."""

    def __init__(
        self, folder: Path, status: dict[str, Any] | None = None, cluster: Any = None, code: str = PRINT, **fields: Any
    ) -> None:
        self.count = folder / "count"
        self.count.touch()
        files.plugin(folder, code)
        env = [{"name": "COUNT", "value": str(self.count)}, {"name": "STATUS", "value": json.dumps(status or {})}]
        described = {"apiVersion": V1, "interactiveMode": "Never", "command": "./plugin", "env": env, **fields}
        path = write(folder / "config", config({"exec": described}, cluster))
        found = kubeconfig.load(path, environ={"PATH": PATH}).credentials
        assert isinstance(found, exec_plugin.Plugin)
        self.plugin = found

    @property
    def made(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.count.read_text().splitlines()]


def bearer(calls: Calls) -> str:
    return calls.plugin.current().authorization


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_what_a_plugin_is_told(tmp_path: Path, version: str) -> None:
    calls = Calls(tmp_path, apiVersion=version)
    assert bearer(calls) == "Bearer token-1"
    assert calls.made == [{"kind": "ExecCredential", "apiVersion": version, "spec": {"interactive": False}}]


def test_the_cluster_is_told_if_asked_for(tmp_path: Path) -> None:
    authority = Certificates().authority
    (tmp_path / "ca.crt").write_bytes(authority)
    cluster = {
        "certificate-authority": "ca.crt",
        "tls-server-name": "name",
        "proxy-url": "http://proxy:3128",
        "extensions": [
            {"name": "other", "extension": {"a": 1}},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ],
    }
    calls = Calls(tmp_path, cluster=cluster, provideClusterInfo=True)
    calls.plugin.current()
    assert calls.made[0]["spec"]["cluster"] == {
        "server": files.SERVER,
        "tls-server-name": "name",
        "proxy-url": "http://proxy:3128",
        "certificate-authority-data": base64_of(authority),
        "config": {"audience": "x"},
    }


def test_arguments_and_environment(tmp_path: Path) -> None:
    status = '{"token": os.environ["WHO"] + sys.argv[1]}'
    code = f'print(json.dumps({{"kind": "ExecCredential", "apiVersion": {V1!r}, "status": {status}}}))'
    calls = Calls(tmp_path, code=code, args=["-x"], env=[{"name": "WHO", "value": "me"}])
    assert bearer(calls) == "Bearer me-x"


def test_a_credential_is_kept_until_it_expires(tmp_path: Path) -> None:
    now = datetime(2026, 11, 17, tzinfo=UTC)
    calls = Calls(tmp_path, {"token": "t", "expirationTimestamp": "2026-11-17T00:10:00Z"})
    calls.plugin.now = lambda: now
    assert calls.plugin.is_slow()
    assert (bearer(calls), bearer(calls), calls.plugin.is_slow(), len(calls.made)) == ("Bearer t", "Bearer t", False, 1)
    now += timedelta(minutes=10)
    assert calls.plugin.is_slow()
    assert (bearer(calls), len(calls.made)) == ("Bearer t", 2)


def test_a_credential_without_an_end_is_kept_until_it_is_refused(tmp_path: Path) -> None:
    calls = Calls(tmp_path)
    first = calls.plugin.current()
    assert calls.plugin.renewed(first)
    assert calls.plugin.current() == Identity("Bearer token-2")
    assert calls.plugin.renewed(first)  # somebody else has renewed it already
    assert len(calls.made) == 2


def test_a_refused_credential_that_stays_the_same(tmp_path: Path) -> None:
    calls = Calls(tmp_path, {"token": "t"})
    assert not calls.plugin.renewed(calls.plugin.current())


def test_a_client_certificate(tmp_path: Path) -> None:
    made = Certificates()
    status = {"clientCertificateData": made.certificate.decode(), "clientKeyData": made.key.decode()}
    assert Calls(tmp_path, status).plugin.current() == Identity("", made.certificate, made.key)


def credential(status: Any, kind: str = "ExecCredential", version: str = V1) -> str:
    return f"print({json.dumps({'kind': kind, 'apiVersion': version, 'status': status})!r})"


@pytest.mark.parametrize(
    "code, text",
    [
        pytest.param("sys.exit(3)", "exit code 3", id="exit-code"),
        pytest.param("print('hello')", "the output is not JSON", id="not-json"),
        pytest.param("print('[]')", "the output is not an ExecCredential", id="a-list"),
        pytest.param(credential({}, "Pod"), "the output is not an ExecCredential", id="another-kind"),
        pytest.param(credential({}, version=V1BETA1), f"apiVersion is {V1BETA1}, the kubeconfig asks for {V1}", id="version"),
        pytest.param(credential(None), "the ExecCredential has no status", id="no-status"),
        pytest.param(credential({}), "the status has neither a token nor a client certificate", id="nothing"),
        pytest.param(credential({"token": 1}), "token, clientCertificateData and clientKeyData must be strings", id="number"),
        pytest.param(credential({"token": "a\nb"}), "the token contains control characters", id="lines"),
        pytest.param(
            credential({"clientCertificateData": "x"}), "clientCertificateData and clientKeyData must be set together", id="half"
        ),
        pytest.param(
            credential({"token": "t", "expirationTimestamp": "soon"}),
            "expirationTimestamp 'soon' is not an RFC 3339 time",
            id="expiration",
        ),
    ],
)
def test_a_plugin_that_fails(tmp_path: Path, code: str, text: str) -> None:
    calls = Calls(tmp_path, code=code)
    with pytest.raises(PluginError) as caught:
        calls.plugin.current()
    assert str(caught.value) == f"{tmp_path}/config: user alice: credential plugin {tmp_path}/plugin: {text}"
    assert isinstance(caught.value, Unavailable)


def test_the_hint_is_told_when_a_plugin_fails(tmp_path: Path) -> None:
    calls = Calls(tmp_path, code="sys.exit(1)", installHint="Log in first:\n  plugin login")
    with pytest.raises(PluginError, match=r"exit code 1\nLog in first:\n  plugin login$"):
        calls.plugin.current()


def test_a_plugin_that_hangs(tmp_path: Path) -> None:
    calls = Calls(tmp_path, code="import time; time.sleep(600)")
    calls.plugin.timeout = 0.2
    with pytest.raises(PluginError, match=r"no credential within 0\.2 s"):
        calls.plugin.current()


@pytest.mark.parametrize(
    "version, mode, terminal, interactive",
    [
        (V1, "Never", True, False),
        (V1, "IfAvailable", True, True),
        (V1, "IfAvailable", False, False),
        (V1, "Always", True, True),
        (V1BETA1, None, True, True),
        (V1BETA1, None, False, False),
    ],
)
def test_interactive_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, mode: str | None, terminal: bool, interactive: bool
) -> None:
    monkeypatch.setattr(exec_plugin, "has_terminal", lambda: terminal)
    calls = Calls(tmp_path, apiVersion=version, interactiveMode=mode)
    calls.plugin.current()
    assert calls.made[0]["spec"] == {"interactive": interactive}
