"""A server with objects of several kinds that were accepted before its namespaces and policies became stricter."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from podstrat import cli
from podstrat.kubeclient.answer import MERGE_PATCH
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.eventually import eventually

NAMESPACES = ("shop", "shop-a", "shop-b")
"""By key shop-a/x comes before shop/x."""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@contextmanager
def namespace(client: Client, name: str) -> Iterator[str]:
    """A namespace for a while; the result is its path."""
    at = f"/api/v1/namespaces/{name}"
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    try:
        yield at
    finally:
        client.call("DELETE", at)
        eventually(lambda: client.send("GET", at)[0] == 404, what=f"{name} is gone")


def pod_spec(privileged: bool = False, image: str = "x:1") -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": image, "securityContext": {"privileged": privileged}}]}


def controlled_by(api_version: str, kind: str) -> dict[str, Any]:
    return {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u", "controller": True}]}


def workload(name: str, privileged: bool) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(privileged)}
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def fill(client: Client, namespace: str) -> None:
    """Creates 98 objects in a namespace: 8 of them are privileged."""
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for number in range(20):
        apps = f"/apis/apps/v1/namespaces/{namespace}"
        client.call("POST", f"{apps}/deployments", workload(f"web-{number}", number % 10 == 3))
        client.call("POST", f"{apps}/statefulsets", {**workload(f"db-{number}", number % 10 == 4)})
        job = {"template": {"spec": {**pod_spec(number % 10 == 5), "restartPolicy": "Never"}}}
        client.call("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", {"metadata": {"name": f"job-{number}"}, "spec": job})
    for number in range(38):
        owner = controlled_by("apps/v1", "ReplicaSet") if number % 2 else {}
        pod = {"metadata": {"name": f"pod-{number:02}", **owner}, "spec": pod_spec(number in (6, 7, 8))}
        client.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod)


REFUSED = {
    (namespace, name)
    for namespace in NAMESPACES
    for name in ("web-3", "web-13", "db-4", "db-14", "job-5", "job-15", "pod-06", "pod-08")
}
"""pod-07 is privileged as well, but has a controller."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Server]:
    # Some pods have a controller that was never there: garbage, if anybody collected it.
    with Server("--controllers=*,-garbagecollector", admission=True) as server:
        with Client(server.kubeconfig) as client:
            for namespace in NAMESPACES:
                fill(client, namespace)
                labels = {"pod-security.kubernetes.io/enforce": "baseline"}
                client.call("PATCH", f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}}, MERGE_PATCH)
        yield server


@pytest.fixture
def audit(cluster: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path) -> Callable[..., Done]:
    """Runs `podstrat audit` on the server, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    monkeypatch.setattr("sys.stdin", io.StringIO())

    def run(*argv: str) -> Done:
        code = cli.main(["audit", *argv])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run
