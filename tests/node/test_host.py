"""The host: clocks that jump, disks that are full, processes that are killed, descriptors that run out."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import subprocess
import sys
import time

import pytest

from podstrat.node.model import Closed, Reading, Registered, Report, Session
from podstrat.node.runtime import clock
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.simulator.driver import DraDriver
from podstrat.node.state.allocations import Allocations
from podstrat.node.state.checkpoint import KEPT_ASIDE, Checkpoint, Pace
from podstrat.node.state.health import Health, Row
from podstrat.node.state.persistence import Persistence
from tests.node.fixtures import NODE, Listening, NodeHarness, VirtualClock, claim, gpu, pod

DRIVER = "gpu.example.com"
BOOT = "boot-1"


def known(now=1000.0, health="Healthy", timeout=30):
    state = Health()
    state.take(Registered(DRIVER, "/s", True), now)
    state.take(Report(Session(DRIVER, "/s", 1), [Reading(NODE, "gpu-0", health, "", timeout)], False), now)
    return state


class Restart:
    """What a process saves, and what the next one makes of it."""

    def __init__(self, root, boot=BOOT):
        self.path = root / "state" / "health"
        self.boot = boot
        self.clock = VirtualClock()
        self.wall = 1_800_000_000.0

    def persistence(self, health=None, given=None, boot=None):
        checkpoint = Checkpoint(self.path, self.boot if boot is None else boot)
        return Persistence(checkpoint, health or Health(), given or Allocations(), self.clock, lambda: self.wall)

    def pass_time(self, seconds, wall=None):
        self.clock.advance(seconds)
        self.wall += seconds if wall is None else wall

    def restarted(self, boot=None):
        saved = self.persistence(boot=boot)
        assert saved.load() == []
        return saved.health


@pytest.mark.scenario(100)
def test_the_clock_is_one_that_nobody_can_set(monkeypatch):
    def nobody_asks():
        raise AssertionError("the wall clock has no say")

    monkeypatch.setattr(time, "time", nobody_asks)
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= clock.BootClock().now() <= time.clock_gettime(time.CLOCK_BOOTTIME)
    state = known()
    assert state.look(gpu(0), 1029.0).health == "Healthy"
    assert state.expire(1030.0).changed == {gpu(0)}


@pytest.mark.scenario(101)
async def test_after_a_restart_nothing_from_the_future_is_believed(root):
    restart = Restart(root)
    await restart.persistence(known(timeout=7200)).save()
    restart.pass_time(1.0, wall=-3600.0)
    assert restart.restarted().look(gpu(0), restart.clock.now()).health == "Unknown"
    restart.wall += 3600.0 + 1
    assert restart.restarted().look(gpu(0), restart.clock.now()).health == "Healthy"


def test_a_row_from_the_future_or_too_old_is_not_believed():
    state = Health()
    rows = [
        Row(DRIVER, NODE, name, "Healthy", None, 30.0, received)
        for name, received in [("gpu-0", 1000.1), ("gpu-1", 1000.0), ("gpu-2", 970.0), ("gpu-3", 970.1)]
    ]
    state.restore(rows, 1000.0)
    assert [state.look(gpu(number), 1000.0).health for number in range(4)] == ["Unknown", "Healthy", "Unknown", "Healthy"]
    assert state.expire(1000.1).changed == {gpu(3)}


@pytest.mark.scenario(102)
async def test_after_a_long_suspension_what_has_expired_is_unknown_at_once(root):
    async with DraDriver(root), NodeHarness(root) as harness:
        made = pod(claims=["gpu"])
        uid = harness.add(made, claim("train-gpu", ["gpu-0"], made))
        await harness.until_shown(uid, "claim:gpu", "gpu.example.com/node-1/gpu-0", "Healthy")
        harness.clock.advance(600.0)
        await harness.until_shown(uid, "claim:gpu", "gpu.example.com/node-1/gpu-0", "Unknown")


@pytest.mark.scenario(102)
async def test_a_sleep_ends_when_the_machine_has_slept_as_well(monkeypatch):
    naps, ours = [], clock.BootClock()
    times = iter([100.0, 100.0, 701.0])  # ten minutes pass during the first nap of one second

    async def nap(seconds):
        naps.append(seconds)

    monkeypatch.setattr(clock.BootClock, "now", lambda self: next(times))
    monkeypatch.setattr(clock.asyncio, "sleep", nap)
    await ours.sleep(30.0)
    assert naps == [1.0]


def test_which_run_of_the_machine_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(clock, "BOOT_ID", tmp_path / "boot_id")
    assert clock.boot_id() == ""
    (tmp_path / "boot_id").write_text("abc\n")
    assert clock.boot_id() == "abc"


BAD_FILES = [
    pytest.param(b"", "is not a checkpoint", id="empty"),
    pytest.param(b"podstrat-node-checkpoint 2 4", "checksum mismatch", id="truncated-header"),
    pytest.param(b"[]\n[]", "is not a checkpoint", id="other-type"),
    pytest.param(b"\xff\xfe\x00", "is not a checkpoint", id="no-text"),
    pytest.param(b'{"version": 1, "checksum": "beef"}\n{}', "is not a checkpoint", id="first-version"),
    pytest.param(b"podstrat-node-checkpoint 3 beef\n{}\n{}", "unsupported version 3, expected 2", id="version"),
    pytest.param(b"podstrat-node-checkpoint 2 beef\n{}\n{}", "checksum mismatch", id="checksum"),
    pytest.param(None, "is a directory", id="directory"),
]


@pytest.mark.scenario(103)
@pytest.mark.parametrize("content, why", BAD_FILES)
async def test_a_bad_file_is_set_aside_and_no_reason_not_to_start(root, content, why):
    restart = Restart(root)
    restart.path.parent.mkdir()
    if content is None:
        restart.path.mkdir()
    else:
        restart.path.write_bytes(content)
    saved = restart.persistence(known())
    assert saved.load() == [f"{restart.path}: {why}; set aside as health.bad-1, starting empty"]
    aside = restart.path.with_name("health.bad-1")
    assert aside.is_dir() if content is None else aside.read_bytes() == content
    assert await saved.save() is None
    assert restart.restarted().look(gpu(0), 1000.0).health == "Healthy"


@pytest.mark.scenario(103)
async def test_a_file_cut_anywhere_is_a_bad_file(root):
    restart = Restart(root)
    await restart.persistence(known()).save()
    whole = restart.path.read_bytes()
    for length in range(len(whole)):
        restart.path.write_bytes(whole[:length])
        (note,) = restart.persistence().load()
        assert "starting empty" in note
    kept = [path.name for path in restart.path.parent.iterdir()]
    assert sorted(kept) == [f"health.bad-{number}" for number in range(1, KEPT_ASIDE + 1)]


async def test_a_file_that_is_whole_and_makes_no_sense_is_no_reason_not_to_start(root):
    restart = Restart(root)
    Checkpoint(restart.path, BOOT).save({"health": [["too", "short"]]}, 1000.0, restart.wall)
    (note,) = restart.persistence().load()
    assert "invalid content" in note


def test_a_file_that_is_too_large_is_not_read(root, monkeypatch):
    monkeypatch.setattr("podstrat.node.state.checkpoint.LARGEST", 10)
    Checkpoint(root / "x", BOOT).save({}, 0.0, 0.0)
    assert "is too large" in Checkpoint(root / "x", BOOT).load(0.0, 0.0).notes[0]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from podstrat.node.state.checkpoint import Checkpoint

checkpoint = Checkpoint(Path(sys.argv[1]), "boot-1")
checkpoint.save({"health": ["old"]}, 1.0, 1.0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    checkpoint.save({"health": ["x" * 10_000]}, 2.0, 2.0)
except OSError as error:
    print(error.strerror)
print(checkpoint.load(3.0, 3.0).content)
"""


@pytest.mark.scenario(104)
def test_when_the_disk_is_full_the_old_file_stays_as_it_was(root):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, root / "health"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["File too large", "{'health': ['old']}"]
    assert [path.name for path in root.iterdir()] == ["health"]


@pytest.mark.scenario(104)
async def test_while_it_cannot_be_saved_it_is_tried_again_and_said_once(root):
    restart = Restart(root)
    saved = restart.persistence(known())
    (root / "state").write_text("in the place of the directory")
    assert await saved.save() == f"{restart.path}: cannot write checkpoint: File exists"
    assert await saved.save() is None
    assert saved.pace.due(*saved._counts(), 1000.0) == 1010.0
    assert saved.health.look(gpu(0), 1000.0).health == "Healthy"
    (root / "state").unlink()
    assert await saved.save() == f"{restart.path}: checkpoint written again"
    assert restart.restarted().look(gpu(0), 1000.0).health == "Healthy"


SAVE_FOR_EVER = """
import itertools, sys
from pathlib import Path
from podstrat.node.state.checkpoint import Checkpoint

checkpoint = Checkpoint(Path(sys.argv[1]), "boot-1")
for number in itertools.count():
    checkpoint.save({"health": [number] * 20_000}, float(number), float(number))
    if number % 5 == 0:
        print(number, flush=True)
"""


@pytest.mark.scenario(105)
def test_a_process_killed_during_a_save_leaves_the_old_file_or_the_new_one(root):
    path = root / "health"
    for kill in range(6):
        child = subprocess.Popen([sys.executable, "-c", SAVE_FOR_EVER, path], stdout=subprocess.PIPE, text=True)
        last = [int(child.stdout.readline()) for _ in range(kill + 1)][-1]
        child.kill()  # somewhere in the saves that follow
        child.communicate()
        loaded = Checkpoint(path, BOOT).load(1e9, 1e9)
        assert loaded.notes == []
        assert len(set(loaded.content["health"])) == 1
        assert loaded.content["health"][0] >= last
        assert [each.name for each in root.iterdir()] == ["health"]


def test_what_a_save_that_was_cut_short_has_left_is_removed_at_start(root):
    (root / ".health.abc123").write_text("half of")
    (root / ".healthy").write_text("somebody else's")
    assert Checkpoint(root / "health", BOOT).load(0.0, 0.0).notes == []
    assert [path.name for path in root.iterdir()] == [".healthy"]


@pytest.mark.scenario(106)
async def test_after_a_restart_the_last_values_are_shown_while_they_are_good(root):
    restart = Restart(root)
    await restart.persistence(known(timeout=60)).save()
    restart.pass_time(59.0)
    state = restart.restarted()
    assert state.look(gpu(0), restart.clock.now()).health == "Healthy"
    assert state.expire(1060.0).changed == {gpu(0)}
    restart.pass_time(1.0)
    assert restart.restarted().look(gpu(0), restart.clock.now()).health == "Unknown"


@pytest.mark.scenario(106)
@pytest.mark.parametrize("boot", ["boot-2", ""])
async def test_after_a_restart_of_the_machine_nothing_is_believed(root, boot):
    restart = Restart(root, boot="" if not boot else BOOT)
    await restart.persistence(known()).save()
    assert restart.restarted(boot=boot).look(gpu(0), 1000.0).health == "Unknown"


@pytest.mark.scenario(106)
async def test_a_restart_with_the_drivers_up_is_no_write(root):
    restart = Restart(root)
    made = pod(claims=["gpu"])
    given = claim("train-gpu", ["gpu-0"], made)
    async with DraDriver(root) as driver:
        async with NodeHarness(root, clock=restart.clock) as harness:
            uid = harness.add(made, given)
            await harness.until_shown(uid, "claim:gpu", "gpu.example.com/node-1/gpu-0", "Healthy")
            await restart.persistence(harness.health).save()
            stored = harness.pods[uid]
        restart.pass_time(5.0)
        again = NodeHarness(root, clock=restart.clock)
        assert restart.persistence(again.health).load() == []
        async with again:
            again.claims.claim_seen(given, restart.clock.now())
            again.add(stored)
            driver.set("gpu-7", "Unhealthy")
            await again.until(lambda: again.changed)
            assert again.writes == {}


@pytest.mark.scenario(107)
@pytest.mark.parametrize("timeout", [pytest.param(30, id="dra"), pytest.param(None, id="device-plugin")])
async def test_a_device_that_was_unhealthy_is_never_healthy_in_between(root, timeout):
    restart, device = Restart(root), gpu(0)
    await restart.persistence(known(health="Unhealthy", timeout=timeout)).save()
    seen = []
    state = restart.restarted()
    for _ in range(40):
        restart.pass_time(1.0)
        state.expire(restart.clock.now())
        seen.append(state.look(device, restart.clock.now()).health)
    assert seen == ["Unhealthy"] * 29 + ["Unknown"] * 11


def test_what_was_restored_gives_way_to_what_the_driver_says():
    state = Health()
    rows = [Row(DRIVER, NODE, f"gpu-{number}", "Unhealthy", "old", 60.0, 990.0) for number in range(2)]
    state.restore(rows, 1000.0)
    assert state.take(Registered(DRIVER, "/s", True), 1001.0).changed == set()
    report = Report(Session(DRIVER, "/s", 1), [Reading(NODE, "gpu-0", "Healthy", "", 30)], False)
    assert state.take(report, 1002.0).changed == {gpu(0)}
    assert state.look(gpu(1), 1003.0) == ("Unhealthy", "old")
    assert state.take(Closed(Session(DRIVER, "/s", 1), "bye"), 1004.0).changed == {gpu(0), gpu(1)}


def test_what_was_restored_is_not_kept_for_a_driver_that_never_reports():
    state = Health()
    state.restore([Row(DRIVER, NODE, "gpu-0", "Healthy", None, 60.0, 990.0)], 1000.0)
    assert state.take(Registered(DRIVER, "/s", False), 1001.0).changed == {gpu(0)}


async def test_what_was_given_away_is_known_after_a_restart_of_the_machine(root):
    restart, given = Restart(root), Allocations()
    given.give("a", "main", "example.com/gpu", 1, ["gpu-0"])
    await restart.persistence(given=given).save()
    again = Allocations()
    restart.persistence(given=again, boot="boot-2").load()
    assert again.rows() == given.rows()


# When it is saved


def test_a_change_is_saved_soon_and_refreshes_are_saved_together():
    pace = Pace(change=1.0, refresh=5.0)
    assert pace.due(0, 0, 0.0) == NEVER
    assert pace.due(1, 1, 10.0) == 11.0
    assert pace.due(5, 9, 10.5) == 11.0
    pace.saved(5, 9, 11.0)
    assert pace.due(5, 9, 11.0) == NEVER
    assert pace.due(5, 10, 12.0) == 16.0
    assert pace.due(6, 11, 12.0) == 13.0
    pace.saved(6, 11, 13.0)
    assert pace.due(6, 12, 100.0) == 100.0


@pytest.mark.scenario(36)
async def test_ten_minutes_of_refreshes_and_a_change_every_minute_are_few_saves(root):
    restart, saves = Restart(root), []
    state = known(timeout=86400)
    saved = restart.persistence(state)
    saved.checkpoint.save = lambda content, now, wall: saves.append(now)
    notes = asyncio.ensure_future(anext(saved.run()))
    session = Session(DRIVER, "/s", 1)
    for second in range(600):
        reading = Reading(NODE, "gpu-0", "Healthy", f"minute {second // 60}", 86400)
        state.take(Report(session, [reading], False), restart.clock.now())
        await restart.clock.until_slept(second + 1)
        restart.clock.advance(1.0)
    notes.cancel()
    await asyncio.wait({notes})
    assert 100 < len(saves) <= 135
    assert all(later - earlier >= 1.0 for earlier, later in itertools.pairwise(saves))


# Descriptors and tasks


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.scenario(110)
async def test_many_reconnections_leave_neither_tasks_nor_descriptors(root):
    async with DraDriver(root, devices=1) as driver, Listening(root) as node:
        await node.events.until(Report)
        for number in range(1, 1000):
            if number == 50:
                tasks, open_files = len(asyncio.all_tasks()), descriptors()
            driver.end_streams()
            await node.events.until(Closed, number)
            await node.clock.until_asleep(2)  # the look, and the back-off
            node.clock.advance(200.0)
            await node.events.until(Report, number + 1)
        assert len(asyncio.all_tasks()) <= tasks + 2
        assert descriptors() <= open_files + 8


NO_DESCRIPTORS = """
import asyncio, os, resource, sys
from pathlib import Path

sys.path.insert(0, sys.argv[2])
from podstrat.node.model import Closed, Note, Registered, Report, Unregistered
from podstrat.node.simulator.driver import DraDriver
from tests.node.fixtures import Listening

async def main(root):
    async with DraDriver(root, "one.example.com") as one, Listening(root) as node:
        await node.events.until(Report)
        used = [int(each) for each in os.listdir("/proc/self/fd")]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(used) + 1, hard))
        taken = []
        try:
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        await node.look()
        await node.look()
        one.set("gpu-0", "Unhealthy")
        await node.events.until(Report, 2)
        print("degraded:", [note.text for note in node.events.of(Note)], len(node.events.of(Unregistered)))
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        async with DraDriver(root, "two.example.com"):
            await node.look()
            await node.events.until(Registered, 2)
            await node.events.until(Report, 3)
            print("recovered:", sorted(plugin.driver for plugin in node.drivers.registered()))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.scenario(110)
def test_without_descriptors_what_is_open_goes_on_and_afterwards_all_is_well(root):
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, "-c", NO_DESCRIPTORS, root, here], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "degraded: ['cannot scan for sockets: Too many open files'] 0",
        "recovered: ['one.example.com', 'two.example.com']",
    ], done.stderr
