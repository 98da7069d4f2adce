"""What is sent of a stored object."""

from __future__ import annotations

import copy

import pytest

from podstrat.audit import sent
from podstrat.strategy.engine import Engine

SYSTEM = {
    "uid": "1-2-3",
    "resourceVersion": "7",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [{"manager": "kubectl"}],
}
MIRROR = {"kubernetes.io/config.mirror": "hash"}


def test_system_fields_the_status_and_the_last_applied_annotation_are_removed():
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}
    stored = {
        "metadata": {"name": "web", "annotations": annotations, **SYSTEM},
        "spec": {"replicas": 2},
        "status": {"replicas": 2},
    }
    before = copy.deepcopy(stored)
    assert sent.of(stored, "apps/v1", "Deployment") == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {"a": "b"}},
        "spec": {"replicas": 2},
    }
    assert stored == before


@pytest.mark.parametrize(
    "annotations, spec, kept",
    [
        pytest.param({}, {"nodeName": "n1", "hostPID": True}, {"hostPID": True}, id="bound"),
        pytest.param(MIRROR, {"nodeName": "n1"}, {"nodeName": "n1"}, id="mirror"),
        pytest.param({}, {"priority": 5, "preemptionPolicy": "Never"}, {}, id="priority"),
        pytest.param({}, {"overhead": {"cpu": "1"}, "runtimeClassName": "r"}, {"runtimeClassName": "r"}, id="overhead"),
        pytest.param({}, {"overhead": {"cpu": "1"}}, {"overhead": {"cpu": "1"}}, id="overhead-without-a-class"),
        pytest.param({}, {"ephemeralContainers": [{"name": "debug"}]}, {}, id="debugged"),
    ],
)
def test_pods_lose_what_was_written_after_they_were_sent(annotations, spec, kept):
    pod = {"metadata": {"name": "web", "annotations": annotations}, "spec": spec}
    assert sent.of(pod, "v1", "Pod")["spec"] == kept


@pytest.mark.parametrize("release", ["1.34", "1.37"])
@pytest.mark.parametrize("manual", [False, True], ids=["generated", "manual"])
def test_a_stored_job_can_be_created_again(release, manual):
    labels = {"app": "a"}
    spec = {"template": {"metadata": {"labels": labels}, "spec": {"restartPolicy": "Never"}}}
    spec["template"]["spec"]["containers"] = [{"name": "c", "image": "x:1"}]
    if manual:
        spec |= {"manualSelector": True, "selector": {"matchLabels": labels}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"}, "spec": spec}
    engine = Engine(release)
    stored = engine.create_object(job).pod
    again = engine.create_object(sent.of(stored, "batch/v1", "Job"), options={"fieldValidation": "Strict"})
    assert again.ok, again.status()
    assert sent.of(again.pod, "batch/v1", "Job") == sent.of(stored, "batch/v1", "Job")
