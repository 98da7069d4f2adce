"""A cluster to install into: an API server, a proxy in front of it that notes every call, and what runs Deployments."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from podstrat import cli
from podstrat.install import objects
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.manifests.proxy import Call, Proxy, kubeconfig
from tests.manifests.replicas import Keepers, Processes, free_port
from tests.manifests.rights import Right, allowed, held, wanted

ADMIN, ACCOUNT, INSTALLER, SOMEBODY = "admin-token", "account-token", "installer-token", "somebody-token"
HOST = "podstrat-webhook.podstrat-system.svc"
KUBECTL = ["kubectl"]
SLICES = "/apis/discovery.k8s.io/v1/namespaces/podstrat-system/endpointslices"
HEALTH = {
    "status": {
        "phase": "Running",
        "containerStatuses": [
            {
                "name": "c",
                "image": "c:1",
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "allocatedResourcesStatus": [
                    {"name": "example.com/gpu", "resources": [{"resourceID": "gpu-0", "health": "Unhealthy"}]}
                ],
            }
        ],
    }
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "nodeName": "node-1",
        "containers": [{"name": "c", "image": "c:1", "resources": {"limits": {"example.com/gpu": "1"}}}],
    },
}


class World:
    """A cluster, seen by an administrator, by whoever installs, and by somebody whom the webhook refuses."""

    def __init__(self, folder: Path, server: Server, proxy: Proxy, port: int) -> None:
        self.folder = folder
        self.proxy = proxy
        self.port = port
        self.admin = server.kubeconfig
        """Past the proxy: these calls are not noted."""
        self.account = self._kubeconfig(ACCOUNT)
        self.installer = self._kubeconfig(INSTALLER)
        self._somebody = folder / "somebody"
        theirs = json.loads(server.kubeconfig.read_text())
        theirs["users"][0]["user"] = {"token": SOMEBODY}
        self._somebody.write_text(json.dumps(theirs))

    def enforce(self, rights: Mapping[str, Collection[Right]]) -> None:
        """Users may do these things, and no others; of users that are not named everything is let pass."""

        def allows(user: str, method: str, path: str) -> bool:
            right = wanted(method, path)
            return right is None or user not in rights or held(right, rights[user]) is not None

        self.proxy.allows = allows

    def _kubeconfig(self, token: str) -> Path:
        path = self.folder / token
        path.write_text(json.dumps(kubeconfig(self.proxy.url, token)))
        return path

    def start(self, *words: str) -> subprocess.Popen[str]:
        """`podstrat webhook ...` as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "podstrat", "webhook", *words, "--kubeconfig", str(self.installer)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def command(self, *words: str, code: int | None = 0) -> list[str]:
        """What it says, by lines, when it is run in this process. Code None: any."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            ended = cli.main(["webhook", *words, "--kubeconfig", str(self.installer)])
        assert code in (None, ended), out.getvalue()
        return out.getvalue().splitlines()

    def kubectl(self, *words: str, code: int = 0) -> str:
        environment = {**os.environ, "HOME": str(self.folder), "KUBECACHEDIR": str(self.folder / "cache")}
        command = [*KUBECTL, "--kubeconfig", str(self.admin), *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def get(self, path: str) -> Any:
        """An object, as an administrator sees it; None if there is none."""
        with Client(self.admin) as client:
            code, body = client.send("GET", path)
            return body if code == 200 else None

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Any]:
        with Client(self.admin) as client:
            return client.send(method, path, body, content_type)

    def endpoints(self, ready: int) -> None:
        """The EndpointSlices of the Service have so many addresses that are ready, and one that is not."""
        addresses = [{"addresses": [f"10.0.0.{number}"], "conditions": {"ready": number < ready}} for number in range(ready + 1)]
        self.proxy.answers[SLICES.rpartition("/namespaces")[0]] = {}
        self.proxy.answers[SLICES] = {"items": [{"endpoints": addresses}] if ready else []}

    def calls(self, user: str) -> list[Call]:
        return [call for call in self.proxy.calls if call.user == user]

    def lie(self, name: str = "p") -> tuple[int, Any]:
        """Somebody writes the health of a device of a pod that is on another node."""
        with Client(self.admin) as client:
            client.send("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
            pod = {**POD, "metadata": {"name": name}}
            assert client.send("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201
        with Client(self._somebody) as client:
            path = f"/api/v1/namespaces/default/pods/{name}/status"
            return client.send("PATCH", path, HEALTH, "application/merge-patch+json")

    def is_watched(self) -> bool:
        """Whether the webhook is called and refuses what it should."""
        code, answer = self.lie()
        if code == 200:
            return False
        assert 'admission webhook "validate.podstrat.dev" denied the request' in answer["message"], answer
        return True

    def left(self) -> list[str]:
        """The paths of what is there of ours."""
        return [objects.path(obj) for obj in objects.every(objects.NAMESPACE) if self.get(objects.path(obj)) is not None]


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[Server, Proxy, int]]:
    """A server for all tests of this folder, a proxy before it, and the port at which it looks for the webhook."""
    port = free_port()
    tokens = (
        f"{ADMIN},admin,system:masters",
        f"{ACCOUNT},system:serviceaccount:podstrat-system:podstrat-webhook,system:serviceaccounts",
        f"{INSTALLER},installer,podstrat-installers",
        f"{SOMEBODY},somebody,developers",
    )
    words = [word for token in tokens for word in ("--token", token)]
    with Server(*words, "--resolve", f"{HOST}=127.0.0.1:{port}") as server, Proxy(server) as proxy:
        yield server, proxy, port


@pytest.fixture
def world(served: tuple[Server, Proxy, int], tmp_path: Path) -> Iterator[World]:
    """A cluster with nothing in it."""
    server, proxy, port = served
    made = World(tmp_path, server, proxy, port)
    # The server lets everybody do everything: what the webhook may not do is refused before it.
    roles = [obj for obj in objects.rendered("production") if obj["kind"] in ("Role", "ClusterRole")]
    made.enforce({ACCOUNT: allowed(roles)})
    made.endpoints(3)
    yield made
    made.send("POST", "/podstrat/reset")
    proxy.clear()


@pytest.fixture
def cluster(world: World, tmp_path: Path) -> Iterator[World]:
    """The same, where Deployments become processes."""
    with Processes(world.admin, world.account, tmp_path, world.port):
        yield world


@pytest.fixture
def kept(world: World, tmp_path: Path) -> Iterator[World]:
    """The same, where of a Deployment only the certificates are kept."""
    with Keepers(world.admin, world.account, tmp_path):
        yield world


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits here waits for something on the same machine."""
    monkeypatch.setattr("podstrat.install.command.TIMEOUT", 60.0)
    monkeypatch.setattr("podstrat.install.install.POLL_SECONDS", 0.05)
    monkeypatch.setattr("podstrat.install.apply.PAUSES", (0.01, 0.02))
