"""The design documents' own plans of end-to-end tests, against `podstrat serve`."""

from __future__ import annotations

import asyncio

import pytest

from podstrat.node.owner import simulated_node
from podstrat.node.simulator.driver import DevicePlugin, DraDriver
from podstrat.node.status import condition as conditions
from podstrat.testing.server import Server
from tests.eventually import eventually_async
from tests.node.cluster import JSON_PATCH, PODS, STRATEGIC, Cluster, condition, health_of, running

RESOURCE = "example.com/gpu"
LIFE = "podstrat.dev/simulate"


async def train(cluster, *devices, life="Running", **more):
    """A pod that holds devices of a claim."""
    pod = await cluster.pod(claims=["gpu"], metadata={"annotations": {LIFE: life, "podstrat.dev/simulate-seconds": "0"}}, **more)
    await cluster.claim(pod, "gpu", devices or ["gpu-0"])
    return pod["metadata"]["name"]


async def test_an_unhealthy_device_is_reflected_and_so_is_its_recovery(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        name = await train(cluster, "gpu-0", "gpu-1")
        await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
        driver.set("gpu-0", "Unhealthy", "XID 79")
        found = await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")
        assert found["status"]["phase"] == "Running"
        assert health_of(found, cluster.id("gpu-1")) == "Healthy"
        assert condition(found, conditions.TYPE)["status"] == "False"
        assert condition(found, conditions.TYPE)["message"] == f"{cluster.id('gpu-0')}: XID 79"
        driver.set("gpu-0", "Healthy")
        found = await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
        assert condition(found, conditions.TYPE)["status"] == "True"


async def test_the_same_for_a_device_plugin(cluster, root):
    wants = {"limits": {RESOURCE: "2"}, "requests": {RESOURCE: "2"}}
    async with running(cluster, root), DevicePlugin(root, RESOURCE, 4) as plugin:
        made = await cluster.pod(containers=[{"name": "main", "resources": wants}])
        name = made["metadata"]["name"]
        # This plugin prefers the last ones.
        found = await cluster.until_shown(name, "gpu-3", "Healthy", RESOURCE)
        assert health_of(found, "gpu-2", RESOURCE) == "Healthy"
        assert plugin.allocated == [("gpu-2", "gpu-3")]
        plugin.set("gpu-3", "Unhealthy")
        await cluster.until_shown(name, "gpu-3", "Unhealthy", RESOURCE)
        await plugin.stop()
        await cluster.until_shown(name, "gpu-3", "Unknown", RESOURCE)


async def test_a_pod_waits_for_more_devices_than_there_are(cluster, root):
    wants = {"limits": {RESOURCE: "5"}, "requests": {RESOURCE: "5"}}
    async with running(cluster, root), DevicePlugin(root, RESOURCE, 4) as plugin:
        name = (await cluster.pod(containers=[{"name": "main", "resources": wants}]))["metadata"]["name"]
        (event,) = await eventually_async(lambda: cluster.events(name))
        assert event["message"] == f"Failed to prepare dynamic resources: {RESOURCE}: 5 requested, 4 available"
        plugin.devices["gpu-4"] = plugin.devices["gpu-0"]._replace(name="gpu-4")
        plugin.tell()
        await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")


async def test_devices_of_a_pod_that_went_while_nobody_looked_are_free_again(cluster, root):
    wants = {"limits": {RESOURCE: "4"}, "requests": {RESOURCE: "4"}}
    async with running(cluster, root) as agent, DevicePlugin(root, RESOURCE, 4):
        first = (await cluster.pod(containers=[{"name": "main", "resources": wants}]))["metadata"]["name"]
        await cluster.until(first, lambda pod: pod["status"]["phase"] == "Running")
        assert len(agent.allocations.uids()) == 1
    await cluster.call("DELETE", f"{PODS}/{first}", {"gracePeriodSeconds": 0})
    async with running(cluster, root), DevicePlugin(root, RESOURCE, 4):
        second = (await cluster.pod(containers=[{"name": "main", "resources": wants}]))["metadata"]["name"]
        await cluster.until(second, lambda pod: pod["status"]["phase"] == "Running")


async def test_quick_flapping_ends_in_the_latest(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root) as agent:
        name = await train(cluster)
        await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
        for number in range(101):
            driver.set("gpu-0", "Healthy" if number % 2 else "Unhealthy", f"change {number}")
        found = await cluster.until(name, lambda pod: "change 100" in str(pod["status"]["containerStatuses"]))
        assert health_of(found, cluster.id("gpu-0")) == "Unhealthy"
        assert agent.metrics.writes["written"] < 50


async def test_a_pod_that_failed_before_its_device_was_found_broken(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        name = await train(cluster, life="Failed")
        found = await cluster.until(name, lambda pod: pod["status"]["phase"] == "Failed")
        assert health_of(found, cluster.id("gpu-0")) == "Healthy"
        assert found["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 1
        driver.set("gpu-0", "Unhealthy", "XID 79")
        await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")


async def test_a_crash_looping_pod(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        name = await train(cluster, life="CrashLoopBackOff")

        def loops(pod):
            states = [each.get("state") or {} for each in pod["status"].get("containerStatuses") or ()]
            return any((state.get("waiting") or {}).get("reason") == "CrashLoopBackOff" for state in states)

        await cluster.until(name, loops)
        driver.set("gpu-0", "Unhealthy", "XID 79")
        assert loops(await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy"))


async def test_a_pod_that_ends_well_and_one_that_is_deleted(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        done = await train(cluster, life="Succeeded")
        found = await cluster.until(done, lambda pod: pod["status"]["phase"] == "Succeeded")
        assert condition(found, "Ready")["reason"] == "PodCompleted"
        runs = await train(cluster, "gpu-1")
        found = await cluster.until(runs, lambda pod: pod["status"]["phase"] == "Running")
        assert len(driver.prepared) == 1
        await cluster.call("DELETE", f"{PODS}/{runs}")
        await cluster.until_gone(runs)
        assert driver.prepared == {}


async def test_a_readiness_gate_follows_the_devices(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        name = await train(cluster, spec={"readinessGates": [{"conditionType": conditions.TYPE}]})
        await cluster.until(name, lambda pod: (condition(pod, "Ready") or {}).get("status") == "True")
        driver.set("gpu-0", "Unhealthy")
        await cluster.until(name, lambda pod: condition(pod, "Ready")["status"] == "False")


async def test_500_spec_updates_converge(cluster, root):
    async with running(cluster, root):
        name = (await cluster.pod())["metadata"]["name"]
        await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
        seen = []
        for number in range(500):
            body = {"spec": {"containers": [{"name": "main", "image": f"train:{number + 2}"}]}}
            pod = await cluster.call("PATCH", f"{PODS}/{name}", body, STRATEGIC)
            seen.append(pod["status"]["observedGeneration"])
        assert pod["metadata"]["generation"] == 501
        assert seen == sorted(seen)
        await cluster.until(name, lambda pod: pod["status"]["observedGeneration"] == 501)


async def test_conditions_carry_the_generation(cluster, root):
    async with DraDriver(root, pool=cluster.node), running(cluster, root):
        name = await train(cluster)
        await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
        body = {"spec": {"containers": [{"name": "main", "image": "train:2"}]}}
        await cluster.call("PATCH", f"{PODS}/{name}", body, STRATEGIC)
        kinds = ("Ready", "ContainersReady", "Initialized", "PodScheduled", conditions.TYPE)

        def all_carry(pod):
            return all((condition(pod, kind) or {}).get("observedGeneration") == 2 for kind in kinds)

        assert (await cluster.until(name, all_carry))["status"]["observedGeneration"] == 2


async def test_the_feature_on_off_and_on_again(cluster, root):
    """On the node: what is off is left as it is, and followed again when it is on."""
    async with DraDriver(root, pool=cluster.node) as driver:
        async with running(cluster, root):
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
        async with running(cluster, root, gates={"ResourceHealthStatus": False}):
            driver.set("gpu-0", "Unhealthy")
            found = await cluster.until(name, lambda pod: condition(pod, conditions.TYPE)["status"] == "False")
            assert health_of(found, cluster.id("gpu-0")) == "Healthy"
        async with running(cluster, root):
            await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")


@pytest.mark.scenario(97)
async def test_a_server_whose_gate_is_off_is_noticed(root):
    """On the server: the field is dropped, which is noticed and not tried again and again."""
    with Server("--kubernetes-version", "1.34") as server:
        cluster = Cluster(server)
        try:
            async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root) as agent:
                name = await train(cluster)
                await cluster.until(name, lambda pod: condition(pod, conditions.TYPE))
                await eventually_async(lambda: "health" in agent.writer.paused())
                driver.set("gpu-0", "Unhealthy")
                found = await cluster.until(name, lambda pod: condition(pod, conditions.TYPE)["status"] == "False")
                assert health_of(found, cluster.id("gpu-0")) is None
                assert agent.metrics.writes["dropped"] == 1
        finally:
            await cluster.close()


@pytest.mark.parametrize("version", ["1.35", "1.36"])
async def test_other_releases(root, version):
    """1.35 has the gate off unless it is switched on; 1.36 takes messages too."""
    with Server("--kubernetes-version", version, "--feature-gates", "ResourceHealthStatus=true") as server:
        cluster = Cluster(server)
        try:
            async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root) as agent:
                name = await train(cluster)
                await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
                driver.set("gpu-0", "Unhealthy", "XID 79")
                found = await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")
                takes = version == "1.36"
                assert ("XID 79" in str(found["status"]["containerStatuses"])) == takes
                # The pod is there to be seen before the writer has its answer.
                paused = set() if takes else {"messages"}
                await eventually_async(lambda: agent.writer.paused() == paused)
        finally:
            await cluster.close()


@pytest.mark.scenario(125)
async def test_there_are_no_entries_before_everything_is_prepared(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root):
        driver.trouble["NodePrepareResources"] = "hang"
        name = await train(cluster)
        await driver.until_asked("NodePrepareResources")
        found = await cluster.until(name, lambda pod: condition(pod, conditions.TYPE))
        await asyncio.sleep(0.3)
        found = await cluster.get(name)
        assert all("allocatedResourcesStatus" not in each for each in found["status"].get("containerStatuses") or ())


@pytest.mark.scenario(128)
async def test_a_simulated_node_is_one_that_controllers_keep_ready(cluster, root, monkeypatch):
    monkeypatch.setattr(simulated_node, "RENEW", 0.5)
    async with running(cluster, root, recheck=3600.0), DevicePlugin(root, RESOURCE, 4) as plugin:

        async def node():
            answer = await cluster.api.request("GET", f"/api/v1/nodes/{cluster.node}")
            return answer.body if answer.code == 200 and condition(answer.body, "Ready") else None

        found = await eventually_async(node)
        assert condition(found, "Ready")["status"] == "True"
        assert condition(found, "Ready")["lastHeartbeatTime"]
        assert found["metadata"]["labels"]["kubernetes.io/hostname"] == cluster.node
        assert {"cpu", "memory", "pods", "ephemeral-storage"} <= found["status"]["allocatable"].keys()
        assert {each["type"] for each in found["status"]["addresses"]} == {"InternalIP", "Hostname"}
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{cluster.node}"

        async def lease():
            answer = await cluster.api.request("GET", path)
            return answer.body if answer.code == 200 else None

        spec = (await eventually_async(lease))["spec"]
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == (cluster.node, 40)
        plugin.set("gpu-1", "Unhealthy")

        async def counted():
            status = (await node())["status"]
            return (status["capacity"].get(RESOURCE), status["allocatable"].get(RESOURCE)) == ("4", "3")

        await eventually_async(counted)

        async def renewed():
            return (await lease())["spec"]["renewTime"] > spec["renewTime"]

        await eventually_async(renewed)
    async with running(cluster, root, role="owner") as agent:
        assert agent.role.name == "owner"  # it is not taken for a kubelet's


@pytest.mark.scenario(129)
async def test_a_pod_that_cannot_run_on_the_node_is_rejected(cluster, root):
    async with running(cluster, root):
        wants = {"requests": {"cpu": "1000"}}
        name = (await cluster.pod(containers=[{"name": "main", "resources": wants}]))["metadata"]["name"]
        found = await cluster.until(name, lambda pod: pod["status"]["phase"] == "Failed")
        status = found["status"]
        assert status["reason"] == "OutOfcpu"
        text = "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: 8000"
        assert status["message"] == text
        assert status["observedGeneration"] == found["metadata"]["generation"] == 1
        assert "containerStatuses" not in status
        assert condition(found, "Ready") is None
        (event,) = await eventually_async(lambda: cluster.events(name, "OutOfcpu"))
        assert (event["type"], event["message"], event["count"]) == ("Warning", text.removeprefix("Pod was rejected: "), 1)
        other = (await cluster.pod(spec={"nodeSelector": {"kubernetes.io/hostname": "elsewhere"}}))["metadata"]["name"]
        found = await cluster.until(other, lambda pod: pod["status"]["phase"] == "Failed")
        assert found["status"]["reason"] == "NodeAffinity"
        await cluster.call("DELETE", f"{PODS}/{name}")
        await cluster.until_gone(name)


@pytest.mark.scenario(130)
async def test_a_resize_is_in_progress_and_then_done(cluster, root):
    async with running(cluster, root):
        before, after = ({"requests": {"cpu": each}, "limits": {"cpu": each}} for each in ("1", "2"))
        name = (await cluster.pod(containers=[{"name": "main", "resources": before}]))["metadata"]["name"]
        found = await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
        assert found["status"]["containerStatuses"][0]["resources"] == before
        body = {"spec": {"containers": [{"name": "main", "resources": after}]}}
        await cluster.call("PATCH", f"{PODS}/{name}/resize", body, STRATEGIC)
        found = await cluster.until(name, lambda pod: condition(pod, "PodResizeInProgress"))
        assert condition(found, "PodResizeInProgress")["observedGeneration"] == found["metadata"]["generation"] == 2
        assert found["status"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "2"}
        assert found["status"]["containerStatuses"][0]["resources"] == before
        found = await cluster.until(name, lambda pod: not condition(pod, "PodResizeInProgress"))
        assert found["status"]["containerStatuses"][0]["resources"] == after
        assert found["status"]["observedGeneration"] == 2
        assert condition(found, "Ready")["observedGeneration"] == 2


@pytest.mark.scenario(130)
async def test_pods_on_the_host_network_have_its_address(cluster, root):
    async with running(cluster, root):
        on_host = (await cluster.pod(spec={"hostNetwork": True}))["metadata"]["name"]
        inside = (await cluster.pod())["metadata"]["name"]
        found = await cluster.until(on_host, lambda pod: pod["status"]["phase"] == "Running")
        other = await cluster.until(inside, lambda pod: pod["status"]["phase"] == "Running")
        assert found["status"]["podIP"] == found["status"]["hostIP"] == other["status"]["hostIP"]
        assert found["status"]["podIPs"] == [{"ip": found["status"]["hostIP"]}]
        assert other["status"]["podIP"] != other["status"]["hostIP"]


@pytest.mark.scenario(71)
async def test_five_hundred_updates_against_a_server(cluster, root):
    async with running(cluster, root):
        name = (await cluster.pod())["metadata"]["name"]
        await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
        for number in range(500):
            patch = [{"op": "replace", "path": "/spec/containers/0/image", "value": f"train:{number}"}]
            await cluster.call("PATCH", f"{PODS}/{name}", patch, JSON_PATCH)
        found = await cluster.until(name, lambda pod: pod["status"].get("observedGeneration") == 501)
        assert found["metadata"]["generation"] == 501


async def test_a_pod_on_another_node_is_not_touched(cluster, root):
    async with running(cluster, root):
        other = await cluster.pod(node="elsewhere")
        mine = await cluster.pod()
        await cluster.until(mine["metadata"]["name"], lambda pod: pod["status"]["phase"] == "Running")
        found = await cluster.get(other["metadata"]["name"])
        assert found["metadata"]["resourceVersion"] == other["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"method": "PATCH", "answer": 409, "times": 8}, id="409"),
        pytest.param({"method": "PATCH", "answer": 429, "times": 1}, id="429"),
        pytest.param({"method": "PATCH", "answer": 500, "times": 2}, id="500"),
        pytest.param({"method": "PATCH", "answer": 503, "times": 1}, id="503"),
        pytest.param({"method": "PATCH", "hang": 0.5}, id="slow"),
        pytest.param({"method": "WATCH", "answer": 410, "times": 2}, id="410"),
        pytest.param({"method": "WATCH", "drop": 0.01, "times": 2}, id="cut-off"),
    ],
)
async def test_a_server_in_trouble(cluster, root, fault):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root) as agent:
        if fault["method"] == "WATCH":
            for connection in list(agent.api._open):
                connection.close()
        await cluster.fault(resource="pods", **fault)
        try:
            name = await train(cluster)
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")
            await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
        finally:
            await cluster.no_faults()
