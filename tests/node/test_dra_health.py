"""The health streams of DRA drivers, from the driver's message to the pod's status."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

from podstrat.node.drivers.generated import health_pb2
from podstrat.node.drivers.protocols import streams
from podstrat.node.model import Closed, Note, Reading, Registered, Report, Session, Silent, Unregistered
from podstrat.node.simulator.driver import DraDriver
from podstrat.node.state import health, transitions
from tests.node.fixtures import NODE, Listening, NodeHarness, claim, gpu, pod

NAME = "claim:gpu"
GPU = [f"gpu.example.com/{NODE}/gpu-{number}" for number in range(10)]


def says(number, health="Healthy", message="", timeout=None):
    return Reading(NODE, f"gpu-{number}", health, message, timeout)


def train(harness, *devices, name="train"):
    made = pod(name, claims=["gpu"])
    return harness.add(made, claim(f"{name}-gpu", devices or ("gpu-0",), made))


async def shows(harness, uid, *healths):
    """Waits until the pod shows this for gpu-0 and on."""
    await harness.until(lambda: [harness.shown(uid)[NAME].get(device) for device in GPU[: len(healths)]] == list(healths))


@pytest.mark.scenario(17)
async def test_the_first_report_is_one_write_for_each_pod(root):
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        await harness.until(lambda: harness.changed)
        first, second = train(harness, "gpu-0", "gpu-1"), train(harness, "gpu-2", name="other")
        await shows(harness, first, "Healthy", "Healthy")
        assert harness.shown(second) == {NAME: {GPU[2]: "Healthy"}}
        assert harness.writes == {first: 1, second: 1}
        assert driver.audience.opened == 1


@pytest.mark.scenario(18)
async def test_unhealthy_and_healthy_again_are_two_writes(root):
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        await harness.until(lambda: harness.changed)
        uid = train(harness)
        before = harness.writes[uid]
        driver.set("gpu-0", "Unhealthy", "XID 79: fallen off the bus")
        await shows(harness, uid, ("Unhealthy", "XID 79: fallen off the bus"))
        harness.clock.advance(10.0)
        driver.set("gpu-0", "Healthy")
        await shows(harness, uid, "Healthy")
        assert harness.writes[uid] == before + 2


@pytest.mark.scenario(19)
async def test_a_hundred_flaps_end_in_the_last_state_with_one_pair_of_events(root):
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        await harness.until(lambda: harness.changed)
        uid = train(harness)
        events = transitions.Transitions()
        events.see(uid, harness.claims.share(uid, harness.clock.now()).verdicts, harness.clock.now())
        for flap in range(100):
            driver.set("gpu-0", "Healthy" if flap % 2 else "Unhealthy", f"flap {flap}")
            await shows(harness, uid, ("Healthy" if flap % 2 else "Unhealthy", f"flap {flap}"))
            events.see(uid, harness.claims.share(uid, harness.clock.now()).verdicts, harness.clock.now())
            harness.clock.advance(0.01)
        await shows(harness, uid, ("Healthy", "flap 99"))
        assert not events.due(harness.clock.now())
        harness.clock.advance(1.5)
        assert [event.reason for event in events.due(harness.clock.now())] == ["DeviceUnhealthy", "DeviceRecovered"]
        assert not events.due(harness.clock.now() + 1000)


def test_what_is_to_be_written_is_a_set_however_often_it_is_said():
    state = health.Health()
    state.take(Registered("gpu.example.com", "/s", True), 0.0)
    waiting = set()
    for flap in range(100):
        report = Report(Session("gpu.example.com", "/s", 1), [says(0, "Healthy" if flap % 2 else "Unhealthy")], False)
        waiting |= state.take(report, flap / 100).changed
    assert waiting == {gpu(0)}
    assert state.look(gpu(0), 1.0).health == "Healthy"


class Process:
    """The simulated driver as a process of its own."""

    def __init__(self, root, *arguments):
        command = [
            sys.executable,
            "-m",
            "podstrat.node.simulator.command",
            "--root",
            str(root),
            "--driver",
            "gpu.example.com",
            *arguments,
        ]
        self.running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.running.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.kill()
        self.running.communicate()

    def tell(self, line):
        self.running.stdin.write(f"{line}\n")
        self.running.stdin.flush()
        assert self.running.stdout.readline() == "ok\n"

    def kill(self):
        os.kill(self.running.pid, signal.SIGKILL)
        self.running.wait()


@pytest.mark.scenario(20)
async def test_a_driver_that_is_killed_leaves_its_devices_unknown_at_once_and_is_tried_again(root):
    with Process(root) as driver:
        async with NodeHarness(root) as harness:
            uid = train(harness)
            await shows(harness, uid, "Healthy")
            driver.kill()
            await shows(harness, uid, "Unknown")
            assert harness.clock.now() == 1000.0
            assert [each.driver for each in harness.drivers.registered()] == ["gpu.example.com"]
            # Another one takes over the socket of the service; the registration socket is still the old, deserted one.
            again = DraDriver(root)
            again.socket.unlink()
            await again._serve(again.socket, {streams.V1.method: again._watch(streams.V1)})
            harness.clock.advance(0.5)
            await shows(harness, uid, "Healthy")
            await again.stop()


@pytest.mark.scenario(21)
async def test_a_driver_that_stops_cleanly_leaves_its_devices_unknown_and_is_not_looked_for(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        await driver.stop()
        await node.events.until(Closed)
        await node.look()
        await node.events.until(Unregistered)
        pauses = len(node.clock.slept)
        await node.look()
        assert len(node.clock.slept) == pauses + 1  # the look itself: nobody else is waiting for anything


@pytest.mark.scenario(21)
async def test_a_driver_that_stops_cleanly_is_unknown_in_the_status_at_once(root):
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await shows(harness, uid, "Healthy")
        await driver.stop()
        await shows(harness, uid, "Unknown")
        assert harness.clock.now() == 1000.0


@pytest.mark.scenario(22)
async def test_a_driver_that_hangs_is_unknown_exactly_at_its_timeout(root):
    async with DraDriver(root, devices=[says(0, timeout=20), says(1, timeout=60)]) as driver, NodeHarness(root) as harness:
        uid = train(harness, "gpu-0", "gpu-1")
        await shows(harness, uid, "Healthy", "Healthy")
        harness.clock.advance(19.999)
        driver.send(says(1, "Unhealthy", timeout=60))
        await shows(harness, uid, "Healthy", "Unhealthy")
        harness.clock.advance(0.001)
        await shows(harness, uid, "Unknown", "Unhealthy")
        assert driver.audience.opened == 1


@pytest.mark.scenario(23)
async def test_an_empty_report_changes_nothing_before_the_timeouts(root):
    async with DraDriver(root, devices=[says(0, timeout=20), says(1, timeout=40)]) as driver, NodeHarness(root) as harness:
        uid = train(harness, "gpu-0", "gpu-1")
        await shows(harness, uid, "Healthy", "Healthy")
        harness.clock.advance(10.0)
        driver.send()
        driver.send(says(1, "Unhealthy", timeout=40))
        await shows(harness, uid, "Healthy", "Unhealthy")
        harness.clock.advance(10.0)
        await shows(harness, uid, "Unknown", "Unhealthy")


@pytest.mark.scenario(24)
async def test_a_device_that_is_left_out_expires_alone(root):
    async with DraDriver(root, devices=3) as driver, NodeHarness(root) as harness:
        uid = train(harness, "gpu-0", "gpu-1", "gpu-2")
        await shows(harness, uid, "Healthy", "Healthy", "Healthy")
        harness.clock.advance(20.0)
        driver.send(says(0), says(2, "Unhealthy"))
        await shows(harness, uid, "Healthy", "Healthy", "Unhealthy")
        harness.clock.advance(10.0)
        await shows(harness, uid, "Healthy", "Unknown", "Unhealthy")


@pytest.mark.scenario(25)
async def test_two_partial_reports_refresh_what_they_name(root):
    async with DraDriver(root, devices=[]) as driver, NodeHarness(root) as harness:
        uid = train(harness, "gpu-0", "gpu-1")
        await driver.audience.until(1)
        driver.send(says(0))
        driver.send(says(1))
        await shows(harness, uid, "Healthy", "Healthy")
        harness.clock.advance(20.0)
        driver.send(says(0))
        harness.clock.advance(10.0)
        await shows(harness, uid, "Healthy", "Unknown")
        driver.send(says(1, "Unhealthy"))
        await shows(harness, uid, "Healthy", "Unhealthy")


@pytest.mark.scenario(26)
async def test_each_device_has_its_own_deadline(root):
    async with DraDriver(root, devices=[says(0, timeout=5), says(1, timeout=300)]), NodeHarness(root) as harness:
        uid = train(harness, "gpu-0", "gpu-1")
        await shows(harness, uid, "Healthy", "Healthy")
        harness.clock.advance(5.0)
        await shows(harness, uid, "Unknown", "Healthy")
        harness.clock.advance(294.0)
        assert harness.health.look(gpu(1), harness.clock.now()).health == "Healthy"
        harness.clock.advance(1.0)
        await shows(harness, uid, "Unknown", "Unknown")


@pytest.mark.scenario(28)
@pytest.mark.parametrize("time", [0, 4102444800, -1, 2**62])
async def test_the_drivers_own_time_has_no_say(root, time):
    message = health_pb2.NodeWatchResourcesResponse()
    device = message.devices.add(health=health_pb2.HEALTHY, last_updated_time=time, health_check_timeout_seconds=20)
    device.device.pool_name, device.device.device_name = NODE.encode(), b"gpu-0"
    async with DraDriver(root, devices=[]) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await driver.audience.until(1)
        driver.audience.send(message)
        await shows(harness, uid, "Healthy")
        assert harness.health.next_deadline() == harness.clock.now() + 20


@pytest.mark.scenario(29)
async def test_a_number_that_means_no_health_is_unknown(root):
    message = health_pb2.NodeWatchResourcesResponse()
    device = message.devices.add(health=7, message=b"seven")
    device.device.pool_name, device.device.device_name = NODE.encode(), b"gpu-0"
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await shows(harness, uid, "Healthy")
        driver.audience.send(message)
        await shows(harness, uid, ("Unknown", "seven"))


@pytest.mark.scenario(30)
async def test_devices_that_cannot_exist_are_left_out_with_one_note(root):
    message = health_pb2.NodeWatchResourcesResponse()
    message.devices.add(health=health_pb2.HEALTHY)
    names = [
        (b"", b"gpu-0"),
        (b"node-1", b""),
        (b"node-1", b"a/b"),
        (b"node-1", b"x" * 2**20),
        (b"a//b", b"gpu-0"),
        (b"\xff", b"gpu-1"),
    ]
    for pool, name in names:
        device = message.devices.add(health=health_pb2.HEALTHY)
        device.device.pool_name, device.device.device_name = pool, name
    good = message.devices.add(health=health_pb2.UNHEALTHY)
    good.device.pool_name, good.device.device_name = b"rack/a.b/node-1", b"gpu-0"
    async with DraDriver(root, devices=[]) as driver, NodeHarness(root) as harness:
        await driver.audience.until(1)
        driver.audience.send(message)
        driver.audience.send(message)
        await harness.until(lambda: harness.changed)
        driver.send(says(0))
        await harness.until(lambda: len(harness.changed) == 2)
        assert harness.changed == [{gpu(0, pool="rack/a.b/node-1")}, {gpu(0)}]
        assert harness.notes == ["gpu.example.com: 7 devices with invalid names ignored"]
        assert harness.health.size() == 2


@pytest.mark.scenario(31)
async def test_of_a_device_that_is_named_twice_the_last_counts(root):
    async with DraDriver(root) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await shows(harness, uid, "Healthy")
        writes = harness.writes[uid]
        driver.send(says(0, "Unknown", "first"), says(0, "Unhealthy", "last"))
        await shows(harness, uid, ("Unhealthy", "last"))
        assert harness.writes[uid] == writes + 1
        assert harness.changed[-1] == {gpu(0)}


LONG = "GPU が壊れました。" * 600


def unhealthy(message):
    """A report with this message, whose bytes need not be text."""
    report = health_pb2.NodeWatchResourcesResponse()
    device = report.devices.add(health=health_pb2.UNHEALTHY, message=message)
    device.device.pool_name, device.device.device_name = NODE.encode(), b"gpu-0"
    return report


@pytest.mark.scenario(32)
@pytest.mark.parametrize(
    "message, length, begins",
    [
        pytest.param(b"x" * 1024, 1024, "xxx", id="as-long-as-can-be"),
        pytest.param(b"x" * 1025, 1024, "xxx", id="one-byte-more"),
        pytest.param("é".encode() * 512, 1024, "ééé", id="two-byte-characters"),
        pytest.param(b"x" + "é".encode() * 512, 1024, "xéé", id="two-byte-characters-and-one"),
        pytest.param("壊".encode() * 2000, 1023, "壊壊", id="three-byte-characters"),
        pytest.param("💥".encode() * 2000, 1023, "💥", id="four-byte-characters"),
        pytest.param(LONG.encode(), 1022, "GPU が", id="cjk"),
        pytest.param(b"bad \xed\xa0\x80 byte", None, "bad \ufffd", id="lone-surrogate"),
        pytest.param(b"\xff" * 5000, 1023, "\ufffd", id="no-text-at-all"),
        pytest.param(b"a\x00b\nc\r\n\td\x1b[31m", None, "a b c d [31m", id="control-characters"),
    ],
)
async def test_messages_are_such_as_the_server_takes(root, message, length, begins):
    async with DraDriver(root, devices=[]) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await driver.audience.until(1)
        driver.audience.send(unhealthy(message))
        # The engine refuses what the server refuses, and NodeHarness.write would fail.
        await harness.until(lambda: isinstance(harness.shown(uid)[NAME][GPU[0]], tuple))
        shown = harness.shown(uid)[NAME][GPU[0]][1]
        assert shown.startswith(begins)
        assert length is None or len(shown.encode()) == length
        assert shown.isprintable()
        json.dumps(shown).encode()


@pytest.mark.scenario(32)
@pytest.mark.parametrize("message", [b"", b"\x00\n", b"   "])
async def test_a_message_of_nothing_is_none(root, message):
    async with DraDriver(root, devices=[]) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await driver.audience.until(1)
        driver.audience.send(unhealthy(message))
        await shows(harness, uid, "Unhealthy")


@pytest.mark.scenario(33)
async def test_nonsense_on_the_stream_ends_it_and_nothing_else(root):
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        driver.audience.send(b"\xff\xff\xff not protobuf")
        assert (
            await node.events.until(Closed)
        ).reason == "invalid response of /v1.DRAResourceHealth/NodeWatchResources (INTERNAL)"
        await driver.audience.until(0)
        await node.clock.until_slept(2)
        node.clock.advance(0.375)
        await node.events.until(Report, 2)
        assert len(node.drivers.registered()) == 1
        assert not node.events.of(Unregistered)


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    "answer",
    [pytest.param(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", id="http-1"), pytest.param(b"", id="hangs-up")],
)
async def test_another_protocol_on_the_socket_is_tried_again_later(root, answer):
    async def talk(reader, writer):
        await reader.read(1)
        writer.write(answer)
        writer.close()

    driver = DraDriver(root)
    driver.socket.parent.mkdir(parents=True)
    server = await asyncio.start_unix_server(talk, driver.socket)
    await driver._serve(driver.registration, driver._registration("DRAPlugin", driver.name, driver.socket, driver.announced))
    async with Listening(root) as node, server:
        for attempt in (1, 2, 3):
            await node.clock.until_slept(attempt + node.clock.slept.count(1.0))
            node.clock.advance(60.0)
        assert not node.events.of(Report, Unregistered)
        assert len(node.drivers.registered()) == 1
    await driver.stop()


@pytest.mark.scenario(34)
async def test_a_service_that_is_not_implemented_is_asked_for_once(root):
    driver = DraDriver(root, health=(), announced=("v1.DRAPlugin", "v1.DRAResourceHealth"))
    async with driver, Listening(root) as node:
        await node.events.until(Silent)
        text = "gpu.example.com does not implement v1.DRAResourceHealth: its devices stay Unknown"
        assert node.events.of(Note) == [Note(str(driver.socket), text)]
        pauses = len(node.clock.slept)
        for _ in range(10):
            await node.look()
        assert len(node.clock.slept) == pauses + 10
        assert len(node.drivers.registered()) == 1


@pytest.mark.scenario(34)
async def test_devices_of_a_driver_without_health_are_unknown(root):
    driver = DraDriver(root, health=(), announced=("v1.DRAPlugin", "v1.DRAResourceHealth"))
    async with driver, NodeHarness(root) as harness:
        uid = train(harness)
        await harness.until(lambda: harness.notes)
        assert harness.shown(uid) == {NAME: {GPU[0]: "Unknown"}}


@pytest.mark.scenario(35)
async def test_a_message_over_four_megabytes_ends_the_stream_with_one_note(root):
    many = [Reading(NODE, f"gpu-{number}", "Healthy", "x" * 1024) for number in range(4200)]
    async with DraDriver(root) as driver, Listening(root) as node:
        await node.events.until(Report)
        driver.devices = {reading.name: reading for reading in many}
        for attempt in (1, 2, 3):
            driver.tell()
            await driver.audience.until(0)
            await node.clock.until_slept(attempt + node.clock.slept.count(1.0))
            node.clock.advance(30.0)
        await node.events.until(Note)
        assert [note.text.endswith("(RESOURCE_EXHAUSTED)") for note in node.events.of(Note)] == [True]
        assert len(node.events.of(Report)) == 1


@pytest.mark.scenario(38)
async def test_a_driver_that_says_more_than_is_read_has_to_wait(root):
    message = streams.V1.write([Reading(NODE, f"gpu-{number}", "Healthy", "x" * 1000) for number in range(500)])
    total, in_flight = 300, 0
    async with DraDriver(root, devices=[]) as driver:
        node = Listening(root, queue=4)
        async with node.drivers:
            await driver.audience.until(1)
            for _ in range(total):
                driver.audience.send(message)
            events, got = node.drivers.events(), 0
            while got < total:
                event = await anext(events)
                got += isinstance(event, Report) and bool(event.readings)
                in_flight = max(in_flight, driver.audience.taken - got)
            await events.aclose()
        # What is on the way is what the queue and the windows of HTTP/2 hold, not what the driver has to say.
        assert in_flight < 60


@pytest.mark.scenario(39)
@pytest.mark.parametrize(
    "offered, taken",
    [
        pytest.param((streams.V1ALPHA1, streams.V1), streams.V1, id="both"),
        pytest.param((streams.V1ALPHA1,), streams.V1ALPHA1, id="v1alpha1"),
        pytest.param((streams.V1,), streams.V1, id="v1"),
    ],
)
async def test_the_best_version_of_the_health_service_is_taken(root, offered, taken):
    async with DraDriver(root, health=offered) as driver, NodeHarness(root) as harness:
        uid = train(harness)
        await shows(harness, uid, "Healthy")
        assert harness.drivers.newest("gpu.example.com").streams == (taken,)
        driver.set("gpu-0", "Unhealthy", "broken")
        await shows(harness, uid, ("Unhealthy", "broken"))


@pytest.mark.scenario(40)
@pytest.mark.parametrize("offered", [pytest.param(streams.NEWER, id="newer"), pytest.param(streams.OLDER, id="older")])
async def test_the_documents_service_is_taken_only_if_one_wants_it(root, offered):
    async with DraDriver(root, health=(offered,)) as driver:
        async with NodeHarness(root, documents=True) as harness:
            uid = train(harness)
            await shows(harness, uid, "Healthy")
            driver.set("gpu-0", "Unhealthy", "the message has no place in it")
            await shows(harness, uid, "Unhealthy")
        async with Listening(root) as node:
            assert await node.events.until(Registered) == Registered("gpu.example.com", str(driver.socket), False)
            await driver.until_asked("NotifyRegistrationStatus", 2)
            assert driver.audience.opened == 1


@pytest.mark.scenario(40)
async def test_the_older_documents_list_is_all_there_is(root):
    async with DraDriver(root, health=(streams.OLDER,)) as driver, NodeHarness(root, documents=True) as harness:
        uid = train(harness)
        await shows(harness, uid, "Healthy")
        driver.remove("gpu-0")
        await shows(harness, uid, "Unknown")


async def test_a_driver_that_has_none_of_the_documents_services_is_silent(root):
    async with DraDriver(root, health=()) as driver, Listening(root, documents=True) as node:
        await node.events.until(Silent)
        assert len(node.events.of(Note)) == 1
        assert driver.notified == [None]
