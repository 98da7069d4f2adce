"""A pod's simulated life, station by station, without a server."""

from __future__ import annotations

import copy

import pytest

from podstrat.node import planner
from podstrat.node.status import lifecycle
from podstrat.node.status.lifecycle import BACKOFF, SECONDS, WHAT, Step, step, text
from tests.node.fixtures import ENGINE, pod

START = 1_800_000_000.0


def made(what=None, seconds="5", *, init=(), **meta):
    said = {} if what is None else {WHAT: what, SECONDS: seconds, BACKOFF: "10"}
    return pod("train", phase="Pending", statuses=False, init=init, metadata={"annotations": said, **meta})


def lived(pod, *times, ready=True, released=True):
    """The pod after looks at these times; what is written is what a server takes."""
    for now in times:
        taken = step(pod, now, ready=ready, released=released)
        if taken.status:
            operations = [{"op": "test", "path": "/metadata/uid", "value": pod["metadata"]["uid"]}]
            outcome = ENGINE.patch(operations + lifecycle.operations(taken.status), pod, type="json", subresource="status")
            assert not outcome.errors, [str(error) for error in outcome.errors]
            pod = outcome.pod
    return pod


def state(pod):
    (found,) = pod["status"]["containerStatuses"]
    (kind,) = found["state"]
    return pod["status"]["phase"], kind, found["state"][kind].get("reason", ""), found["restartCount"]


@pytest.mark.parametrize(
    "what, after, wanted",
    [
        pytest.param(None, 0, ("Running", "running", "", 0), id="by-default"),
        pytest.param("Running", 1000, ("Running", "running", "", 0), id="running"),
        pytest.param("nonsense", 1000, ("Running", "running", "", 0), id="nonsense"),
        pytest.param("Pending", 1000, ("Pending", "waiting", "ImagePullBackOff", 0), id="pending"),
        pytest.param("Succeeded", 4, ("Running", "running", "", 0), id="not-yet"),
        pytest.param("Succeeded", 5, ("Succeeded", "terminated", "Completed", 0), id="succeeded"),
        pytest.param("Failed", 5, ("Failed", "terminated", "Error", 0), id="failed"),
        pytest.param("CrashLoopBackOff", 4, ("Running", "running", "", 0), id="before-the-crash"),
        pytest.param("CrashLoopBackOff", 5, ("Running", "waiting", "CrashLoopBackOff", 0), id="crashed"),
    ],
)
def test_what_becomes_of_a_pod(what, after, wanted):
    assert state(lived(made(what), START, START + after)) == wanted


def test_a_crash_loop_goes_round():
    crashed = lived(made("CrashLoopBackOff"), START, START + 5)
    assert step(crashed, START + 6, ready=True, released=True) == Step({}, START + 15)
    again = lived(crashed, START + 15)
    assert state(again) == ("Running", "running", "", 1)
    assert state(lived(again, START + 20)) == ("Running", "waiting", "CrashLoopBackOff", 1)


def test_what_is_written_is_written_once():
    for what in lifecycle.CHOICES:
        pod = lived(made(what), START, START + 5)
        assert step(pod, START + 5, ready=True, released=True).status == {}


def test_a_pod_waits_until_all_it_holds_is_ready():
    waiting = lived(made(), START, ready=False)
    assert state(waiting) == ("Pending", "waiting", "ContainerCreating", 0)
    assert state(lived(waiting, START + 1)) == ("Running", "running", "", 0)


def test_the_end_is_told_when_everything_is_given_back():
    ended = lived(made("Failed"), START, START + 5, released=False)
    assert state(ended) == ("Running", "terminated", "Error", 0)
    assert step(ended, START + 6, ready=True, released=False).stopped
    assert state(lived(ended, START + 6))[0] == "Failed"


def test_a_deleted_pod_ends():
    running = lived(made(), START)
    deleted = copy.deepcopy(running)
    deleted["metadata"] |= {"deletionTimestamp": text(START + 30), "deletionGracePeriodSeconds": 30}
    found = step(deleted, START + 1, ready=True, released=True)
    assert found.stopped
    assert found.status["phase"] == "Failed"
    assert found.status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143


def test_init_containers_and_sidecars():
    pod = lived(made(init=[{"name": "once"}, {"name": "beside", "restartPolicy": "Always"}]), START)
    once, beside = pod["status"]["initContainerStatuses"]
    assert once["state"]["terminated"]["exitCode"] == 0
    assert "running" in beside["state"]


def test_conditions_of_others_stay_and_so_does_health():
    pod = made()
    pod["status"]["conditions"] = [
        {"type": "example.com/Other", "status": "True", "lastTransitionTime": None, "lastProbeTime": None}
    ]
    running = lived(pod, START)
    kinds = [each["type"] for each in running["status"]["conditions"]]
    assert kinds[0] == "example.com/Other"
    assert {"Ready", "Initialized", "ContainersReady", "PodScheduled"} <= set(kinds)


def test_a_pod_that_has_failed_stays_failed():
    failed = planner.failed(made(), "no", text(START))
    assert failed["phase"] == "Failed"
    over = {**made(), "status": {**made()["status"], "phase": "Succeeded"}}
    assert planner.failed(over, "no", text(START)) == {}
    assert step(over, START, ready=True, released=True) == Step({}, stopped=True)


def test_containers_of_a_pod_that_can_never_start_say_why():
    """As kubectl shows it: the reason of a container comes before that of its pod."""
    waiting = lived(made(init=[{"name": "once"}]), START, ready=False)
    failed = planner.failed(waiting, "no", text(START))
    assert [each["state"] for each in failed["containerStatuses"]] == [{"waiting": {"reason": planner.REASON}}]
    assert [each["state"] for each in failed["initContainerStatuses"]] == [{"waiting": {"reason": planner.REASON}}]
    operations = lifecycle.operations(failed)
    assert ENGINE.patch(operations, waiting, type="json", subresource="status").ok
