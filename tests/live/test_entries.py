"""What of an object is shown, and how devices are gathered from slices and from what pods say of them."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.live import entries

SLICE = {
    "spec": {
        "nodeName": "n",
        "driver": "gpu.example.com",
        "pool": {"name": "n"},
        "devices": [{"name": f"gpu-{i}"} for i in range(12)],
    }
}


def pod(name: str, *said: tuple[str, str, str], phase: str = "Running", **meta: Any) -> entries.Pod:
    by_name: dict[str, list[dict[str, str]]] = {}
    for entry, resource, health in said:
        by_name.setdefault(entry, []).append({"resourceID": resource, "health": health, "message": "m"})
    statuses = [{"name": "c", "allocatedResourcesStatus": [{"name": each, "resources": all_} for each, all_ in by_name.items()]}]
    return entries.pod(
        {
            "metadata": {"name": name, "namespace": "d", "generation": 2, **meta},
            "spec": {"nodeName": "n"},
            "status": {"phase": phase, "observedGeneration": 1, "containerStatuses": statuses},
        }
    )


def devices(*pods: entries.Pod, offered: bool = True) -> dict[str, dict[str, str]]:
    _, there = entries.slice_devices(SLICE)
    made = entries.node("n", None, there if offered else (), pods)
    return {group: {each["name"]: each["health"] for each in all_} for group, all_ in made["groups"].items()}


@pytest.mark.parametrize(
    "entry, resource, group, name",
    [
        pytest.param("claim:gpus", "gpu.example.com/n/gpu-1", "gpu.example.com/n", "gpu-1", id="driver/pool/device"),
        pytest.param("claim:gpus/one", "vendor.com/gpu=gpu-1", "vendor.com/gpu", "gpu-1", id="CDI"),
        pytest.param("example.com/gpu", "GPU-3/a", "example.com/gpu", "GPU-3/a", id="a device plugin's"),
    ],
)
def test_names_of_devices(entry: str, resource: str, group: str, name: str) -> None:
    (device,) = pod("a", (entry, resource, "Unhealthy")).devices
    assert (device.group, device.name, device.health, device.message, device.pods) == (group, name, "Unhealthy", "m", ("d/a",))


def test_devices_that_nobody_holds_are_free_and_the_worst_word_counts() -> None:
    one = pod("a", ("claim:x", "gpu.example.com/n/gpu-1", "Unhealthy"))
    two = pod("b", ("claim:x", "gpu.example.com/n/gpu-1", "Healthy"), ("claim:x", "gpu.example.com/n/gpu-2", "Healthy"))
    found = devices(one, two)["gpu.example.com/n"]
    assert list(found) == [f"gpu-{i}" for i in range(12)]
    assert (found["gpu-0"], found["gpu-1"], found["gpu-2"]) == ("", "Unhealthy", "Healthy")


def test_a_pod_that_has_ended_says_nothing_of_what_is() -> None:
    assert (
        devices(pod("a", ("claim:x", "gpu.example.com/n/gpu-1", "Unhealthy"), phase="Failed"))["gpu.example.com/n"]["gpu-1"] == ""
    )


def test_what_is_shown_of_a_pod() -> None:
    shown = pod("a", ("example.com/gpu", "gpu-1", "Unknown"), deletionTimestamp="2026-01-01T00:00:00Z").shown
    assert (shown["generation"], shown["observed"], shown["phase"], shown["going"]) == (2, 1, "Running", True)
    assert shown["devices"] == [["gpu-1", "Unknown", "m"]]
    assert entries.pod({"metadata": {"name": "bare"}}).shown["phase"] == "Unknown"


def test_an_event_and_its_latest_time() -> None:
    found = entries.event(
        {
            "metadata": {"name": "e", "creationTimestamp": "1"},
            "involvedObject": {"kind": "Pod", "namespace": "d", "name": "a"},
            "lastTimestamp": "2",
            "count": 3,
            "message": "x" * 5000,
        }
    )
    assert (found["time"], found["about"], found["count"], len(found["message"])) == ("2", "Pod/d/a", 3, entries.LONGEST + 1)
