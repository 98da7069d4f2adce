"""driver-sim as a process, with a kubelet that reads slices and CDI specs, prepares by the API's claims, and restarts."""

from __future__ import annotations

import asyncio
import sys

import pytest

from podstrat.node.drivers.protocols import dra
from tests.eventually import eventually_async
from tests.node.cluster import DRIVER
from tests.node.kubelet import SLICES, StandInKubelet

RESOURCE = "example.com/gpu"


class DriverSim:
    """`podstrat driver-sim`, told what to do by its standard input."""

    def __init__(self, cluster, root, *more):
        self._arguments = [
            *("-m", "podstrat", "driver-sim", "--root", str(root), "--driver", DRIVER, "--resource", RESOURCE),
            *("--kubeconfig", str(cluster.server.kubeconfig), "--node", cluster.node, "--pool", cluster.node),
            *("--cdi-dir", str(root / "cdi"), "--devices", "4", *more),
        ]

    async def __aenter__(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(sys.executable, *self._arguments, stdin=pipe, stdout=pipe)
        return self

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.terminate()
        await self.process.wait()
        self.process.stdin.close()

    async def ready(self):
        assert await self.process.stdout.readline() == b"ready\n"

    async def do(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        assert await self.process.stdout.readline() == b"ok\n"


async def slices(cluster):
    found = [each["spec"] for each in (await cluster.call("GET", SLICES))["items"]]
    return [each for each in found if each["driver"] == DRIVER and each.get("nodeName") == cluster.node]


async def offered(cluster):
    return [[device["name"] for device in each.get("devices") or ()] for each in await slices(cluster)]


async def make_node(cluster):
    await cluster.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": cluster.node}})


@pytest.mark.scenario(121)
async def test_claims_are_prepared_by_what_the_api_server_says(cluster, root):
    await make_node(cluster)
    async with StandInKubelet(cluster, root, root / "cdi") as kubelet, DriverSim(cluster, root) as driver:
        await driver.ready()
        names = ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]
        await eventually_async(lambda: offered(cluster))
        assert await offered(cluster) == [names]
        pod = await cluster.pod(claims=["gpu"])
        name = pod["metadata"]["name"]
        claim = await cluster.claim(pod, "gpu", ["gpu-1", "gpu-2"])
        await eventually_async(lambda: ("gpu.example.com", cluster.node, "gpu-1") in kubelet.dra)
        await kubelet.run(name)
        uid = claim["metadata"]["uid"]
        assert [(each.name, each.requests, each.cdi) for each in kubelet.claims[name][f"{name}-gpu"]] == [
            ("gpu-1", ("gpu",), (f"{DRIVER}/gpu={uid}-gpu-1",)),
            ("gpu-2", ("gpu",), (f"{DRIVER}/gpu={uid}-gpu-2",)),
        ]
        entry = (await cluster.get(name))["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0]
        assert {each["resourceID"] for each in entry["resources"]} == {f"{DRIVER}/gpu={uid}-gpu-{n}" for n in (1, 2)}
        assert sorted(path.name for path in (root / "cdi").iterdir()) == ["example.com-gpu.json", f"{DRIVER}-gpu_{uid}.json"]
        await kubelet.unprepare(name)
        assert sorted(path.name for path in (root / "cdi").iterdir()) == ["example.com-gpu.json"]


@pytest.mark.scenario(121)
@pytest.mark.parametrize(
    "devices, driver, why",
    [
        pytest.param(["gpu-9"], DRIVER, "no such device: gpu-9", id="unknown-device"),
        pytest.param(None, DRIVER, "is not allocated", id="not-allocated"),
    ],
)
async def test_a_claim_that_does_not_fit_is_refused(cluster, root, devices, driver, why):
    await make_node(cluster)
    async with StandInKubelet(cluster, root, root / "cdi") as kubelet, DriverSim(cluster, root) as sim:
        await sim.ready()
        pod = await cluster.pod(claims=["gpu"])
        claim = await cluster.claim(pod, "gpu", devices or ["gpu-0"], driver=driver)
        if devices is None:
            path = f"/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/{claim['metadata']['name']}/status"
            await cluster.call("PUT", path, {**claim, "status": {}})
        plugin = await eventually_async(lambda: kubelet.drivers.newest(DRIVER))
        asked = dra.Claim("default", claim["metadata"]["name"], claim["metadata"]["uid"])
        result = (await dra.prepare(plugin.endpoint, plugin.prepares, [asked]))[asked.uid]
        assert why in result.error
        assert not result.permanent
        other = (await dra.prepare(plugin.endpoint, plugin.prepares, [asked._replace(uid="other")]))["other"]
        assert "has another UID" in other.error


@pytest.mark.scenario(122)
async def test_a_restart_of_the_kubelet(cluster, root):
    await make_node(cluster)
    async with StandInKubelet(cluster, root, root / "cdi") as kubelet, DriverSim(cluster, root) as driver:
        await driver.ready()
        await eventually_async(lambda: offered(cluster))
        await kubelet.restart()
        assert await slices(cluster) == []
        await eventually_async(lambda: kubelet.lists.get(RESOURCE) and kubelet.drivers.newest(DRIVER))
        await eventually_async(lambda: offered(cluster))
        await driver.do("health gpu-2 Unhealthy")
        await eventually_async(lambda: kubelet.lists[RESOURCE]["gpu-2"] == "Unhealthy")
        given, edits = await kubelet.allocate(RESOURCE, ["gpu-0", "gpu-3"])
        assert given.envs == {"DEVICES": "gpu-0,gpu-3"}
        assert [each["env"] for each in edits] == [["DEVICE_GPU_0=gpu-0"], ["DEVICE_GPU_3=gpu-3"]]
        assert given.nodes == ()  # there are no such device nodes


@pytest.mark.scenario(122)
async def test_a_kubelet_that_comes_later(cluster, root):
    await make_node(cluster)
    async with DriverSim(cluster, root) as driver:
        await asyncio.sleep(0.5)
        async with StandInKubelet(cluster, root, root / "cdi") as kubelet:
            await driver.ready()
            await eventually_async(lambda: kubelet.lists.get(RESOURCE))


@pytest.mark.scenario(123)
async def test_devices_come_and_go_in_the_slices(cluster, root):
    await make_node(cluster)
    async with StandInKubelet(cluster, root, root / "cdi"), DriverSim(cluster, root) as driver:
        await driver.ready()
        await eventually_async(lambda: offered(cluster))
        (before,) = await slices(cluster)
        await driver.do("remove gpu-0")
        await driver.do("add " + " ".join(f"gpu-{number}" for number in range(10, 210)))

        async def is_current():
            found = await offered(cluster)
            return [len(each) for each in sorted(found, key=len)] == [203 - 128, 128]

        await eventually_async(is_current)
        pools = [each["pool"] for each in await slices(cluster)]
        assert {each["resourceSliceCount"] for each in pools} == {2}
        assert len({each["generation"] for each in pools}) == 1
        assert pools[0]["generation"] > before["pool"]["generation"]


@pytest.mark.scenario(123)
async def test_roll_replaces_the_device_plugin_too(cluster, root):
    await make_node(cluster)
    async with StandInKubelet(cluster, root, root / "cdi") as kubelet, DriverSim(cluster, root) as driver:
        await driver.ready()
        await eventually_async(lambda: kubelet.lists.get(RESOURCE))
        await driver.do("health gpu-1 Unhealthy")
        await driver.do("roll")
        await eventually_async(lambda: {len(each) for each in kubelet.connected.values()} == {1})
        assert kubelet.drivers.newest(RESOURCE).endpoint.endswith("example.com_gpu-1.sock")
        await eventually_async(lambda: kubelet.drivers.newest(DRIVER).endpoint.endswith("dra-1.sock"))
        assert kubelet.lists[RESOURCE]["gpu-1"] == "Unhealthy"
        await kubelet.restart()
        await eventually_async(lambda: kubelet.lists.get(RESOURCE))
        assert kubelet.drivers.newest(RESOURCE).endpoint.endswith("example.com_gpu-1.sock")
