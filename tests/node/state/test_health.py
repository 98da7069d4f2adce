"""The health of devices: the rules, with time as an argument."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.node.model import (
    NOT_KNOWN,
    Closed,
    Device,
    DeviceHealth,
    Note,
    Reading,
    Registered,
    Report,
    Session,
    Silent,
    Unregistered,
)
from podstrat.node.runtime.deadlines import NEVER, Deadlines
from podstrat.node.state import sanitize
from podstrat.node.state.health import Health, Settings

DRIVER = "gpu.example.com"
OLD, NEW = Session(DRIVER, "/old", 1), Session(DRIVER, "/new", 2)
GPU = [Device(DRIVER, "pool", f"gpu-{number}") for number in range(4)]


def says(number, health="Healthy", message="", timeout=30):
    return Reading("pool", f"gpu-{number}", health, message, timeout)


def report(session, *devices, complete=False):
    return Report(session, devices, complete)


def healthy(state, *, at=0.0, devices=(0,), timeout=30):
    """The old endpoint is registered and has said that all is well."""
    state.take(Registered(DRIVER, "/old", True), at)
    state.take(report(OLD, *(says(number, timeout=timeout) for number in devices)), at)
    return state


def test_what_nobody_vouches_for_is_unknown():
    assert Health().look(GPU[0], 0.0) == NOT_KNOWN
    assert healthy(Health()).look(GPU[1], 0.0) == NOT_KNOWN


def test_what_changed_comes_out():
    state = Health()
    assert state.take(Registered(DRIVER, "/old", True), 0.0) == (set(), [])
    assert state.take(report(OLD, says(0), says(1, "Unknown")), 0.0).changed == {GPU[0]}
    assert state.take(report(OLD, says(0), says(1)), 1.0).changed == {GPU[1]}
    assert state.take(report(OLD, says(0), says(1)), 2.0).changed == set()
    assert state.take(report(OLD, says(0, message="warm")), 3.0).changed == {GPU[0]}
    assert state.look(GPU[0], 3.0) == DeviceHealth("Healthy", "warm")


def test_a_message_that_reads_the_same_when_cleaned_is_no_change():
    state = healthy(Health())
    state.take(report(OLD, says(0, message="a b")), 1.0)
    assert state.take(report(OLD, says(0, message="a\nb ")), 2.0).changed == set()


def test_a_note_is_passed_on():
    assert Health().take(Note("/x.sock", "is odd"), 0.0) == (set(), ["/x.sock: is odd"])


def test_what_an_unregistered_endpoint_says_is_ignored():
    state = Health()
    assert state.take(report(OLD, says(0)), 0.0).changed == set()
    assert state.size() == 0


@pytest.mark.scenario(27)
@pytest.mark.parametrize(
    "timeout, seconds",
    [
        pytest.param(0, 30.0, id="nothing"),
        pytest.param(-1, 30.0, id="negative"),
        pytest.param(1, 1.0, id="a-second"),
        pytest.param(86400, 86400.0, id="a-day"),
        pytest.param(2**40, 86400.0, id="ages"),
        pytest.param(2**62, 86400.0, id="more-than-the-universe"),
    ],
)
def test_timeouts_are_brought_into_reason(timeout, seconds):
    state = Health()
    state.take(Registered(DRIVER, "/old", True), 100.0)
    notes = [note for _ in range(3) for note in state.take(report(OLD, says(0, timeout=timeout)), 100.0).notes]
    assert notes == (["gpu.example.com: negative health_check_timeout_seconds; using 30 s"] if timeout < 0 else [])
    assert state.next_deadline() == 100.0 + seconds
    assert state.expire(100.0 + seconds - 0.001).changed == set()
    assert state.look(GPU[0], 100.0 + seconds - 0.001).health == "Healthy"
    assert state.look(GPU[0], 100.0 + seconds) == NOT_KNOWN
    assert state.expire(100.0 + seconds).changed == {GPU[0]}
    assert state.size() == 0


def test_a_refresh_puts_the_deadline_off_and_a_shorter_timeout_brings_it_forward():
    state = healthy(Health())
    state.take(report(OLD, says(0)), 20.0)
    assert state.expire(30.0).changed == set()
    state.take(report(OLD, says(0, timeout=5)), 30.0)
    assert state.expire(34.9).changed == set()
    assert state.expire(35.0).changed == {GPU[0]}


def test_what_is_due_is_due_before_what_is_said():
    state = healthy(Health())
    assert state.take(report(OLD, says(1)), 30.0).changed == {GPU[0], GPU[1]}


def test_a_quiet_driver_is_believed_while_its_stream_is_open():
    state = healthy(Health(Settings(quiet=frozenset({DRIVER}))))
    assert state.next_deadline() == NEVER
    assert state.look(GPU[0], 1e9).health == "Healthy"
    assert state.take(Closed(OLD, "bye"), 1e9).changed == {GPU[0]}


# Streams that end


def test_the_end_of_the_stream_is_the_end_of_what_it_said():
    state = healthy(Health(), devices=(0, 1))
    assert state.take(Closed(OLD, "bye"), 1.0).changed == {GPU[0], GPU[1]}
    assert state.take(report(OLD._replace(number=3), says(0)), 2.0).changed == {GPU[0]}


def test_an_old_streams_end_does_not_touch_what_a_newer_one_said():
    state = healthy(Health())
    state.take(report(OLD._replace(number=5), says(0, "Unhealthy")), 1.0)
    assert state.take(Closed(OLD, "late"), 2.0).changed == set()
    assert state.take(report(OLD, says(0)), 3.0).changed == set()
    assert state.look(GPU[0], 3.0).health == "Unhealthy"


def test_within_the_grace_a_driver_may_come_back_unnoticed():
    state = healthy(Health(Settings(grace=5.0)))
    assert state.take(Closed(OLD, "bye"), 1.0).changed == set()
    assert state.take(Unregistered(DRIVER, "/old"), 1.0).changed == set()
    assert state.take(Registered(DRIVER, "/old", True), 2.0).changed == set()
    assert state.take(report(OLD._replace(number=2), says(0)), 5.9).changed == set()
    assert state.expire(20.0).changed == set()
    assert state.look(GPU[0], 20.0).health == "Healthy"


def test_after_the_grace_the_devices_are_unknown():
    state = healthy(Health(Settings(grace=5.0)))
    state.take(Closed(OLD, "bye"), 1.0)
    assert state.next_deadline() == 6.0
    assert state.look(GPU[0], 5.9).health == "Healthy"
    assert state.look(GPU[0], 6.0) == NOT_KNOWN
    assert state.expire(6.0).changed == {GPU[0]}


def test_the_grace_does_not_lengthen_a_timeout():
    state = healthy(Health(Settings(grace=60.0)))
    state.take(Closed(OLD, "bye"), 1.0)
    assert state.expire(30.0).changed == {GPU[0]}


# Several endpoints


def both(state, timeout=30):
    """The old endpoint says Healthy, the new one has only registered."""
    healthy(state, timeout=timeout)
    state.take(Registered(DRIVER, "/new", True), 1.0)
    return state


def test_the_new_endpoint_takes_over_with_its_first_report_in_one_step():
    state = both(Health())
    assert state.look(GPU[0], 1.0).health == "Healthy"
    assert state.take(report(NEW, says(0, "Unhealthy")), 2.0).changed == {GPU[0]}
    assert state.take(report(OLD, says(0)), 3.0).changed == set()
    assert state.take(Closed(OLD, "bye"), 4.0).changed == set()
    assert state.take(Unregistered(DRIVER, "/old"), 4.0).changed == set()
    assert state.look(GPU[0], 4.0).health == "Unhealthy"


def test_what_the_new_endpoint_has_not_mentioned_stays_for_its_time():
    state = both(Health())
    assert state.take(report(NEW, says(1)), 2.0).changed == {GPU[1]}
    state.take(Closed(OLD, "bye"), 3.0)
    assert state.look(GPU[0], 29.0).health == "Healthy"
    assert state.expire(30.0).changed == {GPU[0]}


def test_an_old_stream_that_ends_first_is_believed_until_the_handover_is_due():
    state = both(Health(Settings(handover=10.0)))
    assert state.take(Closed(OLD, "bye"), 2.0).changed == set()
    assert state.expire(11.9).changed == set()
    assert state.expire(12.0).changed == {GPU[0]}


def test_a_new_endpoint_without_health_ends_it_with_the_old_stream():
    state = both(Health())
    state.take(Silent(DRIVER, "/new"), 2.0)
    assert state.look(GPU[0], 3.0).health == "Healthy"
    assert state.take(Closed(OLD, "bye"), 3.0).changed == {GPU[0]}


def test_a_new_endpoint_that_turns_out_to_have_no_health_ends_the_wait():
    state = both(Health(Settings(handover=10.0)))
    state.take(Closed(OLD, "bye"), 2.0)
    assert state.take(Silent(DRIVER, "/new"), 3.0).changed == {GPU[0]}


def test_when_the_new_endpoint_goes_the_old_one_is_believed_again():
    state = both(Health())
    state.take(report(NEW, says(0, "Unhealthy")), 2.0)
    state.take(report(OLD, says(0)), 3.0)
    assert state.take(Closed(NEW, "bye"), 4.0).changed == {GPU[0]}
    assert state.look(GPU[0], 4.0).health == "Healthy"
    assert state.take(Unregistered(DRIVER, "/new"), 5.0).changed == set()


def test_with_a_grace_a_new_endpoint_that_stumbles_does_not_make_the_old_one_speak():
    state = both(Health(Settings(grace=5.0)))
    state.take(report(NEW, says(0, "Unhealthy")), 2.0)
    assert state.take(Closed(NEW, "oops"), 3.0).changed == set()
    assert state.take(report(NEW._replace(number=3), says(0, "Unhealthy")), 4.0).changed == set()
    assert state.take(Closed(NEW._replace(number=3), "oops"), 5.0).changed == set()
    assert state.expire(10.0).changed == {GPU[0]}
    assert state.look(GPU[0], 10.0).health == "Healthy"


# Complete lists


PLUGIN = Session("example.com/gpu", "/plugin", 1)


def plugin(state, *ids, at=0.0):
    state.take(Registered(PLUGIN.driver, PLUGIN.endpoint, True), at)
    return state.take(Report(PLUGIN, [Reading("", each, "Healthy") for each in ids], True), at).changed


def test_a_device_that_is_missing_from_a_complete_list_is_unknown_at_once():
    state = Health()
    assert plugin(state, "a", "b") == {Device(PLUGIN.driver, "", "a"), Device(PLUGIN.driver, "", "b")}
    assert state.take(Report(PLUGIN, [Reading("", "b", "Healthy")], True), 1.0).changed == {Device(PLUGIN.driver, "", "a")}
    assert state.next_deadline() == NEVER
    assert state.size() == 1


# Room


def test_no_more_devices_are_remembered_than_there_is_room_for():
    state = Health(Settings(devices=2))
    state.take(Registered(DRIVER, "/old", True), 0.0)
    outcome = state.take(report(OLD, *(says(number) for number in range(4))), 0.0)
    assert outcome == ({GPU[0], GPU[1]}, ["gpu.example.com: more than 2 devices; 2 new devices ignored"])
    assert state.take(report(OLD, says(3), says(0, "Unhealthy")), 1.0) == ({GPU[0]}, [])
    assert state.take(report(OLD, says(3)), 60.0).changed == {GPU[0], GPU[1], GPU[3]}


@pytest.mark.scenario(37)
def test_twenty_thousand_invented_names_and_ever_new_ones_are_held_at_bay():
    state = Health()
    state.take(Registered(DRIVER, "/old", True), 0.0)
    state.take(report(OLD, *(Reading("pool", f"a{number}", "Healthy", timeout=30) for number in range(20_000))), 0.0)
    known = Device(DRIVER, "pool", "a0")
    notes = []
    for second in range(1, 200):
        said = [Reading("pool", f"b{second}-{number}", "Healthy", timeout=30) for number in range(200)]
        health = "Healthy" if second % 2 else "Unhealthy"
        outcome = state.take(report(OLD, *said, Reading("pool", "a0", health, timeout=30)), float(second))
        notes += outcome.notes
        assert known in outcome.changed or second == 1
        assert state.look(known, float(second)).health == health
        assert state.size() <= 16384
        assert len(state._deadlines) <= 16384 + 1
    assert len(notes) == 0  # the first one was at second 0, and soon there was room again


def test_streams_that_come_and_go_leave_nothing_behind():
    state = Health()
    for number in range(1, 200):
        session = Session(DRIVER, "/old", number)
        state.take(Registered(DRIVER, "/old", True), float(number))
        state.take(report(session, *(says(device, timeout=86400) for device in range(200))), float(number))
        state.take(Closed(session, "bye"), float(number))
        state.take(Unregistered(DRIVER, "/old"), float(number))
        assert len(state._deadlines) <= 300
    assert state.size() == 0
    assert not state._drivers


def objects():
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.scenario(36)
def test_ten_minutes_of_ten_thousand_devices_leave_things_as_they_were():
    state = Health()
    state.take(Registered(DRIVER, "/old", True), 0.0)
    everything = [Reading("pool", f"gpu-{number}", "Healthy", timeout=30) for number in range(10_000)]
    state.take(report(OLD, *everything), 0.0)

    def minute(number):
        for second in range(60 * number, 60 * number + 60):
            if second % 10 == 0:
                state.take(report(OLD, *everything), float(second))
            bad = Reading("pool", f"gpu-{second}", "Unhealthy" if number % 2 else "Healthy", f"{second}", timeout=30)
            assert state.take(report(OLD, bad), second + 0.5).changed == {Device(DRIVER, "pool", bad.name)}
            everything[second] = bad
            state.expire(second + 0.9)

    minute(0)
    before = objects()
    for number in range(1, 10):
        minute(number)
    assert state.size() == 10_000
    assert len(state._deadlines) <= 10_000
    assert objects() - before < 2000  # 540 devices have a message now that had none


# The queue of deadlines


class Thing:
    def __init__(self):
        self.deadline = self.queued = NEVER


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("sfa"), st.integers(0, 5), st.integers(1, 20)), max_size=60))
def test_the_queue_gives_out_each_thing_exactly_when_it_is_due(moves):
    queue, things, wanted, now = Deadlines(), [Thing() for _ in range(6)], {}, 0.0
    for move, number, amount in moves:
        if move == "s":
            things[number].deadline = wanted[number] = now + amount
            queue.watch(things[number])
        elif move == "f":
            queue.forget(things[number])
            wanted.pop(number, None)
        else:
            now += amount
            due = {number for number, when in wanted.items() if when <= now}
            assert {things.index(thing) for thing in queue.due(now)} == due
            wanted = {number: when for number, when in wanted.items() if number not in due}
        assert queue.next() <= min(wanted.values(), default=NEVER)


# Readings


@settings(deadline=None)
@given(st.text(), st.integers(8, 40))
def test_a_cut_text_fits_and_has_whole_characters(text, limit):
    text = text.encode(errors="replace").decode()
    cut = sanitize.cut(text, limit)
    assert len(cut.encode()) <= limit
    assert cut == text or text.startswith(cut.removesuffix("..."))


@settings(deadline=None)
@given(st.text(alphabet=st.characters()))
def test_whatever_a_driver_says_becomes_a_message_that_is_one_line(text):
    said = sanitize.message(text)
    assert said is None or (said.strip() and "\n" not in said and len(said.encode()) <= 1024)


@pytest.mark.parametrize(
    "device, is_plausible",
    [
        pytest.param(Device("d", "pool", "gpu-0"), True, id="ordinary"),
        pytest.param(Device("d", "rack-1/node.a", "gpu-0"), True, id="pool-with-slashes"),
        pytest.param(Device("d", "pool", "a/b"), False, id="device-with-slash"),
        pytest.param(Device("d", "pool", "GPU"), False, id="capitals"),
        pytest.param(Device("d", "pool", "x" * 64), False, id="long-device"),
        pytest.param(Device("d", "p" * 254, "gpu"), False, id="long-pool"),
        pytest.param(Device("d", "/pool", "gpu"), False, id="empty-part"),
        pytest.param(Device("d", "", "gpu"), False, id="no-pool"),
        pytest.param(Device("a.b/c", "", "GPU-8a1f::3"), True, id="device-plugin"),
        pytest.param(Device("a.b/c", "", ""), False, id="device-plugin-empty"),
        pytest.param(Device("a.b/c", "", "x" * 1025), False, id="device-plugin-long"),
        pytest.param(Device("a.b/c", "", "a\nb"), False, id="device-plugin-two-lines"),
    ],
)
def test_names_of_devices(device, is_plausible):
    assert sanitize.is_plausible(device) is is_plausible
