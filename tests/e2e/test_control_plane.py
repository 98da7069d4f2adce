"""The real kube-scheduler and kube-controller-manager on `podstrat serve`, with a node that `podstrat node` simulates.

The binaries come from KUBEBUILDER_ASSETS (tests/e2e/servers.py). tests/apiserver/test_control_plane.py has their requests one by
one, and needs no binaries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.e2e import servers
from tests.eventually import eventually

Object = dict[str, Any]

SCHEDULER, MANAGER = "kube-scheduler", "kube-controller-manager"
MISSING = f"{servers.ASSETS} does not name a folder with {SCHEDULER} and {MANAGER}"
NODE = "n1"
PATIENCE = 180.0
"""Seconds for what needs several controllers: informers start, leaders are elected, back-offs pass."""
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


class Cluster:
    """An API server with its control plane, and the logs of all programs."""

    def __init__(self, client: Client, logs: dict[str, Path]) -> None:
        self.client = client
        self._logs = logs

    def create(self, path: str, body: Object) -> Object:
        made: Object = self.client.call("POST", path, body)
        return made

    def get(self, path: str) -> Object | None:
        code, body = self.client.send("GET", path)
        return body if code == 200 else None

    def items(self, path: str) -> list[Object]:
        found: list[Object] = self.client.call("GET", path)["items"]
        return found

    def delete(self, path: str, policy: str = "Background") -> None:
        self.client.call("DELETE", path, {"propagationPolicy": policy})

    def until(self, check: Callable[[], Any], what: str) -> Any:
        """The first true value of a check; what the programs logged last where there is none."""
        try:
            return eventually(check, PATIENCE, 0.2, what=what)
        except AssertionError as error:
            tails = (f"--- {name}\n{log.read_text(errors='replace')[-3000:]}" for name, log in self._logs.items())
            raise AssertionError("\n".join((str(error), *tails))) from None


@pytest.fixture(scope="module", params=["one-identity", "account-credentials"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """All programs, running. With account-credentials each controller has a token of a service account of its own."""
    binaries = servers.assets(SCHEDULER, MANAGER)
    if binaries is None:
        pytest.skip(MISSING)
    folder = tmp_path_factory.mktemp("control-plane")
    logs = {name: folder / f"{name}.log" for name in (SCHEDULER, MANAGER, "node")}
    with ExitStack() as stack:
        # No controllers of the server's own: the real ones do it all.
        server = stack.enter_context(Server("--controllers=", admission=True))
        logs["apiserver"] = server.log
        client = stack.enter_context(Client(server.kubeconfig))
        client.call("POST", "/api/v1/nodes", node())
        ports = servers.free_ports(2)
        for name, port in zip((MANAGER, SCHEDULER), ports, strict=True):
            flags = {
                "kubeconfig": server.kubeconfig,
                "authentication-kubeconfig": server.kubeconfig,
                "authorization-kubeconfig": server.kubeconfig,
                "bind-address": "127.0.0.1",
                "secure-port": port,
                "cert-dir": folder / name,
                "leader-elect": "true",
            }
            if name == MANAGER:
                flags |= {
                    "kube-api-content-type": "application/json",
                    "use-service-account-credentials": str(request.param == "account-credentials").lower(),
                    # The node is simulated: nobody renews its lease.
                    "node-monitor-grace-period": "1h",
                }
            command = [binaries / name, *(f"--{flag}={value}" for flag, value in flags.items())]
            stack.enter_context(servers.running(logs[name], command))
        stack.enter_context(servers.running(logs["node"], node_command(server.kubeconfig, folder)))
        made = Cluster(client, logs)
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        made.until(lambda: made.get(account), "the service account of the namespace")
        yield made


def node() -> Object:
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "simulated",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "annotations": {"podstrat.dev/simulated": "true"},
            "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        },
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]},
    }


def node_command(kubeconfig: Path, folder: Path) -> list[Any]:
    return [
        *(sys.executable, "-P", "-m", "podstrat", "node", "--node", NODE, "--kubeconfig", kubeconfig),
        *("--role", "owner", "--simulate-lifecycle", "--root", folder / "kubelet", "--state-dir", folder / "node"),
    ]


def template(labels: Object | None = None, annotations: Object | None = None, **spec: Any) -> Object:
    containers = [{"name": "c", "image": "example.com/i:1", "resources": {"requests": {"cpu": "10m"}}}]
    metadata = {"labels": labels or {}, "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"terminationGracePeriodSeconds": 1, "containers": containers, **spec}}


def deployment(name: str, replicas: int = 2) -> Object:
    labels = {"app": name}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(labels)}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def selected(name: str) -> str:
    return f"?labelSelector=app%3D{name}"


def test_the_scheduler_binds_a_pod(cluster: Cluster) -> None:
    made = {"apiVersion": "v1", "kind": "Pod", **template()}
    made["metadata"]["name"] = "alone"
    cluster.create(PODS, made)

    def running() -> Object | None:
        found = cluster.get(f"{PODS}/alone") or {}
        return found if found.get("status", {}).get("phase") == "Running" else None

    found = cluster.until(running, "the pod runs")
    assert found["spec"]["nodeName"] == NODE
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert (conditions["PodScheduled"], conditions["Ready"]) == ("True", "True")

    def scheduled() -> list[Object]:
        events = cluster.items("/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason%3DScheduled")
        return [each for each in events if each["regarding"]["name"] == "alone"]

    assert cluster.until(scheduled, "the scheduler reports it")[0]["reportingController"] == "default-scheduler"


def test_a_deployment_is_rolled_out_scaled_and_collected(cluster: Cluster) -> None:
    cluster.create(DEPLOYMENTS, deployment("web"))

    def available(count: int) -> bool:
        status = (cluster.get(f"{DEPLOYMENTS}/web") or {}).get("status", {})
        return status.get("availableReplicas") == status.get("updatedReplicas") == status.get("replicas") == count

    cluster.until(lambda: available(2), "two pods are available")
    (replica_set,) = cluster.items(f"{REPLICA_SETS}{selected('web')}")
    assert replica_set["metadata"]["ownerReferences"][0]["name"] == "web"
    assert {each["spec"]["nodeName"] for each in cluster.items(f"{PODS}{selected('web')}")} == {NODE}
    scale = cluster.client.call("GET", f"{DEPLOYMENTS}/web/scale")
    cluster.client.call("PUT", f"{DEPLOYMENTS}/web/scale", {**scale, "spec": {"replicas": 3}})
    cluster.until(lambda: available(3), "a third one is")
    changed = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "example.com/i:2"}]}}}}
    cluster.client.call("PATCH", f"{DEPLOYMENTS}/web", changed, "application/strategic-merge-patch+json")
    cluster.until(
        lambda: len(cluster.items(f"{REPLICA_SETS}{selected('web')}")) == 2 and available(3), "the change is rolled out"
    )
    cluster.delete(f"{DEPLOYMENTS}/web")
    for path in (REPLICA_SETS, PODS):
        cluster.until(lambda path=path: not cluster.items(f"{path}{selected('web')}"), f"{path} are collected")


def test_a_deployment_goes_after_its_dependents(cluster: Cluster) -> None:
    cluster.create(DEPLOYMENTS, deployment("front", 1))
    cluster.until(lambda: cluster.items(f"{PODS}{selected('front')}"), "a pod is made")
    cluster.delete(f"{DEPLOYMENTS}/front", "Foreground")
    cluster.until(lambda: cluster.get(f"{DEPLOYMENTS}/front") is None, "the deployment is gone")
    assert cluster.items(f"{REPLICA_SETS}{selected('front')}") == []


def test_a_job_completes(cluster: Cluster) -> None:
    ends = {"podstrat.dev/simulate": "Succeeded", "podstrat.dev/simulate-seconds": "1"}
    spec = {"completions": 2, "parallelism": 2, "template": template(annotations=ends, restartPolicy="Never")}
    cluster.create(JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": spec})

    def complete() -> bool:
        status = (cluster.get(f"{JOBS}/once") or {}).get("status", {})
        done = {each["type"] for each in status.get("conditions", ()) if each["status"] == "True"}
        return "Complete" in done and status.get("succeeded") == 2

    cluster.until(complete, "the job is complete")
    pods = cluster.items(f"{PODS}?labelSelector=batch.kubernetes.io%2Fjob-name%3Donce")
    assert [each["metadata"].get("finalizers") for each in pods] == [None, None]
    cluster.delete(f"{JOBS}/once")
    cluster.until(lambda: not cluster.items(f"{PODS}?labelSelector=batch.kubernetes.io%2Fjob-name%3Donce"), "its pods go")


@pytest.mark.parametrize("name", [SCHEDULER, MANAGER])
def test_leases_are_renewed(cluster: Cluster, name: str) -> None:
    def renewed() -> str:
        return str(((cluster.get(f"{LEASES}/{name}") or {}).get("spec") or {}).get("renewTime", ""))

    first = cluster.until(renewed, "there is a leader")
    cluster.until(lambda: renewed() > first, "it stays one")


def test_a_service_gets_its_endpoints(cluster: Cluster) -> None:
    cluster.create(DEPLOYMENTS, deployment("served", 1))
    port = {"port": 80, "targetPort": 8080}
    service = {"metadata": {"name": "served"}, "spec": {"selector": {"app": "served"}, "ports": [port]}}
    cluster.create("/api/v1/namespaces/default/services", service)
    path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dserved"
    (made,) = cluster.until(lambda: cluster.items(path), "an EndpointSlice is made")
    assert made["addressType"] == "IPv4"
    cluster.delete(f"{DEPLOYMENTS}/served")


def test_a_namespace_is_emptied(cluster: Cluster) -> None:
    cluster.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
    account = "/api/v1/namespaces/going/serviceaccounts/default"
    cluster.until(lambda: cluster.get(account), "it gets a service account")
    cluster.create("/api/v1/namespaces/going/configmaps", {"metadata": {"name": "c"}, "data": {"a": json.dumps(1)}})
    cluster.delete("/api/v1/namespaces/going")
    cluster.until(lambda: cluster.get("/api/v1/namespaces/going") is None, "it is gone")
