"""Claims that cannot be prepared, for now or for ever (KEP-5322), against `podstrat serve`."""

from __future__ import annotations

import asyncio
import os

import pytest

from podstrat.node import planner
from podstrat.node.drivers.protocols.serving import CallRefused
from podstrat.node.owner import prepare
from podstrat.node.simulator.driver import DraDriver, Failure
from tests.eventually import eventually_async
from tests.node.cluster import PODS, condition, running

ON = {"gates": {prepare.GATE: True}}
QUICK = prepare.Settings(first_retry=0.02, longest_retry=0.1)


def prepares(driver):
    return sum(call == "NodePrepareResources" for call, _ in driver.asked)


async def failing(cluster, driver, failure, devices=("gpu-0",), claims=("gpu",), bad=0):
    """A pod, one of whose claims its driver fails to prepare. The claim is there before the pod, so that it can be told of."""
    pod = await cluster.pod(claims=list(claims))
    made = [await cluster.claim(pod, own, devices, reserve=False) for own in claims]
    driver.failures[made[bad]["metadata"]["uid"]] = failure
    for claim in made:
        await reserve(cluster, claim, pod)
    return pod, made


async def reserve(cluster, claim, pod):
    path = f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{claim['metadata']['name']}/status"
    reserved = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]
    await cluster.call("PATCH", path, {"status": {"reservedFor": reserved}}, "application/merge-patch+json")


async def failed(cluster, pod):
    return await cluster.until(pod["metadata"]["name"], lambda pod: pod["status"]["phase"] == "Failed")


@pytest.mark.scenario(79)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_permanent_error_fails_the_pod_once(cluster, root, version):
    async with DraDriver(root, pool=cluster.node, prepares=(version,)) as driver, running(cluster, root, **ON) as agent:
        pod, (claim,) = await failing(cluster, driver, Failure("no such firmware", True))
        found = await failed(cluster, pod)
        name = pod["metadata"]["name"]
        why = f"claim default/{claim['metadata']['name']}: driver gpu.example.com: no such firmware"
        status = found["status"]
        assert (status["reason"], status["message"]) == (
            "PermanentDriverFailure",
            f"Preparing dynamic resources failed permanently: {why}",
        )
        assert status["observedGeneration"] == 1
        assert condition(found, planner.FAILED)["status"] == "True"
        assert condition(found, planner.FAILED)["observedGeneration"] == 1
        await asyncio.sleep(0.3)  # long enough for a second prepare, if there were one
        assert prepares(driver) == 1
        assert driver.prepared == {}
        events = [(each["type"], each["reason"], each["message"]) for each in await cluster.events(name)]
        text = f"Failed to prepare dynamic resources permanently, not retried: {why}"
        assert events == [("Warning", "FailedPrepareDynamicResources", text)]
        assert (agent.preparer.tasks(), agent.preparer.records()) == (0, 0)


@pytest.mark.scenario(80)
async def test_a_transient_error_is_tried_again_until_it_is_none(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root, preparing=QUICK, **ON) as agent:
        slept, clock = [], agent.clock
        nap = clock.sleep

        async def noted(seconds):
            slept.append(seconds)
            await nap(seconds)

        agent.preparer.clock = type("Noting", (), {"sleep": staticmethod(noted), "now": clock.now})()
        pod, (claim,) = await failing(cluster, driver, Failure("busy"))
        await driver.until_asked("NodePrepareResources", 5)
        assert (await cluster.get(pod["metadata"]["name"]))["status"]["phase"] == "Pending"
        driver.failures.clear()
        await cluster.until(pod["metadata"]["name"], lambda pod: pod["status"]["phase"] == "Running")
        # Each is spread over the upper half of what it could be at most: 20, 40, 80, 100 ms.
        for pause, longest in zip(slept, (0.02, 0.04, 0.08, 0.1), strict=False):
            assert longest / 2 <= pause <= longest
        assert len(await cluster.events(pod["metadata"]["name"])) == 1
        assert claim["metadata"]["uid"] in driver.prepared


@pytest.mark.scenario(82)
async def test_of_two_claims_one_is_permanent_and_both_are_given_back(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root, **ON):
        pod, claims = await failing(cluster, driver, Failure("no", True), claims=("good", "bad"), bad=1)
        await failed(cluster, pod)
        back = {each.uid for call, request in driver.asked if call == "NodeUnprepareResources" for each in request.claims}
        assert back == {claim["metadata"]["uid"] for claim in claims}
        assert driver.prepared == {}


@pytest.mark.scenario(83)
async def test_another_instance_of_the_driver_gets_the_unprepare(cluster, root):
    first = DraDriver(root, pool=cluster.node, instance="1")
    second = DraDriver(root, pool=cluster.node, instance="2")
    async with first, running(cluster, root, preparing=QUICK, **ON):
        first.trouble["NodeUnprepareResources"] = CallRefused("UNAVAILABLE", "going away")
        pod, _ = await failing(cluster, first, Failure("no", True))
        await first.until_asked("NodeUnprepareResources")
        assert (await cluster.get(pod["metadata"]["name"]))["status"]["phase"] == "Pending"
        async with second:
            await failed(cluster, pod)
            assert prepares(second) == 0
            await cluster.call("DELETE", f"{PODS}/{pod['metadata']['name']}")
            await cluster.until_gone(pod["metadata"]["name"])


@pytest.mark.scenario(84)
async def test_the_pod_is_failed_only_when_everything_is_given_back(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root, preparing=QUICK, **ON):
        driver.trouble["NodeUnprepareResources"] = CallRefused("INTERNAL", "not now")
        pod, _ = await failing(cluster, driver, Failure("no", True))
        await driver.until_asked("NodeUnprepareResources", 3)
        assert (await cluster.get(pod["metadata"]["name"]))["status"]["phase"] == "Pending"
        driver.trouble.clear()
        await failed(cluster, pod)
        assert prepares(driver) == 1


@pytest.mark.scenario(85)
async def test_a_restart_between_the_error_and_the_write(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver:
        driver.trouble["NodeUnprepareResources"] = CallRefused("INTERNAL", "not now")
        async with running(cluster, root, preparing=QUICK, **ON):
            pod, _ = await failing(cluster, driver, Failure("no", True))
            await driver.until_asked("NodeUnprepareResources")
        driver.trouble.clear()
        async with running(cluster, root, preparing=QUICK, **ON):
            await failed(cluster, pod)
        assert prepares(driver) <= 2
        assert driver.prepared == {}


@pytest.mark.scenario(86)
@pytest.mark.patience(300)
async def test_200_pods_leave_nothing_behind(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver, running(cluster, root, **ON) as agent:
        before = len(os.listdir("/proc/self/fd"))
        tasks = len(asyncio.all_tasks())
        names = []
        for _ in range(25):
            made = await asyncio.gather(*(failing(cluster, driver, Failure("no", True)) for _ in range(8)))
            names += [pod["metadata"]["name"] for pod, _ in made]
        url = f"{PODS}?fieldSelector=spec.nodeName%3D{cluster.node}"
        await eventually_async(lambda: cluster.all_failed(url), 300.0, 0.1)
        assert driver.prepared == {}
        for start in range(0, 200, 8):
            await asyncio.gather(*(cluster.call("DELETE", f"{PODS}/{name}") for name in names[start : start + 8]))
        await eventually_async(lambda: cluster.is_empty(url), 300.0, 0.1)
        await eventually_async(lambda: not agent.inventory.uids())
        await eventually_async(lambda: not agent.preparer.tasks() and not agent.preparer.tracked() and not agent.writer.tracked())
        assert agent.preparer.records() == 0
        assert agent.persistence.prepared.rows() == []
        # connections are being closed
        await eventually_async(lambda: len(asyncio.all_tasks()) <= tasks + 5 and len(os.listdir("/proc/self/fd")) <= before + 10)


@pytest.mark.scenario(87)
async def test_the_gate_off_and_on_again(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver:
        async with running(cluster, root, preparing=QUICK):
            pod, _ = await failing(cluster, driver, Failure("no", True))
            await driver.until_asked("NodePrepareResources", 3)
            assert (await cluster.get(pod["metadata"]["name"]))["status"]["phase"] == "Pending"
        async with running(cluster, root, preparing=QUICK, **ON):
            await failed(cluster, pod)
        async with running(cluster, root, preparing=QUICK):
            other, _ = await failing(cluster, driver, Failure("no", True))
            calls = prepares(driver)
            await driver.until_asked("NodePrepareResources", calls + 2)
            assert (await cluster.get(other["metadata"]["name"]))["status"]["phase"] == "Pending"
            assert (await cluster.get(pod["metadata"]["name"]))["status"]["phase"] == "Failed"


async def test_a_driver_that_is_not_there_is_waited_for(cluster, root):
    async with running(cluster, root, preparing=QUICK, **ON):
        pod = await cluster.pod(claims=["gpu"])
        await cluster.claim(pod, "gpu", ["gpu-0"])
        name = pod["metadata"]["name"]
        (event,) = await eventually_async(lambda: cluster.events(name))
        assert event["message"] == "Failed to prepare dynamic resources: DRA driver gpu.example.com is not registered"
        async with DraDriver(root, pool=cluster.node):
            await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")


async def test_a_permanent_error_counts_more_than_a_transient_one(cluster, root):
    one, two = DraDriver(root, "one.example.com", pool=cluster.node), DraDriver(root, "two.example.com", pool=cluster.node)
    async with one, two, running(cluster, root, **ON):
        one.trouble["NodePrepareResources"] = CallRefused("UNAVAILABLE", "busy")
        pod = await cluster.pod(claims=["a", "b"])
        first = await cluster.claim(pod, "a", ["gpu-0"], driver="one.example.com", reserve=False)
        second = await cluster.claim(pod, "b", ["gpu-0"], driver="two.example.com", reserve=False)
        two.failures[second["metadata"]["uid"]] = Failure("no", True)
        for claim in (first, second):
            await reserve(cluster, claim, pod)
        found = await failed(cluster, pod)
        assert "two.example.com: no" in found["status"]["message"]


async def test_what_was_prepared_is_not_prepared_again_after_a_restart_and_is_given_back(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver:
        async with running(cluster, root):
            pod = await cluster.pod(claims=["gpu"])
            await cluster.claim(pod, "gpu", ["gpu-0"])
            name = pod["metadata"]["name"]
            await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
        await cluster.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        async with running(cluster, root):
            await driver.until_asked("NodeUnprepareResources")
        assert prepares(driver) == 1
        assert driver.prepared == {}
