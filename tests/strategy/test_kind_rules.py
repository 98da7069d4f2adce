"""Rules of other kinds that the recorded answers do not reach, through the request function."""

from __future__ import annotations

import base64
import copy

import pytest

from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from tests.strategy.workload import make

ENGINE = Engine("1.37")
RESPONDERS = {"evictionResponders": [{"name": "b_ad"}]}


def plain(kind, **rest):
    row = next(each for each in kinds.KINDS if each.kind == kind)
    meta = {"name": "w"} | ({"namespace": "default"} if row.namespaced else {})
    return {"apiVersion": row.api_version, "kind": kind, "metadata": meta, **rest}


def send(verb, body, stored=None, sub="", engine=ENGINE):
    row = kinds.BY_NAME[body["apiVersion"], body["kind"]]
    namespace = "default" if row.namespaced else ""
    request = Request(verb, sub, body, name="w", namespace=namespace, resource=row.resource, uid="u")
    answer = engine.answer(request, stored)
    causes = (answer.body.get("details") or {}).get("causes") or []
    return answer, [f"{cause['field']}: {cause['message']}" for cause in causes]


def stored(body, engine=ENGINE):
    answer, lines = send("create", body, engine=engine)
    assert (lines, answer.code) == ([], 201)
    return {**answer.body, "metadata": {**answer.body["metadata"], "resourceVersion": "1"}}


def status(body, new, engine=ENGINE):
    old = stored(body, engine)
    return send("update", {**copy.deepcopy(old), "status": new}, old, "status", engine)[1]


def true(*names):
    return [{"type": name, "status": "True"} for name in names]


STARTED = {"startTime": "2020-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "new, line",
    [
        (
            {"uncountedTerminatedPods": {"failed": [""]}},
            'status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty',
        ),
        (
            {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a"]}},
            'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        ),
        ({"ready": 2, "active": 1}, "status.ready: Invalid value: 2: cannot set more ready pods than active"),
        (
            {**STARTED, "completionTime": "2020-01-01T01:00:00Z", "conditions": true("Complete")},
            "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
    ],
)
def test_status_of_a_job(new, line):
    assert line in status(make("Job"), new)


def test_a_job_with_a_policy_of_success_is_complete_by_it():
    job = make("Job", completionMode="Indexed", completions=1, successPolicy={"rules": [{"succeededCount": 1}]})
    new = {**STARTED, "completionTime": "2020-01-01T01:00:00Z", "conditions": true("Complete")}
    words = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
    assert status(job, new)[1:] == [f"status.conditions: Invalid value: {words}"]
    assert status(job, {**new, "conditions": true("SuccessCriteriaMet", "Complete")}) == []


def test_a_job_that_is_complete():
    def complete(time, *conditions):
        return {**STARTED, "completionTime": time, "succeeded": 1, "conditions": true(*conditions)}

    old = stored(make("Job"))
    done = {**old, "status": complete("2020-01-01T01:00:00Z", "SuccessCriteriaMet", "Complete")}
    moved = {**done, "status": complete("2020-01-01T02:00:00Z", "SuccessCriteriaMet", "Complete")}
    assert send("update", moved, done, "status")[1] == [
        'status.completionTime: Invalid value: "2020-01-01T02:00:00Z": field is immutable'
    ]
    without = {**old, "status": complete("2020-01-01T01:00:00Z", "Complete")}
    assert send("update", done, without, "status")[1] == [
        "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
    ]


@pytest.mark.parametrize(
    "kind, path",
    [
        *((kind, "spec.template.spec") for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")),
        ("ReplicationController", "spec.template.spec"),
        ("CronJob", "spec.jobTemplate.spec.template.spec"),
        ("PodTemplate", "template.spec"),
    ],
)
def test_declared_rules_hold_in_templates(kind, path):
    engine = Engine("1.37", {"EvictionRequestAPI": True})
    good = make(kind)
    bad = copy.deepcopy(good)
    holder = bad
    for step in path.split("."):
        holder = holder[step]
    holder.update(RESPONDERS)
    wanted = f"{path}.evictionResponders[0].name"
    assert any(line.startswith(wanted) for line in send("create", bad, engine=engine)[1])
    old = stored(good, engine)
    assert any(line.startswith(wanted) for line in send("update", bad, old, engine=engine)[1])


@pytest.mark.parametrize(
    "body, line",
    [
        (
            make("Job", completionMode="Indexed", completions=1, parallelism=100_001),
            "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
        ),
        (
            make("Job", podFailurePolicy={"rules": [{"action": "Ignore", "onPodConditions": [{"type": "a"}]}] * 21}),
            "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items",
        ),
        (
            make("StatefulSet", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "101%"}}),
            'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        (
            plain("LimitRange", spec={"limits": [{"type": "Pod"}, {"type": "Pod"}]}),
            'spec.limits[1].type: Duplicate value: "Pod"',
        ),
        (
            plain("LimitRange", spec={"limits": [{"type": "Container", "maxLimitRequestRatio": {"Odd": "2"}}]}),
            'spec.limits[0].maxLimitRequestRatio[Odd]: Invalid value: "Odd": must be a standard resource for containers',
        ),
        (
            plain("Secret", type="kubernetes.io/dockercfg", data={".dockercfg": base64.b64encode(b"[]").decode()}),
            'data[.dockercfg]: Invalid value: "<secret contents redacted>": '
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            plain("RuntimeClass", handler="runc", scheduling={"tolerations": [{"key": "a", "operator": "Odd"}]}),
            'scheduling.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        ),
    ],
)
def test_new_objects(body, line):
    assert line in send("create", body)[1]


def test_rollback_of_a_deployment():
    body = make("Deployment")
    body["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": "-1"}
    assert send("create", body)[1] == ["spec.rollback.version: Invalid value: -1: must be greater than or equal to 0"]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "ReplicationController"])
def test_metadata_is_judged_with_a_status(kind):
    old = stored(make(kind))
    sent = copy.deepcopy(old)
    sent["metadata"]["finalizers"] = ["odd"]
    assert send("update", sent, old, "status")[1] == [
        'metadata.finalizers[0]: Invalid value: "odd": name is neither a standard finalizer name nor is it fully qualified'
    ]


CLAIM = plain("PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})


@pytest.mark.parametrize(
    "new, line",
    [
        ({"capacity": {"storage": "-1"}}, "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"),
        (
            {"allocatedResources": {"odd": "1"}},
            'status.allocatedResources[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
        ),
        (
            {"allocatedResourceStatuses": {"odd": "NodeResizePending"}},
            'status.allocatedResourceStatuses[odd]: Invalid value: "odd": must be a standard resource type or fully qualified',
        ),
    ],
)
def test_status_of_a_claim(new, line):
    assert status(CLAIM, new) == [line]


def test_a_budget_does_not_count_below_nothing():
    assert status(plain("PodDisruptionBudget", spec={}), {"currentHealthy": -1}) == [
        "status.currentHealthy: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_a_tls_secret_without_a_key_warns():
    data = {"tls.crt": base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(), "tls.key": ""}
    answer, _ = send("create", plain("Secret", type="kubernetes.io/tls", data=data))
    assert answer.warnings == ("tls: failed to find any PEM data in key input",)
