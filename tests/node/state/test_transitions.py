"""Events about devices: few, and about what matters."""

from __future__ import annotations

from podstrat.node.model import NOT_KNOWN, DeviceHealth, PodEvent
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.state.transitions import Transitions
from tests.node.fixtures import gpu

GOOD, BAD = DeviceHealth("Healthy"), DeviceHealth("Unhealthy", "XID 79")
DEVICE = "gpu.example.com/node-1/gpu-"


def test_a_device_that_breaks_and_recovers():
    events = Transitions(pause=2.0)
    events.see("a", {gpu(0): GOOD, gpu(1): GOOD}, 0.0)
    assert events.next() == NEVER
    events.see("a", {gpu(0): BAD, gpu(1): GOOD}, 10.0)
    assert events.next() == 12.0
    assert events.due(11.9) == []
    assert events.due(12.0) == [PodEvent("a", "Warning", "DeviceUnhealthy", f"Device unhealthy: {DEVICE}0 (XID 79)")]
    assert events.due(1000.0) == []
    events.see("a", {gpu(0): GOOD}, 20.0)
    assert events.due(22.0) == [PodEvent("a", "Normal", "DeviceRecovered", f"Device healthy again: {DEVICE}0")]


def test_unknown_is_neither_the_one_nor_the_other():
    events = Transitions()
    for verdict in (GOOD, NOT_KNOWN, GOOD, NOT_KNOWN):
        events.see("a", {gpu(0): verdict}, 0.0)
    assert events.next() == NEVER
    events.see("a", {gpu(0): BAD}, 0.0)
    events.see("a", {gpu(0): NOT_KNOWN}, 0.0)
    events.see("a", {gpu(0): BAD}, 0.0)
    assert [event.reason for event in events.due(2.0)] == ["DeviceUnhealthy"]
    events.see("a", {gpu(0): NOT_KNOWN}, 3.0)
    events.see("a", {gpu(0): GOOD}, 4.0)
    assert [event.reason for event in events.due(6.0)] == ["DeviceRecovered"]


def test_a_pod_that_starts_with_a_bad_device_is_told():
    events = Transitions()
    events.see("a", {gpu(0): BAD}, 0.0)
    assert [event.reason for event in events.due(2.0)] == ["DeviceUnhealthy"]


def test_many_devices_are_one_event():
    events = Transitions()
    events.see("a", {gpu(number): BAD for number in range(12)}, 0.0)
    (event,) = events.due(2.0)
    assert event.message.startswith(f"Devices unhealthy: {DEVICE}0 (XID 79), {DEVICE}1 (XID 79)")
    assert event.message.endswith(" and 4 more")


def test_a_pod_that_is_gone_has_no_events():
    events = Transitions()
    events.see("a", {gpu(0): BAD}, 0.0)
    events.forget("a")
    assert events.due(10.0) == []
