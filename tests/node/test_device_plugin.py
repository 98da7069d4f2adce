"""Device plugins: from what the plugin lists to the pod's status."""

from __future__ import annotations

import json

import pytest

from podstrat.node.drivers.protocols import calls, deviceplugin
from podstrat.node.drivers.protocols.serving import CallRefused
from podstrat.node.model import NOT_KNOWN, Closed, Device, DeviceHealth, Reading, Report, Unregistered
from podstrat.node.simulator import cdi
from podstrat.node.simulator.driver import DevicePlugin
from podstrat.node.state import allocations
from podstrat.node.state.allocations import Allocations, Shortage
from podstrat.node.state.devices import HeldDevice, Holding
from podstrat.node.status import patch
from tests.node.fixtures import ENGINE, Listening, NodeHarness, pod

GPU = "example.com/gpu"


class PluginScene(NodeHarness):
    def __init__(self, root, **more):
        super().__init__(root, device_plugins=root / "device-plugins", **more)

    def train(self, given, name="train"):
        """A pod whose only container has these devices, by resource."""
        requests = {resource: str(len(ids)) for resource, ids in given.items()}
        resources = {"requests": requests, "limits": requests}
        uid = self.add(pod(name, containers=[{"name": "main", "resources": resources}]))
        self.write(self.claims.plugins_given(uid, {"main": given}, self.clock.now()))
        return uid


@pytest.mark.scenario(45)
async def test_the_status_follows_the_plugin(root):
    async with PluginScene(root) as harness, DevicePlugin(root) as plugin:
        uid = harness.train({GPU: ["gpu-0", "gpu-1"]})
        await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Healthy", "gpu-1": "Healthy"}})
        plugin.set("gpu-1", "Unhealthy")
        await harness.until_shown(uid, GPU, "gpu-1", "Unhealthy")
        plugin.set("gpu-1", "Healthy")
        await harness.until_shown(uid, GPU, "gpu-1", "Healthy")
        harness.clock.advance(100_000)
        plugin.set("gpu-0", "Unhealthy")
        await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Unhealthy", "gpu-1": "Healthy"}})


@pytest.mark.scenario(46)
@pytest.mark.parametrize(
    "text, shown",
    [("Healthy", "Healthy"), ("healthy", "Unhealthy"), ("", "Unhealthy"), ("Unknown", "Unknown"), ("garbage", "Unhealthy")],
)
async def test_only_healthy_is_healthy(root, text, shown):
    devices = [Reading("", "gpu-0", text), Reading("", "gpu-1", "Healthy")]
    async with PluginScene(root) as harness, DevicePlugin(root, devices=devices):
        uid = harness.train({GPU: ["gpu-0", "gpu-1"]})
        await harness.until_shown(uid, GPU, "gpu-1", "Healthy")
        assert harness.shown(uid)[GPU]["gpu-0"] == shown


@pytest.mark.scenario(47)
async def test_a_device_that_disappears_is_unknown_until_it_returns(root):
    async with PluginScene(root) as harness, DevicePlugin(root) as plugin:
        uid = harness.train({GPU: ["gpu-0"]})
        await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
        plugin.remove("gpu-0")
        await harness.until_shown(uid, GPU, "gpu-0", "Unknown")
        plugin.devices["gpu-0"] = Reading("", "gpu-0", "Unhealthy")
        plugin.tell()
        await harness.until_shown(uid, GPU, "gpu-0", "Unhealthy")


@pytest.mark.scenario(48)
async def test_when_the_stream_ends_all_devices_are_unknown(root):
    async with PluginScene(root) as harness, DevicePlugin(root) as plugin:
        first, second = harness.train({GPU: ["gpu-0"]}), harness.train({GPU: ["gpu-1"]}, name="other")
        await harness.until_shown(second, GPU, "gpu-1", "Healthy")
        plugin.end_streams()
        await harness.until_shown(first, GPU, "gpu-0", "Unknown")
        await harness.until_shown(second, GPU, "gpu-1", "Unknown")


@pytest.mark.scenario(49)
async def test_a_plugin_that_registers_again_is_one_write_for_each_pod(root):
    async with PluginScene(root) as harness:
        async with DevicePlugin(root):
            uid = harness.train({GPU: ["gpu-0", "gpu-1"]})
            await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
        await harness.until_shown(uid, GPU, "gpu-0", "Unknown")
        writes = harness.writes[uid]
        async with DevicePlugin(root):
            await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
            assert harness.writes[uid] == writes + 1
            assert len(harness.drivers.registered()) == 1


async def test_a_plugin_that_went_away_is_unregistered_at_the_next_look(root):
    async with Listening(root, device_plugins=root / "device-plugins") as node:
        async with DevicePlugin(root) as plugin:
            await node.events.until(Report)
        await node.look()
        assert await node.events.until(Unregistered) == Unregistered(GPU, str(plugin.socket))


async def test_a_stream_that_breaks_is_opened_again_while_the_socket_is_there(root):
    async with Listening(root, device_plugins=root / "device-plugins") as node, DevicePlugin(root) as plugin:
        await node.events.until(Report)
        plugin.end_streams(CallRefused("INTERNAL", "oops"))
        assert (await node.events.until(Closed)).reason == "oops (INTERNAL)"
        await node.clock.until_slept(2)
        node.clock.advance(0.375)
        await node.events.until(Report, 2)
        assert not node.events.of(Unregistered)


@pytest.mark.scenario(50)
async def test_one_id_under_two_resources_is_two_devices(root):
    other = "example.com/gpu.shared"
    async with PluginScene(root) as harness, DevicePlugin(root) as plugin, DevicePlugin(root, other) as shared:
        uid = harness.train({GPU: ["gpu-0"], other: ["gpu-0"]})
        await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Healthy"}, other: {"gpu-0": "Healthy"}})
        shared.set("gpu-0", "Unhealthy")
        await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Healthy"}, other: {"gpu-0": "Unhealthy"}})
        plugin.end_streams()
        await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Unknown"}, other: {"gpu-0": "Unhealthy"}})


@pytest.mark.scenario(51)
async def test_a_device_on_two_numa_nodes_is_one_entry(root):
    async with PluginScene(root) as harness:
        plugin = DevicePlugin(root)
        plugin.numa["gpu-0"] = (0, 1)
        async with plugin:
            uid = harness.train({GPU: ["gpu-0", "gpu-0"]})
            await harness.until(lambda: harness.shown(uid) == {GPU: {"gpu-0": "Healthy"}})


@pytest.mark.scenario(52)
async def test_five_thousand_devices_of_one_container_are_taken_in_a_stable_order(root):
    ids = [f"gpu-{number}" for number in range(5000)]
    async with PluginScene(root) as harness, DevicePlugin(root, devices=5000) as plugin:
        uid = harness.train({GPU: ids})
        await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
        (entry,) = harness.pods[uid]["status"]["containerStatuses"][0]["allocatedResourcesStatus"]
        assert [each["resourceID"] for each in entry["resources"]] == sorted(ids)
        writes = harness.writes[uid]
        plugin.devices = dict(reversed(plugin.devices.items()))
        plugin.tell()
        plugin.set("gpu-4999", "Unhealthy")
        await harness.until_shown(uid, GPU, "gpu-4999", "Unhealthy")
        assert harness.writes[uid] == writes + 1


@pytest.mark.scenario(52)
@pytest.mark.parametrize(
    "count, message, longest, shown",
    [
        pytest.param(100, "x" * 1024, 1024, 100, id="all"),
        pytest.param(1000, "x" * 1024, 256, 1000, id="shorter-messages"),
        pytest.param(4000, "x" * 1024, 64, 4000, id="short-messages"),
        pytest.param(7000, "x" * 1024, 0, 7000, id="no-messages"),
        pytest.param(20000, "x" * 1024, 0, None, id="fewer-devices"),
    ],
)
def test_a_status_never_becomes_too_large_and_the_bad_devices_are_shown_first(count, message, longest, shown):
    devices = [Device(GPU, "", f"gpu-{number:05}") for number in range(count)]
    verdicts = {device: DeviceHealth("Healthy", message) for device in devices}
    verdicts[devices[-1]] = DeviceHealth("Unhealthy", message)
    held = [Holding("main", GPU, tuple(map(HeldDevice, devices)))]
    ((entry,),) = patch.entries(held, verdicts, patch.Settings()).values()
    resources = entry["resources"]
    assert len(json.dumps(entry)) <= 600 * 1024
    assert len(resources) == shown or (shown is None and 5000 < len(resources) < 20000)
    assert resources[-1]["resourceID"] == devices[-1].name
    assert [each["resourceID"] for each in resources] == sorted(each["resourceID"] for each in resources)
    assert max(len(each.get("message", "")) for each in resources) == longest


@pytest.mark.scenario(53)
async def test_of_two_plugins_for_one_resource_the_newest_is_believed_and_neither_takes_the_other_down(root):
    async with PluginScene(root) as harness, DevicePlugin(root, instance="a") as old:
        uid = harness.train({GPU: ["gpu-0"]})
        await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
        async with DevicePlugin(root, instance="b", devices=[Reading("", "gpu-0", "Unhealthy")]):
            await harness.until_shown(uid, GPU, "gpu-0", "Unhealthy")
            old.tell()
        await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
        async with DevicePlugin(root, instance="c", devices=[Reading("", "gpu-0", "Unhealthy")]) as new:
            await harness.until_shown(uid, GPU, "gpu-0", "Unhealthy")
            writes = harness.writes[uid]
            await old.stop()
            new.set("gpu-0", "Healthy")
            await harness.until_shown(uid, GPU, "gpu-0", "Healthy")
            assert harness.writes[uid] == writes + 1


# The calls


async def test_the_plugins_other_calls(root):
    names = ("gpu-0", "gpu-1", "gpu-2", "null")  # of these only the last one has a device node
    made = DevicePlugin(root, devices=[Reading("", name, "Healthy") for name in names], specs=cdi.Folder(root / "cdi"))
    async with Listening(root, device_plugins=root / "device-plugins") as node, made as plugin:
        await node.events.until(Report)
        socket = node.drivers.newest(GPU).endpoint
        assert await deviceplugin.options(socket, 30.0) == deviceplugin.Options(False, True)
        assert await deviceplugin.preferred(socket, ["gpu-0", "gpu-1", "gpu-2"], ["gpu-0"], 2, 30.0) == ("gpu-0", "gpu-2")
        first, second = await deviceplugin.allocate(socket, [["gpu-0", "null"], ["gpu-2"]], 30.0)
        assert first == deviceplugin.Allocation(
            {"DEVICES": "gpu-0,null"},
            (),
            (("/dev/null", "/dev/null", "rw"),),
            {},
            ("example.com/gpu=gpu-0", "example.com/gpu=null"),
        )
        assert second.cdi_devices == ("example.com/gpu=gpu-2",)
        await deviceplugin.pre_start(socket, ["gpu-0"])
        assert plugin.allocated == [("gpu-0", "null"), ("gpu-2",)]
        plugin.trouble["Allocate"] = CallRefused("RESOURCE_EXHAUSTED", "none left")
        with pytest.raises(calls.CallFailed, match=r"none left \(RESOURCE_EXHAUSTED\)"):
            await deviceplugin.allocate(socket, [["gpu-0"]], 30.0)


# Giving


def test_devices_are_given_once_and_given_back():
    given = Allocations()
    assert given.give("a", "main", GPU, 2, ["2", "1", "0"]) == ("0", "1")
    assert given.give("a", "main", GPU, 2, []) == ("0", "1")
    with pytest.raises(Shortage, match=r"example\.com/gpu: 2 requested, 1 available"):
        given.give("b", "main", GPU, 2, ["0", "1", "2"])
    assert given.give("b", "main", GPU, 1, ["0", "1", "2"]) == ("2",)
    given.release("a")
    given.release("a")
    assert given.of("a") == {}
    assert given.free(GPU, ["0", "1", "2"]) == ["0", "1"]
    assert given.give("c", "main", "example.com/other", 1, ["2"]) == ("2",)


def test_what_the_plugin_prefers_comes_first_and_before_it_what_an_init_container_had():
    given = Allocations()
    assert given.give("a", "init", GPU, 1, ["0", "1", "2", "3"], preferred=["3", "9"]) == ("3",)
    assert given.give("a", "main", GPU, 2, ["0", "1", "2", "3"], preferred=["2"], reusable=["3"]) == ("2", "3")
    assert given.give("b", "main", GPU, 1, ["0", "1", "2", "3"], reusable=["3"]) == ("0",)


def test_what_was_given_is_known_after_a_restart():
    given, again = Allocations(), Allocations()
    given.give("a", "main", GPU, 2, ["0", "1"])
    given.give("b", "side", GPU, 1, ["2"])
    again.restore(json.loads(json.dumps(given.rows())))
    assert again.rows() == given.rows()
    assert again.free(GPU, ["0", "1", "2", "3"]) == ["3"]
    assert allocations.merged({"main": {GPU: ["0", "0"]}}) == {"main": {GPU: ("0",)}}


def test_the_engine_takes_what_the_status_says_of_a_device_plugin():
    made = pod(containers=[{"name": "main", "resources": {"limits": {GPU: "1"}, "requests": {GPU: "1"}}}])
    held = [Holding("main", GPU, (HeldDevice(Device(GPU, "", "GPU-1")),))]
    outcome = ENGINE.patch(
        patch.guarded(made, held, {Device(GPU, "", "GPU-1"): NOT_KNOWN}, patch.Settings()),
        made,
        type="json",
        subresource="status",
    )
    assert not outcome.errors
