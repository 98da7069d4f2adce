"""The simulated driver as a command: told what to do line by line, and run as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import signal
import subprocess
import sys

import pytest

from podstrat.node.drivers.protocols import calls, dra
from podstrat.node.model import Report, Unregistered
from podstrat.node.simulator import command as simulation
from tests.node.fixtures import Listening, VirtualClock


def options(root, *more):
    parser = argparse.ArgumentParser()
    simulation.arguments(parser)
    return parser.parse_args(["--root", str(root), *more])


class Playing:
    """A simulation in this process, with somebody who listens to it."""

    def __init__(self, root, *more):
        self.simulated = simulation.Simulation(options(root, *more), VirtualClock())
        self.node = Listening(root, device_plugins=root / "device-plugins")

    async def __aenter__(self):
        await self.node.__aenter__()
        for driver in self.simulated.drivers:
            await driver.start()
        await self.node.look_until(Report, len(self.simulated.drivers))
        return self

    async def __aexit__(self, *_):
        for driver in self.simulated.drivers:
            await driver.stop()
        await self.node.__aexit__()

    async def do(self, line):
        """One line, and the next report."""
        reports = len(self.node.events.of(Report))
        assert await self.simulated.do(line) is None
        return {reading.name: reading for reading in (await self.node.events.until(Report, reports + 1)).readings}


async def test_devices_change_come_and_go(root):
    async with Playing(root, "--driver", "gpu.example.com", "--devices", "3") as playing:
        said = await playing.do("health gpu-1 Unhealthy XID 79: fallen off the bus")
        assert said["gpu-1"][2:4] == ("Unhealthy", "XID 79: fallen off the bus")
        assert said["gpu-0"].health == "Healthy"
        said = await playing.do("health gpu-* Unknown")
        assert {each.health for each in said.values()} == {"Unknown"}
        assert (await playing.do("timeout gpu-0 60"))["gpu-0"].timeout == 60
        assert sorted(await playing.do("add gpu-8 gpu-9")) == ["gpu-0", "gpu-1", "gpu-2", "gpu-8", "gpu-9"]
        assert sorted(await playing.do("remove gpu-8 gpu-0")) == ["gpu-1", "gpu-2", "gpu-9"]


async def test_both_kinds_of_driver_say_the_same(root):
    async with Playing(root, "--driver", "gpu.example.com", "--resource", "example.com/gpu", "--devices", "2") as playing:
        assert await playing.simulated.do("health gpu-0 Unhealthy") is None
        await playing.node.events.until(Report, 4)
        said = {event.session.driver: event.readings[0].health for event in playing.node.events.of(Report)[2:]}
        assert said == {"gpu.example.com": "Unhealthy", "example.com/gpu": "Unhealthy"}


async def test_a_quiet_driver_speaks_when_it_is_told_to(root):
    async with Playing(root, "--driver", "gpu.example.com") as playing:
        assert await playing.simulated.do("quiet") is None
        assert await playing.simulated.do("health gpu-0 Unhealthy") is None
        assert (await playing.do("speak"))["gpu-0"].health == "Unhealthy"
        assert len(playing.node.events.of(Report)) == 2


async def test_a_rolling_update(root):
    async with Playing(root, "--driver", "gpu.example.com") as playing:
        await playing.do("health gpu-3 Unhealthy")
        rolled = simulation.asyncio.ensure_future(playing.simulated.do("roll"))
        while not rolled.done():
            await playing.node.look()
        assert rolled.result() is None
        await playing.node.look()
        gone = await playing.node.events.until(Unregistered)
        assert gone.endpoint.endswith("dra.sock")
        assert playing.node.drivers.newest("gpu.example.com").endpoint.endswith("dra-1.sock")
        assert {reading.name: reading.health for reading in playing.node.events.of(Report)[-1].readings}["gpu-3"] == "Unhealthy"


async def test_claims_that_cannot_be_prepared(root):
    async with Playing(root, "--driver", "gpu.example.com", "--prepares", "v1beta1") as playing:
        socket, claim = playing.node.drivers.newest("gpu.example.com").endpoint, dra.Claim("default", "a", "uid-a")
        assert await playing.simulated.do("fail uid-a permanent no such firmware") is None
        assert (await dra.prepare(socket, "v1beta1", [claim]))["uid-a"] == dra.Result(error="no such firmware", permanent=True)
        assert await playing.simulated.do("mend uid-a") is None
        assert (await dra.prepare(socket, "v1beta1", [claim]))["uid-a"] == dra.Result()


async def test_calls_that_are_not_answered(root):
    async with Playing(root, "--driver", "gpu.example.com") as playing:
        socket, claim = playing.node.drivers.newest("gpu.example.com").endpoint, dra.Claim("default", "a", "uid-a")
        assert await playing.simulated.do("hang NodePrepareResources") is None
        with pytest.raises(calls.CallFailed, match="DEADLINE_EXCEEDED"):
            await dra.prepare(socket, "v1", [claim], timeout=0.05)
        assert await playing.simulated.do("answer NodePrepareResources") is None
        assert await dra.prepare(socket, "v1", [claim]) == {"uid-a": dra.Result()}


def test_it_has_to_be_something(root, capsys):
    assert simulation.run(options(root)) == 2
    assert "specify --driver, --resource, or both" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line, words",
    [
        pytest.param("explode", "unknown command: explode", id="word"),
        pytest.param("health gpu-0 fine", "health: invalid health 'fine': must be Healthy, Unhealthy or Unknown", id="health"),
        pytest.param("health", "health: not enough values to unpack (expected at least 2, got 0)", id="too-few"),
        pytest.param("remove nothing", "remove: 'nothing'", id="device"),
        pytest.param("fail a b c", "fail: invalid kind 'b': must be permanent or transient", id="failure"),
    ],
)
async def test_a_wrong_line_is_answered_with_what_is_wrong(root, line, words):
    assert await simulation.Simulation(options(root, "--driver", "d"), VirtualClock()).do(line) == words


def run(root, *more, **streams):
    command = [sys.executable, "-m", "podstrat.node.simulator.command", "--root", str(root), "--driver", "gpu.example.com", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **streams)


def test_the_command_takes_lines_from_a_pipe_and_stops_in_good_order(root):
    with run(root, stdin=subprocess.PIPE) as command:
        output, _ = command.communicate("# a comment\n\nhealth gpu-0 Unhealthy\nnonsense\nstop\n", timeout=30)
        assert output.splitlines() == ["ready", "ok", "unknown command: nonsense", "ok"]
        assert command.returncode == 0
    assert not list((root / "plugins_registry").iterdir())


def test_the_command_takes_lines_from_a_file_and_stays_until_it_is_told_to_go(root):
    (root / "script").write_text("wait 0.01\nhealth gpu-0 Unhealthy\n")
    with run(root, "--script", str(root / "script")) as command:
        assert [command.stdout.readline() for _ in range(3)] == ["ready\n", "ok\n", "ok\n"]
        assert [path.name for path in (root / "plugins_registry").iterdir()] == ["gpu.example.com-reg.sock"]
        command.send_signal(signal.SIGTERM)
        assert command.wait(30) == 0
    assert not list((root / "plugins_registry").iterdir())


async def test_sigterm_in_the_middle_of_calls_is_not_worth_a_traceback(root):
    claim = dra.Claim("default", "a", "uid-a")
    with run(root, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        command.stdin.write("hang NodePrepareResources\n")
        command.stdin.flush()
        assert [command.stdout.readline() for _ in range(2)] == ["ready\n", "ok\n"]
        async with Listening(root) as node:
            await node.look_until(Report)  # its stream stays open
            call = asyncio.ensure_future(dra.prepare(node.drivers.newest("gpu.example.com").endpoint, "v1", [claim]))
            await asyncio.sleep(0.1)  # the driver does not say that a call has come
            command.send_signal(signal.SIGTERM)
            _, err = await asyncio.to_thread(command.communicate, timeout=30)
            with pytest.raises(calls.CallFailed):
                await call
    assert command.returncode == 0
    assert "Traceback" not in err


def test_a_crash_leaves_everything_as_it_was(root):
    with run(root, stdin=subprocess.PIPE) as command:
        command.communicate("crash\n", timeout=30)
        assert command.returncode == -signal.SIGKILL
    assert [path.name for path in (root / "plugins_registry").iterdir()] == ["gpu.example.com-reg.sock"]
