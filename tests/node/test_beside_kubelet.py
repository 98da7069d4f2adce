"""Beside a kubelet: what the condition says, against a stand-in that writes what kubelet 1.37 was recorded to write."""

from __future__ import annotations

import asyncio

import pytest

from podstrat.node.simulator.driver import Device, DevicePlugin, DraDriver
from podstrat.node.status import condition as conditions
from tests.eventually import eventually_async
from tests.node.cluster import DRIVER, PODS, STRATEGIC, condition, running
from tests.node.kubelet import StandInKubelet

RESOURCE = "example.com/gpu"
GATE = {"readinessGates": [{"conditionType": conditions.TYPE}]}
BESIDE = {"simulate_lifecycle": False}
LISTEN = {**BESIDE, "listen_to": frozenset({DRIVER})}
DEBOUNCE = 0.2


def state(pod):
    found = condition(pod, conditions.TYPE)
    return found and found["status"]


def message(pod):
    return condition(pod, conditions.TYPE).get("message", "")


async def claiming(cluster, driver, *names, spec=GATE):
    """A pod with a claim, whose devices the driver knows."""
    pod = await cluster.pod(claims=["gpu"], spec=spec)
    claim = await cluster.claim(pod, "gpu", names)
    driver.allocated[claim["metadata"]["uid"]] = [Device("gpu", cluster.node, each) for each in names]
    return pod["metadata"]["name"]


async def requesting(cluster, count=2):
    wants = {"limits": {RESOURCE: str(count)}, "requests": {RESOURCE: str(count)}}
    pod = await cluster.pod(containers=[{"name": "main", "resources": wants}], spec=GATE)
    return pod["metadata"]["name"]


class States:
    """Every status that the condition of a pod goes through, by a watch."""

    def __init__(self, cluster, name):
        self.seen = []
        self._task = asyncio.ensure_future(self._follow(cluster, name))

    async def _follow(self, cluster, name):
        url = f"{PODS}?watch=1&fieldSelector=metadata.name%3D{name}&timeoutSeconds=300"
        async for event in cluster.api.watch(url, 300.0):
            if (found := state(event["object"])) and self.seen[-1:] != [found]:
                self.seen.append(found)

    async def __aenter__(self):
        await eventually_async(lambda: self.seen)
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.wait({self._task})


@pytest.mark.scenario(113)
async def test_devices_of_claims_are_found_under_their_cdi_ids(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, StandInKubelet(cluster, root) as kubelet:
        name = await claiming(cluster, driver, "gpu-0", "gpu-1", "gpu-2")
        async with running(cluster, root, **BESIDE):
            await kubelet.run(name)
            await cluster.until(name, lambda pod: state(pod) == "True")
            await kubelet.sync(name)
            await cluster.until(name, lambda pod: condition(pod, "Ready")["status"] == "True")
            driver.set("gpu-1", "Unhealthy", "XID 79")
            found = await cluster.until(name, lambda pod: state(pod) == "False")
            assert message(found) == f"{cluster.id('gpu-1')}: XID 79"
            driver.set("gpu-1", "Healthy")
            await cluster.until(name, lambda pod: state(pod) == "True")


def shared(uid, device):
    """One ID for the first two devices."""
    return [f"vendor.example.com/test=claim-{uid}-{'gpus' if device.name < 'gpu-2' else 'extra'}"]


@pytest.mark.scenario(114)
async def test_a_device_that_the_kubelet_hides_is_not_taken_for_another(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, StandInKubelet(cluster, root) as kubelet:
        driver.cdi_ids = shared
        name = await claiming(cluster, driver, "gpu-0", "gpu-1", "gpu-2")
        async with running(cluster, root, settle=1.0, **BESIDE):
            await kubelet.run(name)
            found = await cluster.until(name, lambda pod: state(pod) == "Unknown" and "gpu-0" not in message(pod))
            assert message(found) == cluster.id("gpu-1")
        async with running(cluster, root, **LISTEN):
            await cluster.until(name, lambda pod: state(pod) == "True")
            driver.set("gpu-1", "Unhealthy", "XID 48")
            found = await cluster.until(name, lambda pod: state(pod) == "False")
            assert message(found) == f"{cluster.id('gpu-1')}: XID 48"
        shown = [
            each for entry in found["status"]["containerStatuses"][0]["allocatedResourcesStatus"] for each in entry["resources"]
        ]
        assert len(shown) == 2


@pytest.mark.scenario(115)
async def test_a_kubelet_that_restarts_makes_no_device_healthy(cluster, root):
    async with StandInKubelet(cluster, root) as kubelet:
        plugin = DevicePlugin(root, RESOURCE)
        await plugin.start()
        await eventually_async(lambda: kubelet.lists.get(RESOURCE))
        name = await requesting(cluster)
        await kubelet.run(name, {"main": {RESOURCE: ["gpu-6", "gpu-7"]}})
        async with running(cluster, root, **BESIDE, debounce=DEBOUNCE):
            await cluster.until(name, lambda pod: state(pod) == "True")
            plugin.set("gpu-7", "Unhealthy")
            await cluster.until(name, lambda pod: state(pod) == "False")
            await eventually_async(lambda: cluster.events(name, "DeviceUnhealthy"))
            async with States(cluster, name) as states:
                await plugin.stop()
                await kubelet.restart()
                await cluster.until(name, lambda pod: state(pod) == "Unknown")
                assert "True" not in states.seen
                assert not await cluster.events(name, "DeviceRecovered")
            await plugin.start()
            await cluster.until(name, lambda pod: state(pod) == "False")
            plugin.set("gpu-7", "Healthy")
            await cluster.until(name, lambda pod: state(pod) == "True")
            await eventually_async(lambda: cluster.events(name, "DeviceRecovered"))
        await plugin.stop()


@pytest.mark.scenario(116)
async def test_devices_of_a_plugin_that_is_gone_are_lost(cluster, root):
    async with StandInKubelet(cluster, root) as kubelet, DevicePlugin(root, RESOURCE) as plugin:
        await eventually_async(lambda: kubelet.lists.get(RESOURCE))
        name = await requesting(cluster)
        await kubelet.run(name, {"main": {RESOURCE: ["gpu-6", "gpu-7"]}})
        async with running(cluster, root, **BESIDE) as agent:
            await cluster.until(name, lambda pod: state(pod) == "True")
            plugin.remove("gpu-7")  # the kubelet shows it as Healthy from now on
            await kubelet.sync(name)
            agent.podresources.wake()
            found = await cluster.until(name, lambda pod: state(pod) == "Unknown")
            assert message(found) == "gpu-7"
            await plugin.stop()
            await eventually_async(lambda: not kubelet.connected[RESOURCE])
            await kubelet.sync(name)
            agent.podresources.wake()
            found = await cluster.until(name, lambda pod: message(pod) == "gpu-6; gpu-7")
            assert state(found) == "Unknown"


@pytest.mark.scenario(117)
@pytest.mark.parametrize("ids", [pytest.param(True, id="cdi"), pytest.param(False, id="no-cdi")])
async def test_the_stale_word_of_the_kubelet_is_not_put_over_a_lost_driver(cluster, root, ids):
    async with StandInKubelet(cluster, root) as kubelet, DraDriver(root, pool=cluster.node) as driver:
        if not ids:
            driver.cdi_ids = lambda uid, device: []
        name = await claiming(cluster, driver, "gpu-0")
        await kubelet.run(name)
        async with running(cluster, root, **LISTEN):
            await cluster.until(name, lambda pod: state(pod) == "True")
            async with States(cluster, name) as states:
                await driver.stop()
                found = await cluster.until(name, lambda pod: state(pod) == "Unknown")
                entry = found["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0]
                assert entry["resources"][0]["health"] == "Healthy"  # until its next sync
                await asyncio.sleep(0.7)
                assert states.seen == ["True", "Unknown"]
        # Nor after a restart of the writer.
        async with running(cluster, root, **LISTEN, settle=0.0), States(cluster, name) as states:
            await asyncio.sleep(0.5)
            assert states.seen == ["Unknown"]


@pytest.mark.scenario(118)
@pytest.mark.parametrize("checkpoint", [pytest.param(True, id="checkpoint"), pytest.param(False, id="no-checkpoint")])
async def test_a_restart_of_the_writer_keeps_the_condition(cluster, root, checkpoint):
    async with StandInKubelet(cluster, root) as kubelet, DraDriver(root, pool=cluster.node) as driver:
        driver.cdi_ids = shared
        name = await claiming(cluster, driver, "gpu-0", "gpu-1")
        await kubelet.run(name)
        async with running(cluster, root, **LISTEN):
            await cluster.until(name, lambda pod: state(pod) == "True")
        if not checkpoint:
            (root / "state" / "health").unlink()
        async with States(cluster, name) as states:
            driver.trouble["NodeWatchResources"] = "hang"  # the driver does not speak yet
            async with running(cluster, root, **LISTEN):
                await asyncio.sleep(0.5)
                assert states.seen == ["True"]
            driver.trouble.clear()
            async with running(cluster, root, **LISTEN):
                await eventually_async(lambda: len(driver.audience) == 2)
                driver.set("gpu-1", "Unhealthy", "XID 79")
                await cluster.until(name, lambda pod: state(pod) == "False")
            await eventually_async(lambda: states.seen[-1] == "False")
            assert states.seen == ["True", "False"]


@pytest.mark.scenario(118)
async def test_the_time_of_a_stored_condition_is_over(cluster, root):
    async with StandInKubelet(cluster, root) as kubelet, DraDriver(root, pool=cluster.node) as driver:
        driver.cdi_ids = shared
        name = await claiming(cluster, driver, "gpu-0", "gpu-1")
        await kubelet.run(name)
        async with running(cluster, root, **LISTEN):
            await cluster.until(name, lambda pod: state(pod) == "True")
        (root / "state" / "health").unlink()
        driver.trouble["NodeWatchResources"] = "hang"
        async with running(cluster, root, **LISTEN, settle=0.5):
            found = await cluster.until(name, lambda pod: state(pod) == "Unknown")
            assert message(found) == cluster.id("gpu-1")


@pytest.mark.scenario(119)
async def test_what_was_known_of_a_failed_pod_stays_over_a_restart(cluster, root):
    async with StandInKubelet(cluster, root) as kubelet, DraDriver(root, pool=cluster.node) as driver:
        name = await claiming(cluster, driver, "gpu-0")
        async with running(cluster, root, **BESIDE):
            await kubelet.run(name)
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await cluster.until(name, lambda pod: state(pod) == "False")
            await kubelet.fail(name)
            found = await cluster.until(name, lambda pod: pod["status"]["phase"] == "Failed")
            assert "allocatedResourcesStatus" not in found["status"]["containerStatuses"][0]
            await asyncio.sleep(0.5)
        async with running(cluster, root, **BESIDE), States(cluster, name) as states:
            await asyncio.sleep(0.5)
            assert states.seen == ["False"]
        assert message(await cluster.get(name)) == f"{cluster.id('gpu-0')}: XID 79"


@pytest.mark.scenario(120)
async def test_health_of_device_plugins_is_taken_from_the_watch(cluster, root):
    """Four changes, and no poll of podresources among them."""
    async with StandInKubelet(cluster, root) as kubelet, DevicePlugin(root, RESOURCE) as plugin:
        await eventually_async(lambda: kubelet.lists.get(RESOURCE))
        name = await requesting(cluster)
        await kubelet.run(name, {"main": {RESOURCE: ["gpu-6", "gpu-7"]}})
        async with running(cluster, root, **BESIDE) as agent:
            agent.podresources.period = 3600.0
            await cluster.until(name, lambda pod: state(pod) == "True")
            for health, wanted in (("Unhealthy", "False"), ("Healthy", "True")) * 2:
                plugin.set("gpu-7", health)
                await cluster.until(name, lambda pod, wanted=wanted: state(pod) == wanted)


@pytest.mark.scenario(127)
async def test_an_unhealthy_device_is_not_reported_again_after_a_restart(cluster, root):
    async with StandInKubelet(cluster, root) as kubelet, DraDriver(root, pool=cluster.node) as driver:
        name = await claiming(cluster, driver, "gpu-0")
        await kubelet.run(name)
        async with running(cluster, root, **LISTEN, debounce=DEBOUNCE):
            await cluster.until(name, lambda pod: state(pod) == "True")
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await eventually_async(lambda: cluster.events(name, "DeviceUnhealthy"))
        async with running(cluster, root, **LISTEN, debounce=DEBOUNCE):
            await eventually_async(lambda: len(driver.audience) == 2)
            await asyncio.sleep(DEBOUNCE + 0.5)
            (event,) = await cluster.events(name, "DeviceUnhealthy")
            assert event["count"] == 1


def failed_prepare(name, uid, text, component="kubelet"):
    """The kubelet's event: it repeats the driver's error."""
    where = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": name, "uid": uid}
    return {
        "metadata": {"generateName": f"{name}-"},
        "involvedObject": where,
        "reason": "FailedPrepareDynamicResources",
        "type": "Warning",
        "message": f"Failed to prepare dynamic resources: NodePrepareResources failed for ResourceClaim c: {text}",
        "reportingComponent": component,
        "source": {"component": component, "host": "n1"},
    }


@pytest.mark.scenario(131)
async def test_a_permanent_error_is_reported_and_the_pod_is_the_kubelets_to_fail(cluster, root):
    gate = {**BESIDE, "gates": {"DRAHandlePermanentDriverFailures": True}}
    kind = "podstrat.dev/PermanentDriverFailure"
    async with StandInKubelet(cluster, root), running(cluster, root, **gate):
        pods = [await cluster.pod(claims=["gpu"]) for _ in range(3)]
        names = [each["metadata"]["name"] for each in pods]
        texts = ["PermanentDriverFailure: no firmware", "PermanentDriverFailure: not the kubelet's", "busy, try again"]
        for pod, text, component in zip(pods, texts, ("kubelet", "other", "kubelet"), strict=True):
            event = failed_prepare(pod["metadata"]["name"], pod["metadata"]["uid"], text, component)
            await cluster.call("POST", "/api/v1/namespaces/default/events", event)
        found = await cluster.until(names[0], lambda pod: condition(pod, kind))
        assert condition(found, kind)["status"] == "True"
        assert condition(found, kind)["reason"] == "PermanentDriverFailure"
        assert condition(found, kind)["message"] == "no firmware"
        assert condition(found, kind)["observedGeneration"] == 1
        assert found["status"]["phase"] == "Pending"
        (event,) = await eventually_async(lambda: cluster.events(names[0], "PermanentDriverFailure"))
        assert event["message"] == "Preparing dynamic resources failed permanently: no firmware"
        await asyncio.sleep(0.3)
        assert [condition(await cluster.get(name), kind) for name in names[1:]] == [None, None]
        running_now = {"status": {"phase": "Running"}}
        await cluster.call("PATCH", f"{PODS}/{names[0]}/status", running_now, STRATEGIC)
        await cluster.until(names[0], lambda pod: condition(pod, kind)["status"] == "False")
