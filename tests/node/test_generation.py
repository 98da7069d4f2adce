"""status.observedGeneration, with the engine in the place of the server: what it stores is what we read next."""

from __future__ import annotations

import copy
import random

import pytest

from podstrat.node.model import NOT_KNOWN, DeviceHealth
from podstrat.node.state.devices import HeldDevice, Holding
from podstrat.node.status import condition as conditions
from podstrat.node.status import patch
from tests.node.fixtures import ENGINE, gpu, pod

ON, OFF = patch.Settings(), patch.Settings(observed_generation=False)
NOW = "2026-11-01T12:00:00Z"


def fresh(**status_fields):
    """A pod that nobody has observed yet."""
    made = pod(status={"observedGeneration": 0, **status_fields})
    made["status"].pop("observedGeneration", None)
    return made


def sync(made, settings=ON):
    """One look at the pod: the pod as it is stored afterwards, or None if there was nothing to write."""
    operations = patch.guarded(made, (), {}, settings)
    if not operations:
        return None
    outcome = ENGINE.patch(operations, made, type="json", subresource="status")
    assert not outcome.errors
    return outcome.pod


def observed(made):
    return made["status"].get("observedGeneration")


def with_image(made, image):
    changed = copy.deepcopy(made)
    changed["spec"]["containers"][0]["image"] = image
    outcome = ENGINE.update(changed, made)
    assert not outcome.errors
    return outcome.pod


@pytest.mark.scenario(70)
def test_a_new_pods_first_generation_is_observed():
    created = ENGINE.create({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}).pod
    created["metadata"]["uid"] = "uid-a"
    assert created["metadata"]["generation"] == 1
    assert observed(sync(created)) == 1


@pytest.mark.scenario(71)
def test_five_hundred_updates_end_in_the_last_one_and_never_go_back():
    stored, choose, last = sync(fresh()), random.Random(1), 0
    for number in range(500):
        stored = with_image(stored, f"train:{number}")
        if choose.random() < 0.3:
            stored = sync(stored)
            assert observed(stored) >= last
            last = observed(stored)
    stored = sync(stored) or stored
    assert observed(stored) == stored["metadata"]["generation"] == 501
    assert sync(stored) is None


@pytest.mark.scenario(72)
def test_a_label_is_nothing_to_write():
    stored = sync(fresh())
    labelled = copy.deepcopy(stored)
    labelled["metadata"]["labels"] = {"a": "b"}
    stored = ENGINE.update(labelled, stored).pod
    assert stored["metadata"]["generation"] == 1
    assert sync(stored) is None


@pytest.mark.scenario(73)
def test_a_change_during_the_write_is_caught_up_with():
    seen = with_image(sync(fresh()), "train:2")
    operations = patch.guarded(seen, (), {}, ON)
    meanwhile = with_image(seen, "train:3")
    stored = ENGINE.patch(operations, meanwhile, type="json", subresource="status").pod
    assert (stored["metadata"]["generation"], observed(stored)) == (3, 2)
    stored = sync(stored)
    assert observed(stored) == 3


@pytest.mark.scenario(74)
def test_with_the_gate_off_a_value_that_is_there_is_kept_up_and_none_is_begun():
    assert sync(fresh(), OFF) is None
    stored = with_image(sync(fresh()), "train:2")
    assert observed(sync(stored, OFF)) == 2


@pytest.mark.scenario(75)
def test_a_higher_value_on_the_server_is_left_alone():
    stored = copy.deepcopy(sync(fresh()))
    stored["status"]["observedGeneration"] = 9
    assert sync(stored) is None
    assert patch.observed_generation(stored, ON) == 9


@pytest.mark.scenario(77)
def test_the_generation_of_a_graceful_delete_is_observed():
    stored = sync(fresh())
    stored = ENGINE.delete(stored).pod
    assert stored["metadata"]["generation"] == 2
    assert stored["metadata"]["deletionTimestamp"]
    assert observed(sync(stored)) == 2


@pytest.mark.scenario(78)
def test_a_pod_without_a_generation_is_left_alone():
    old = fresh()
    old["metadata"].pop("generation")
    assert sync(old) is None


# Conditions


def with_conditions(*types, **more):
    return fresh(conditions=[{"type": each, "status": "True", **more} for each in types])


def test_the_nodes_conditions_go_with_a_write_and_others_do_not():
    stored = with_conditions("PodScheduled", "example.com/Own", "Ready")
    stored = sync(stored)
    assert [(each["type"], each.get("observedGeneration")) for each in stored["status"]["conditions"]] == [
        ("PodScheduled", 1),
        ("example.com/Own", None),
        ("Ready", 1),
    ]


def test_conditions_alone_are_no_reason_to_write():
    stored = with_conditions("Ready")
    stored["status"]["observedGeneration"] = 1
    assert sync(stored) is None


def test_with_the_gate_off_only_conditions_that_have_one_keep_it():
    stored = fresh(
        observedGeneration=1,
        conditions=[{"type": "Ready", "status": "True", "observedGeneration": 1}, {"type": "Initialized", "status": "True"}],
    )
    stored["status"]["observedGeneration"] = 1
    stored = sync(with_image(stored, "train:2"), OFF)
    assert [each.get("observedGeneration") for each in stored["status"]["conditions"]] == [2, None]


# The condition of our own


HELD = (Holding("main", "claim:gpu", (HeldDevice(gpu(0)), HeldDevice(gpu(1)))),)


def summed_up(made, *verdicts, now=NOW):
    operations = conditions.guarded(made, HELD, dict(zip((gpu(0), gpu(1)), verdicts, strict=True)), now)
    if not operations:
        return None
    outcome = ENGINE.patch(operations, made, type="json", subresource="status")
    assert not outcome.errors
    return outcome.pod


GOOD, BAD, ALSO_BAD = DeviceHealth("Healthy"), DeviceHealth("Unhealthy", "XID 79"), DeviceHealth("Unhealthy")


@pytest.mark.parametrize(
    "verdicts, wanted",
    [
        pytest.param((GOOD, GOOD), ("True", "DevicesHealthy", None), id="good"),
        pytest.param((GOOD, BAD), ("False", "DeviceUnhealthy", "gpu.example.com/node-1/gpu-1: XID 79"), id="one-bad"),
        pytest.param(
            (ALSO_BAD, BAD),
            ("False", "DeviceUnhealthy", "gpu.example.com/node-1/gpu-0; gpu.example.com/node-1/gpu-1: XID 79"),
            id="both-bad",
        ),
        pytest.param((NOT_KNOWN, BAD), ("False", "DeviceUnhealthy", "gpu.example.com/node-1/gpu-1: XID 79"), id="bad-is-worse"),
        pytest.param((GOOD, NOT_KNOWN), ("Unknown", "DeviceHealthUnknown", "gpu.example.com/node-1/gpu-1"), id="unknown"),
    ],
)
def test_the_condition_sums_up_the_devices(verdicts, wanted):
    stored = summed_up(pod(), *verdicts)
    (condition,) = stored["status"]["conditions"]
    assert (condition["status"], condition["reason"], condition.get("message")) == wanted
    assert condition["type"] == "podstrat.dev/DevicesHealthy"
    assert condition["observedGeneration"] == 1
    assert condition["lastTransitionTime"] == NOW
    assert summed_up(stored, *verdicts) is None


def test_the_time_of_the_condition_is_that_of_its_last_change():
    stored = summed_up(with_conditions("Ready"), GOOD, BAD)
    stored = summed_up(stored, GOOD, ALSO_BAD, now="2026-11-01T13:00:00Z")
    ready, condition = stored["status"]["conditions"]
    assert ready["type"] == "Ready"
    assert condition["lastTransitionTime"] == NOW
    stored = summed_up(stored, GOOD, GOOD, now="2026-11-01T14:00:00Z")
    assert stored["status"]["conditions"][1]["lastTransitionTime"] == "2026-11-01T14:00:00Z"
    assert "message" not in stored["status"]["conditions"][1]


def test_a_pod_without_devices_has_the_condition_only_if_somebody_waits_for_it():
    assert conditions.guarded(pod(), (), {}, NOW) == []
    waiting = pod(spec={"readinessGates": [{"conditionType": conditions.TYPE}]})
    (_, operation) = conditions.guarded(waiting, (), {}, NOW)
    assert operation["value"][0]["status"] == "True"
    assert operation["value"][0]["reason"] == "NoDevices"


def test_a_jobs_failure_policy_may_look_for_the_condition():
    rule = {"action": "FailJob", "onPodConditions": [{"type": conditions.TYPE, "status": "False"}]}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"template": template, "podFailurePolicy": {"rules": [rule]}},
    }
    assert not ENGINE.workload(job).errors
    gate = {"spec": {"containers": [{"name": "main", "image": "a:1"}], "readinessGates": [{"conditionType": conditions.TYPE}]}}
    assert not ENGINE.create({"metadata": {"name": "a"}, **gate}).errors
