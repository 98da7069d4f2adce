"""Registration and discovery, with real sockets in a real directory."""

from __future__ import annotations

import os
import shutil
import socket

import pytest

from podstrat.node.drivers import discovery, plugins
from podstrat.node.drivers.protocols import calls, deviceplugin, streams
from podstrat.node.drivers.protocols.registration import Info
from podstrat.node.drivers.protocols.serving import CallRefused
from podstrat.node.model import Closed, Note, Registered, Report, Silent, Unregistered
from podstrat.node.simulator.driver import DevicePlugin, DraDriver
from podstrat.node.state import health
from tests.node.fixtures import Listening, NodeHarness, claim, pod

DRIVER = "gpu.example.com"


def deserted(path):
    """A socket that nobody listens on, as a crash leaves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


@pytest.mark.scenario(1)
async def test_a_socket_that_is_there_already_is_registered_at_the_first_look(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        assert await node.events.until(Registered) == Registered(DRIVER, str(driver.socket), True)
        await driver.until_asked("NotifyRegistrationStatus")
        assert driver.notified == [None]
        assert node.clock.now() == 1000.0


async def test_a_socket_that_comes_later_is_registered_at_the_next_look(root):
    async with Listening(root) as node:
        await node.clock.until_slept(1)
        async with DraDriver(root) as driver:
            await node.look()
            assert (await node.events.until(Registered)).endpoint == str(driver.socket)


@pytest.mark.scenario(2)
async def test_a_socket_in_a_subdirectory_is_found(root):
    driver = DraDriver(root)
    driver.registration = root / "plugins_registry" / "a" / "b" / "reg.sock"
    async with driver, Listening(root) as node:
        assert (await node.events.until(Registered)).driver == DRIVER


@pytest.mark.scenario(3)
async def test_what_is_no_visible_socket_is_ignored(root):
    folder = root / "plugins_registry"
    folder.mkdir()
    (folder / "plain").write_text("hello")
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder)
    hidden = DraDriver(root, "hidden.example.com")
    hidden.registration = folder / ".hidden.sock"
    beneath = DraDriver(root, "beneath.example.com")
    beneath.registration = folder / ".folder" / "reg.sock"
    async with hidden, beneath, DraDriver(root) as driver, Listening(root) as node:
        await driver.until_asked("NotifyRegistrationStatus")
        await node.look()
        assert [each.driver for each in node.drivers.registered()] == [DRIVER]
        assert not hidden.asked
        assert not beneath.asked
        assert not node.events.of(Note)


@pytest.mark.scenario(4)
async def test_a_deserted_socket_is_tried_again_ever_more_rarely_and_disturbs_nobody(root):
    path = root / "plugins_registry" / "a-crashed.sock"
    deserted(path)
    async with DraDriver(root) as driver, Listening(root) as node:
        await driver.until_asked("NotifyRegistrationStatus")
        for attempt in range(1, 12):
            await node.clock.until_slept(attempt + sum(each == 1.0 for each in node.clock.slept))
            node.clock.advance(200.0)
        delays = [each for each in node.clock.slept if each != 1.0]
        # Halfway between half and all of 0.5, 1, 2 ... 122 seconds.
        assert delays[:10] == [0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 91.5, 91.5]
        (note,) = node.events.of(Note)
        assert note.subject == str(path)
        assert note.text.endswith("(UNAVAILABLE)")


@pytest.mark.scenario(5)
async def test_a_plugin_that_does_not_say_what_it_is_is_given_up_and_tried_again(root):
    hanging = DraDriver(root, "hanging.example.com")
    hanging.trouble["GetInfo"] = "hang"
    async with hanging, DraDriver(root) as driver, Listening(root, get_info=0.25) as node:
        await node.look_until(Report)
        assert driver.notified == [None]
        assert [each.driver for each in node.drivers.registered()] == [DRIVER]
        await hanging.until_asked("GetInfo")
        await node.look_until(Note)
        (note,) = (note for note in node.events.of(Note) if note.subject == str(hanging.registration))
        assert note.text.endswith("(DEADLINE_EXCEEDED)")
        del hanging.trouble["GetInfo"]
        while not hanging.notified:
            await node.look()
        assert hanging.notified == [None]


async def refused(root, driver):
    """What a driver is told when it is refused; and nothing is registered, and it is tried again."""
    async with driver, Listening(root) as node:
        await driver.until_asked("NotifyRegistrationStatus")
        note = await node.events.until(Note)
        assert driver.notified == [note.text]
        await node.clock.until_slept(2)
        node.clock.advance(0.375)
        await driver.until_asked("NotifyRegistrationStatus", 2)
        assert not node.drivers.registered()
        assert not node.events.of(Registered)
        assert len(node.events.of(Note)) == 1
        return note.text


@pytest.mark.scenario(6)
async def test_an_unknown_type_is_refused(root):
    driver = DraDriver(root)
    driver._registration = lambda kind, *rest: DraDriver._registration(driver, "CSIPlugin", *rest)
    assert await refused(root, driver) == "plugin type 'CSIPlugin' is neither DRAPlugin nor DevicePlugin"


@pytest.mark.scenario(7)
@pytest.mark.parametrize(
    "announced, words",
    [
        pytest.param((), "it is empty", id="empty"),
        pytest.param(("v1alpha3.DRAPlugin", "1.0.0"), "it is v1alpha3.DRAPlugin, 1.0.0", id="unknown"),
        pytest.param(("v1.DRAResourceHealth",), "it is v1.DRAResourceHealth", id="health-only"),
    ],
)
async def test_a_dra_driver_without_a_version_that_we_speak_is_refused(root, announced, words):
    text = f"DRA driver 'gpu.example.com': supported_versions has no v1.DRAPlugin or v1beta1.DRAPlugin: {words}"
    assert await refused(root, DraDriver(root, announced=announced)) == text


@pytest.mark.parametrize(
    "info, text",
    [
        pytest.param(
            Info("DRAPlugin", "", "/s", ("v1.DRAPlugin",)),
            "'' is not the name of a DRA driver, which is a DNS subdomain",
            id="no-name",
        ),
        pytest.param(
            Info("DRAPlugin", "a/b", "/s", ("v1.DRAPlugin",)),
            "'a/b' is not the name of a DRA driver, which is a DNS subdomain",
            id="name-of-a-resource",
        ),
        pytest.param(
            Info("DevicePlugin", "a.b/c", "/s", ("v1",)),
            "device plugin 'a.b/c': supported_versions has no v1beta1: it is v1",
            id="device-plugin-version",
        ),
        pytest.param(Info("DevicePlugin", "cpu", "/s", ("v1beta1",)), "'cpu' is not the name of an extended resource", id="cpu"),
    ],
)
def test_what_cannot_register_is_told_why(info, text):
    with pytest.raises(plugins.Refusal) as refusal:
        plugins.from_info(info, documents=False)
    assert str(refusal.value) == text


@pytest.mark.scenario(8)
async def test_the_drivers_order_counts_for_preparing_and_ours_for_health(root):
    driver = DraDriver(root, prepares=("v1beta1", "v1"), health=(streams.V1ALPHA1, streams.V1))
    assert driver.announced == ("v1beta1.DRAPlugin", "v1.DRAPlugin", "v1alpha1.DRAResourceHealth", "v1.DRAResourceHealth")
    async with driver, Listening(root) as node:
        await node.events.until(Report)
        plugin = node.drivers.newest(DRIVER)
        assert plugin.prepares == "v1beta1"
        assert plugin.streams == (streams.V1,)


@pytest.mark.scenario(9)
async def test_a_plugin_that_fails_at_the_notification_is_unregistered_and_tried_again(root):
    driver = DraDriver(root)
    driver.trouble["NotifyRegistrationStatus"] = CallRefused("INTERNAL", "not now")
    async with driver, Listening(root) as node:
        await node.events.until(Unregistered)
        assert not node.drivers.registered()
        assert (await node.events.until(Note)).text == "not now (INTERNAL)"
        assert not len(driver.audience)
        del driver.trouble["NotifyRegistrationStatus"]
        await node.clock.until_slept(2)
        node.clock.advance(0.375)
        await node.events.until(Report)
        assert [type(event) for event in node.events.seen] == [Registered, Unregistered, Note, Registered, Report]


@pytest.mark.scenario(10)
async def test_a_socket_made_anew_between_two_looks_is_one_unregistration_and_one_registration(root):
    async with NodeHarness(root, health=health.Settings(grace=5.0)) as harness:
        made = pod(claims=["gpu"])
        uid = harness.add(made, claim("train-gpu", ["gpu-0"], made))
        driver = DraDriver(root)
        await driver.start()
        await harness.look()
        await harness.until_shown(uid, "claim:gpu", "gpu.example.com/node-1/gpu-0", "Healthy")
        writes = harness.writes[uid]
        await driver.stop()
        again = DraDriver(root)
        await again.start()
        again.devices["gpu-0"] = again.devices["gpu-0"]._replace(health="Unhealthy")
        await harness.look()
        await harness.until_shown(uid, "claim:gpu", "gpu.example.com/node-1/gpu-0", "Unhealthy")
        assert harness.writes[uid] == writes + 1
        assert len(harness.drivers.registered()) == 1
        await again.stop()


async def test_a_socket_made_anew_is_told_from_the_old_one(root):
    driver = DraDriver(root)
    async with driver, Listening(root) as node:
        await node.events.until(Report)
        os.chmod(driver.registration, 0o600)
        await node.look()
        assert not node.events.of(Unregistered)
        await driver.stop()
        await driver.start()
        await node.look()
        await node.events.until(Report, 2)
        kinds = [type(event) for event in node.events.seen if not isinstance(event, (Closed, Note))]
        assert kinds == [Registered, Report, Unregistered, Registered, Report]


@pytest.mark.scenario(11)
async def test_a_socket_that_is_renamed_away_is_gone(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        driver.registration.rename(root / "elsewhere.sock")
        await node.look()
        assert await node.events.until(Unregistered) == Unregistered(DRIVER, str(driver.socket))
        await driver.audience.until(0)


@pytest.mark.scenario(12)
async def test_two_drivers_of_one_name_are_both_kept_and_the_newest_is_the_one_to_use(root):
    async with DraDriver(root, instance="a") as old, Listening(root) as node:
        await node.events.until(Report)
        async with DraDriver(root, instance="b") as new:
            await node.look()
            await node.events.until(Report, 2)
            assert [each.endpoint for each in node.drivers.registered()] == [str(old.socket), str(new.socket)]
            assert node.drivers.newest(DRIVER).endpoint == str(new.socket)
        await node.look()
        await node.events.until(Unregistered)
        assert node.drivers.newest(DRIVER).endpoint == str(old.socket)


@pytest.mark.scenario(13)
async def test_an_endpoint_is_registered_once_and_the_second_time_changes_nothing(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        second = DraDriver(root)
        second.registration = root / "plugins_registry" / "second-reg.sock"
        offer = second._registration("DRAPlugin", DRIVER, driver.socket, ("v1.DRAPlugin",))
        await second._serve(second.registration, offer)
        await node.look()
        await second.until_asked("NotifyRegistrationStatus")
        assert second.notified == [f"gpu.example.com is already registered with endpoint {driver.socket}"]
        assert len(node.drivers.registered()) == 1
        assert driver.audience.opened == 1
        driver.tell()
        await node.events.until(Report, 2)
        assert not node.events.of(Unregistered, Closed)
        await second.stop()


@pytest.mark.scenario(13)
async def test_a_device_plugin_that_registers_twice_is_refused_and_goes_on(root):
    async with Listening(root, device_plugins=root / "device-plugins") as node, DevicePlugin(root) as plugin:
        await node.events.until(Report)
        with pytest.raises(calls.CallFailed) as failure:
            await plugin.register()
        assert failure.value.text == f"{plugin.socket} is already registered"
        plugin.tell()
        await node.events.until(Report, 2)
        assert not node.events.of(Unregistered, Closed)
        plugin.end_streams()
        await node.events.until(Closed)
        await plugin.register()
        await node.events.until(Report, 3)
        assert len(node.drivers.registered()) == 1


@pytest.mark.scenario(14)
async def test_a_directory_that_is_removed_and_made_again_is_looked_into_again(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        shutil.rmtree(root / "plugins_registry")
        await node.look()
        await node.events.until(Unregistered)
        again = DraDriver(root)
        await again._serve(again.registration, again._registration("DRAPlugin", DRIVER, driver.socket, driver.announced))
        await node.look()
        await node.events.until(Report, 2)
        await again.stop()


async def test_a_directory_that_cannot_be_read_now_is_not_an_empty_one(root, monkeypatch):
    def no_descriptors(path):
        raise OSError(24, "Too many open files", path)

    async with DraDriver(root), Listening(root) as node:
        await node.events.until(Report)
        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", no_descriptors)
            await node.look()
            await node.look()
        assert [note.text for note in node.events.of(Note)] == ["cannot scan for sockets: Too many open files"]
        assert not node.events.of(Unregistered)


@pytest.mark.scenario(15)
async def test_a_path_that_is_too_long_for_the_kernel_is_said_to_be(root):
    folder = root / "plugins_registry"
    folder.mkdir()
    long = folder / f"{'x' * (108 - len(str(folder)) - 1)}"
    assert len(str(long)) == 108
    here = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(long.name)  # a relative name is short enough
    finally:
        os.chdir(here)
    async with DraDriver(root) as driver, Listening(root) as node:
        await driver.until_asked("NotifyRegistrationStatus")
        text = "socket path has 108 bytes, the limit is 107 (INVALID_ARGUMENT)"
        assert await node.events.until(Note) == Note(str(long), text)


async def test_a_path_may_have_any_character(root):
    driver = DraDriver(root)
    driver.registration = root / "plugins_registry" / "a b#c?d%20é.sock"
    async with driver, Listening(root) as node:
        assert (await node.events.until(Registered)).driver == DRIVER


@pytest.mark.scenario(16)
@pytest.mark.parametrize(
    "resource, version, text",
    [
        pytest.param("example.com/gpu", "v1alpha1", "version 'v1alpha1' is not v1beta1", id="version"),
        pytest.param("cpu", "v1beta1", "'cpu' is not the name of an extended resource", id="cpu"),
        pytest.param("requests.x/y", "v1beta1", "'requests.x/y' is not the name of an extended resource", id="quota"),
        pytest.param("kubernetes.io/x", "v1beta1", "'kubernetes.io/x' is not the name of an extended resource", id="native"),
    ],
)
async def test_a_device_plugin_with_a_wrong_version_or_resource_is_refused(root, resource, version, text):
    async with Listening(root, device_plugins=root / "device-plugins") as node:
        plugin = DevicePlugin(root, resource, version=version)
        with pytest.raises(calls.CallFailed) as failure:
            await plugin.start()
        assert (failure.value.code, failure.value.text) == ("INVALID_ARGUMENT", text)
        assert not node.drivers.registered()
        await plugin.stop()


@pytest.mark.parametrize("endpoint", ["../x.sock", "/etc/x.sock", "a/../../x.sock", "", "."])
def test_a_device_plugins_endpoint_is_a_file_beside_kubelet_sock(root, endpoint):
    with pytest.raises(plugins.Refusal, match="is not the name of a file in"):
        plugins.from_registration(deviceplugin.Registration("v1beta1", endpoint, "example.com/gpu"), root)


async def test_kubelet_sock_is_not_taken_from_a_kubelet(root):
    async with Listening(root, device_plugins=root / "device-plugins"):
        with pytest.raises(FileExistsError, match="is a kubelet running on this node"):
            async with Listening(root, device_plugins=root / "device-plugins"):
                raise AssertionError("never entered")
        assert deviceplugin.answers(root / "device-plugins" / "kubelet.sock")


async def test_at_start_old_sockets_are_removed_and_all_else_stays(root):
    folder = root / "device-plugins"
    deserted(folder / "old.sock")
    deserted(folder / "kubelet.sock")
    (folder / "kubelet_internal_checkpoint").write_text("{}")
    (folder / "folder").mkdir()
    async with Listening(root, device_plugins=folder):
        assert sorted(each.name for each in folder.iterdir()) == ["folder", "kubelet.sock", "kubelet_internal_checkpoint"]


async def test_a_device_plugin_may_call_before_its_socket_is_there(root):
    async with Listening(root, device_plugins=root / "device-plugins") as node:
        early = DevicePlugin(root)
        await early.register()
        assert (await node.events.until(Registered)).driver == "example.com/gpu"
        await node.look()
        assert len(node.drivers.registered()) == 1
        await early.serve()
        await node.look_until(Report)
        await early.stop()


async def test_a_device_plugin_whose_socket_never_comes_is_forgotten(root):
    async with Listening(root, device_plugins=root / "device-plugins", dial=30.0) as node:
        await DevicePlugin(root).register()
        await node.events.until(Registered)
        node.clock.advance(30.0)
        await node.events.until(Unregistered)
        assert not node.drivers.registered()


async def test_a_device_plugin_in_the_registry_is_found(root):
    async with DevicePlugin(root, in_registry=True) as plugin, Listening(root) as node:
        report = await node.events.until(Report)
        assert report.complete
        assert report.session[:2] == ("example.com/gpu", str(plugin.socket))
        assert plugin.notified == [None]


async def test_stopping_says_nothing_about_the_devices(root):
    async with DraDriver(root) as driver:
        async with Listening(root) as node:
            await node.events.until(Report)
        assert not node.events.of(Closed, Unregistered, Silent)
        await driver.audience.until(0)


def test_sockets_have_an_identity(root):
    path = root / "a.sock"
    deserted(path)
    first = discovery.identity(str(path))
    os.chmod(path, 0o600)
    assert discovery.identity(str(path)) == first
    path.unlink()
    assert discovery.identity(str(path)) is None
    path.write_text("")
    assert discovery.identity(str(path)) is None
    path.rename(root / "b")  # and so keeps the inode, which the next file would get otherwise
    deserted(path)
    assert discovery.identity(str(path)) != first
