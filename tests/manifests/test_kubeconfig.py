"""Installation with a kubeconfig as clouds write them: several files and contexts, an exec plugin, a proxy, real TLS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat import cli
from tests.kubeclient import files
from tests.kubeclient.tunnel import Tunnels
from tests.manifests.conftest import INSTALLER, SLICES, World

NAME = "https://cluster.invalid:6443"
SLICE = {
    "metadata": {"name": "podstrat-webhook-1", "labels": {"kubernetes.io/service-name": "podstrat-webhook"}},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.0.0.1"]}],
}
"""What a controller of a cluster makes for the Service."""
"""A name that only the proxy can resolve."""


@pytest.fixture
def count(tmp_path: Path) -> Path:
    """Where the plugin notes its calls."""
    path = tmp_path / "count"
    path.touch()
    return path


def write(folder: Path, cluster: dict[str, Any], count: Path) -> str:
    """Two files: one with the clusters, one with users and contexts. The current context leads nowhere."""
    files.plugin(folder, files.PRINT, "get-token")
    env = {"COUNT": str(count), "STATUS": json.dumps({"token": INSTALLER, "expirationTimestamp": "2099-01-01T00:00:00Z"})}
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
        "command": "./get-token",
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "provideClusterInfo": True,
    }
    clusters = [{"name": "prod", "cluster": cluster}, {"name": "old", "cluster": {"server": "https://127.0.0.1:1"}}]
    contexts = [
        {"name": "old", "context": {"cluster": "old", "user": "cloud"}},
        {"name": "prod", "context": {"cluster": "prod", "user": "cloud"}},
    ]
    users = [{"name": "cloud", "user": {"exec": plugin}}]
    one = files.write(folder / "clusters", {"kind": "Config", "clusters": clusters})
    two = files.write(folder / "contexts", {"kind": "Config", "current-context": "old", "contexts": contexts, "users": users})
    return f"{one}:{two}"


def test_install_status_and_uninstall(
    kept: World, tmp_path: Path, count: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = json.loads(kept.admin.read_text())["clusters"][0]["cluster"]
    host, _, port = cluster["server"].removeprefix("https://").partition(":")
    with Tunnels(redirect=(host, int(port))) as proxy:
        far = {**cluster, "server": NAME, "tls-server-name": "kubernetes.default.svc", "proxy-url": proxy.url}
        monkeypatch.setenv("KUBECONFIG", write(tmp_path, far, count))

        def run(*words: str) -> str:
            assert cli.main(["webhook", *words, "--context", "prod"]) == 0, capsys.readouterr()
            return capsys.readouterr().out

        assert "\ninstalled. " in run("install")
        assert kept.send("POST", SLICES, SLICE)[0] == 201
        assert run("status").startswith("ok ")
        assert kept.left() != []
        assert "mutatingwebhookconfigurations/podstrat-webhook" in run("lint", "--live", "--exit-zero", "--verbose")
        assert run("uninstall").endswith("uninstalled\n")
        assert kept.left() == []
    assert set(proxy.asked) == {"CONNECT cluster.invalid:6443"}
    calls = [json.loads(line) for line in count.read_text().splitlines()]
    assert len(calls) == 4  # one for each command, however many requests it sends
    assert {call["spec"]["cluster"]["server"] for call in calls} == {NAME}


def test_the_current_context_is_taken_unless_another_is_named(
    world: World, tmp_path: Path, count: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = json.loads(world.admin.read_text())["clusters"][0]["cluster"]
    monkeypatch.setenv("KUBECONFIG", write(tmp_path, cluster, count))
    assert cli.main(["webhook", "status"]) == 2
    assert capsys.readouterr().err == "podstrat: https://127.0.0.1:1 cannot be reached: Connection refused\n"
    assert cli.main(["webhook", "status", "--context", "prod"]) == 1  # reached, and nothing is installed
    assert cli.main(["webhook", "status", "--context", "test"]) == 2
    assert capsys.readouterr().err == (
        f"podstrat: {tmp_path}/clusters, {tmp_path}/contexts: no context test (contexts: old, prod)\n"
    )
