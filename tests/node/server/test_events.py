"""Events: series in the place of many objects, limits for each pod, and nothing said twice after a restart."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from podstrat.kubeclient.answer import Answer
from podstrat.node.model import DeviceHealth
from podstrat.node.server import events
from podstrat.node.server.events import Event, Recorder
from podstrat.node.state.transitions import Transitions
from tests.node.fixtures import Halfway, VirtualClock, gpu, pod


class EventServer:
    """An API server with Event objects, by name."""

    def __init__(self):
        self.events = {}
        self.asked = []

    async def request(self, method, path, body=None, content_type=""):
        await asyncio.sleep(0)
        self.asked.append(method)
        if method == "POST":
            self.events[body["metadata"]["name"]] = body
            return Answer.of(201, body)
        name = path.rpartition("/")[2]
        if name not in self.events:
            return Answer.of(404, {})
        self.events[name] |= body
        return Answer.of(200, self.events[name])


class RecorderHarness:
    def __init__(self):
        self.clock, self.server, self.counts = VirtualClock(), EventServer(), Counter()
        self.recorder = Recorder(
            self.server, "node-1", self.clock, lambda: "2026-11-01T00:00:00Z", Halfway(), lambda what: self.counts.update([what])
        )

    async def __aenter__(self):
        self._task = asyncio.ensure_future(self.recorder.run())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.wait({self._task})

    async def pass_time(self, seconds):
        for _ in range(int(seconds)):
            for _ in range(20):
                await asyncio.sleep(0)
            self.clock.advance(1.0)
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.mark.scenario(126)
async def test_a_flapping_device_is_a_series():
    """It was one event object a second."""
    made = pod()
    async with RecorderHarness() as harness:
        for number in range(30):
            reason, kind = ("DeviceUnhealthy", "Warning") if number % 2 else ("DeviceRecovered", "Normal")
            harness.recorder.record(Event(made, kind, reason, f"number {number}"))
            await harness.pass_time(1)
        await harness.pass_time(20)
        assert len(harness.server.events) == 2
        assert len(harness.server.asked) <= 2 * 5
        for each in harness.server.events.values():
            assert each["series"] == {"count": 15, "lastObservedTime": "2026-11-01T00:00:00.000000Z"}
            assert each["count"] == 15
        assert {each["message"] for each in harness.server.events.values()} == {"number 28", "number 29"}
        writes = len(harness.server.asked)
        await harness.pass_time(events.SERIES)
        assert len(harness.server.asked) == writes
        harness.recorder.record(Event(made, "Warning", "DeviceUnhealthy", "much later"))
        await harness.pass_time(1)
        assert len(harness.server.events) == 3  # the series is over


@pytest.mark.scenario(126)
async def test_an_event_is_sent_at_once_and_one_that_has_expired_is_made_again():
    async with RecorderHarness() as harness:
        harness.recorder.record(Event(pod(), "Warning", "DeviceUnhealthy", "first"))
        await harness.pass_time(0)
        (event,) = harness.server.events.values()
        assert event["message"] == "first"
        assert "series" not in event
        assert (event["action"], event["eventTime"]) == ("Watch", "2026-11-01T00:00:00.000000Z")
        assert (event["reportingComponent"], event["reportingInstance"]) == ("podstrat-node", "node-1")
        harness.server.events.clear()
        harness.recorder.record(Event(pod(), "Warning", "DeviceUnhealthy", "second"))
        await harness.pass_time(11)
        (event,) = harness.server.events.values()
        assert (event["message"], event["series"]["count"]) == ("second", 2)


@pytest.mark.scenario(126)
async def test_new_events_of_a_pod_are_rate_limited_and_others_are_not_held_up():
    async with RecorderHarness() as harness:
        for number in range(100):
            harness.recorder.record(Event(pod(), "Warning", f"Reason{number}", "text"))
        harness.recorder.record(Event(pod("other"), "Warning", "DeviceUnhealthy", "text"))
        await harness.pass_time(30)
        assert Counter(each["involvedObject"]["name"] for each in harness.server.events.values()) == {"train": 8, "other": 1}
        assert harness.counts["dropped"] == 92
        await harness.pass_time(60)
        harness.recorder.record(Event(pod(), "Warning", "Later", "text"))
        await harness.pass_time(1)
        assert len(harness.server.events) == 10


@pytest.mark.scenario(127)
def test_what_was_unhealthy_before_a_restart_is_not_reported_again():
    before = Transitions(pause=0.0)
    before.see("uid", {gpu(0): DeviceHealth("Unhealthy", "XID 79"), gpu(1): DeviceHealth("Healthy")}, 0.0)
    assert [each.reason for each in before.due(1.0)] == ["DeviceUnhealthy"]
    after = Transitions(pause=0.0)
    after.restore(before.rows())
    after.see("uid", {gpu(0): DeviceHealth("Unhealthy", "XID 79"), gpu(1): DeviceHealth("Healthy")}, 2.0)
    assert after.due(3.0) == []
    after.see("uid", {gpu(0): DeviceHealth("Healthy")}, 4.0)
    assert [each.reason for each in after.due(5.0)] == ["DeviceRecovered"]
    after.retain([])
    assert after.rows() == []
