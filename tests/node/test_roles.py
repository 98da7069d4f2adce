"""Whose the status is: found out, or refused."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from podstrat.node import roles
from podstrat.node.drivers.generated import podresources_pb2
from podstrat.node.drivers.protocols import wire
from podstrat.node.drivers.protocols.serving import Server as Grpc
from podstrat.node.simulator.driver import DraDriver
from podstrat.node.status import condition as conditions
from tests.eventually import eventually_async
from tests.node.cluster import PODS, STRATEGIC, condition, health_of, running

RESOURCE = "example.com/gpu"


@pytest.mark.parametrize(
    "asked, kubelet, simulate, role",
    [
        pytest.param("auto", None, False, "owner", id="nobody-else"),
        pytest.param("auto", "it is there", False, "beside-kubelet", id="a-kubelet"),
        pytest.param("owner", None, True, "owner", id="simulated"),
        pytest.param("beside-kubelet", None, False, "beside-kubelet", id="asked-for"),
        pytest.param("owner", "it is there", False, None, id="two-owners"),
        pytest.param("auto", "it is there", True, None, id="simulated-beside-a-kubelet"),
        pytest.param("beside-kubelet", None, True, None, id="contradiction"),
    ],
)
def test_the_role(asked, kubelet, simulate, role):
    if role is not None:
        assert roles.decide(asked, kubelet, simulate=simulate).name == role
        return
    with pytest.raises(roles.Conflict):
        roles.decide(asked, kubelet, simulate=simulate)


async def node(cluster, *, holder=None, renewed=None, **meta):
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": cluster.node, **meta}}
    await cluster.call("POST", "/api/v1/nodes", body)
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": cluster.node},
        "spec": {
            "holderIdentity": holder or cluster.node,
            "renewTime": renewed or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        },
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}}
    await cluster.call("POST", "/api/v1/namespaces", namespace, codes=(201, 409))
    await cluster.call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", lease)


@pytest.mark.parametrize(
    "more, found",
    [
        pytest.param({}, True, id="a-kubelet"),
        pytest.param({"renewed": "2026-01-01T00:00:00.000000Z"}, False, id="gone-long-ago"),
        pytest.param({"holder": "kwok-controller"}, False, id="another-holder"),
        pytest.param({"annotations": {"kwok.x-k8s.io/node": "fake"}}, False, id="kwok"),
        pytest.param({"annotations": {"podstrat.dev/simulated": "true"}}, False, id="ours"),
    ],
)
async def test_a_kubelet_renews_its_lease(cluster, more, found):
    await node(cluster, **more)
    said = await roles.on_the_server(cluster.api, cluster.node, datetime.now(UTC).timestamp())
    assert said == (f"it renews the lease of node {cluster.node}" if found else None)


async def test_two_owners_are_refused(cluster, root):
    await node(cluster)
    with pytest.raises(roles.Conflict, match="conflicts with the kubelet"):
        async with running(cluster, root, role="owner", simulate_lifecycle=False):
            pass


async def test_a_kubelet_that_comes_later_takes_over(cluster, root):
    async def until_it_ends():
        async with running(cluster, root, recheck=0.05) as agent, Kubelet(root, "none", []).server:
            await asyncio.wait({agent.task})

    with pytest.raises(roles.Conflict, match="a kubelet appeared"):
        await until_it_ends()


class Kubelet:
    """Its podresources, with one pod that was given devices."""

    def __init__(self, root, name, devices):
        (root / "pod-resources").mkdir()
        self.name, self.devices, self.usable = name, devices, list(devices)
        self.server = Grpc(
            str(root / "pod-resources" / "kubelet.sock"), {wire.LIST_PODS: self._list, wire.ALLOCATABLE: self._allocatable}
        )

    async def _list(self, _):
        container = {"name": "main", "devices": [{"resource_name": RESOURCE, "device_ids": self.devices}]}
        return podresources_pb2.ListPodResourcesResponse(
            pod_resources=[{"name": self.name, "namespace": "default", "containers": [container]}]
        )

    async def _allocatable(self, _):
        devices = [{"resource_name": RESOURCE, "device_ids": self.usable}] if self.usable else []
        return podresources_pb2.AllocatableResourcesResponse(devices=devices)


def state(pod):
    found = condition(pod, conditions.TYPE)
    return found and found["status"]


@pytest.mark.scenario(99)
async def test_beside_a_kubelet_only_the_condition_is_ours(cluster, root):
    wants = {"limits": {RESOURCE: "2"}, "requests": {RESOURCE: "2"}}
    pod = await cluster.pod(containers=[{"name": "main", "resources": {**wants, "claims": [{"name": "gpu"}]}}], claims=["gpu"])
    name = pod["metadata"]["name"]
    await cluster.claim(pod, "gpu", ["gpu-0"])
    kubelets = {
        "phase": "Running",
        "containerStatuses": [{"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0}],
    }
    await cluster.call("PATCH", f"{PODS}/{name}/status", {"status": kubelets}, STRATEGIC)
    kubelet = Kubelet(root, name, ["gpu-7", "gpu-8"])
    settings = {"simulate_lifecycle": False, "listen_to": frozenset({"gpu.example.com"})}
    async with DraDriver(root, pool=cluster.node) as driver, kubelet.server, running(cluster, root, **settings) as agent:
        assert agent.role.name == "beside-kubelet"
        await cluster.until(name, lambda pod: state(pod) == "True")
        driver.set("gpu-0", "Unhealthy", "XID 79")
        await cluster.until(name, lambda pod: state(pod) == "False")
        driver.set("gpu-0", "Healthy")
        await cluster.until(name, lambda pod: state(pod) == "True")
        kubelet.usable = ["gpu-7"]
        agent.podresources.wake()
        found = await cluster.until(name, lambda pod: state(pod) == "False")
        assert condition(found, conditions.TYPE)["message"] == "gpu-8"
        kubelet.usable = []
        agent.podresources.wake()
        await cluster.until(name, lambda pod: state(pod) == "Unknown")
        # What is the kubelet's is as the kubelet left it; the driver was told nothing.
        assert found["status"]["containerStatuses"][0].get("allocatedResourcesStatus") is None
        assert "observedGeneration" not in found["status"]
        assert {call for call, _ in driver.asked} <= {"GetInfo", "NodeWatchResources"}
        await eventually_async(lambda: cluster.events(name, "DeviceUnhealthy"))


async def test_a_driver_that_nobody_named_is_not_listened_to_and_the_kubelets_word_is_taken(cluster, root):
    pod = await cluster.pod(claims=["gpu"])
    name = pod["metadata"]["name"]
    await cluster.claim(pod, "gpu", ["gpu-0"])
    entry = {
        "name": "claim:gpu",
        "resources": [{"resourceID": cluster.id("gpu-0"), "health": "Unhealthy", "message": "says the kubelet"}],
    }
    container = {
        "name": "main",
        "image": "",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "allocatedResourcesStatus": [entry],
    }
    body = {"status": {"phase": "Running", "containerStatuses": [container]}}
    await cluster.call("PATCH", f"{PODS}/{name}/status", body, STRATEGIC)
    kubelet = Kubelet(root, "other", [])
    async with DraDriver(root, pool=cluster.node) as driver, kubelet.server, running(cluster, root, simulate_lifecycle=False):
        found = await cluster.until(name, lambda pod: state(pod) == "False")
        assert "says the kubelet" in condition(found, conditions.TYPE)["message"]
        assert health_of(found, cluster.id("gpu-0")) == "Unhealthy"
        assert {call for call, _ in driver.asked} <= {"GetInfo"}
