"""diff, explain and matrix of kinds other than the pod."""

from __future__ import annotations

import json
from typing import Any

import pytest

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    team: a
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.29
"""
STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  replicas: 1
  serviceName: db
  selector:
    matchLabels:
      app: db
  template:
    metadata:
      labels:
        app: db
    spec:
      containers:
      - name: db
        image: db:1
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      resources:
        requests:
          storage: 1Gi
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: once
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: once
        image: once:1
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app: web
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: red
"""
PRIORITY = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 10
"""


@pytest.fixture
def diff(podstrat: Any, write: Any) -> Any:
    """`podstrat diff` of an object and of the same with one text replaced by another."""

    def run(old: str, before: str, after: str, *argv: str) -> Any:
        assert before in old
        return podstrat("diff", write("old.yaml", old), write("new.yaml", old.replace(before, after)), *argv)

    return run


IMAGE = "spec.template.spec.containers[0].image"
APPLIED = "metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]"


@pytest.mark.parametrize(
    "old, before, after, how, words",
    [
        pytest.param(
            DEPLOYMENT,
            "1.29",
            "1.30",
            "auto",
            f"Deployment/web: the update (apply) is allowed; generation 1 -> 2 because {IMAGE} changed",
            id="deployment",
        ),
        # The generation of a Deployment follows its annotations too, and kubectl apply keeps the manifest in one.
        pytest.param(
            DEPLOYMENT,
            "team: a",
            "team: b",
            "auto",
            f"Deployment/web: the update (apply) is allowed; generation 1 -> 2 because {APPLIED} changed",
            id="label-of-a-deployment-that-is-applied",
        ),
        pytest.param(
            DEPLOYMENT,
            "team: a",
            "team: b",
            "replace",
            "Deployment/web: the update (replace) is allowed; generation stays 1",
            id="label-of-a-deployment-that-is-replaced",
        ),
        pytest.param(
            STATEFUL_SET,
            "replicas: 1",
            "replicas: 3",
            "auto",
            "StatefulSet/db: the update (apply) is allowed; generation 1 -> 2 because spec.replicas changed",
            id="stateful-set",
        ),
        pytest.param(
            JOB,
            "spec:\n  template",
            "spec:\n  parallelism: 2\n  template",
            "auto",
            "Job/once: the update (apply) is allowed; generation 1 -> 2 because spec.parallelism changed",
            id="job",
        ),
        pytest.param(
            BUDGET,
            "maxUnavailable: 1",
            "maxUnavailable: 2",
            "replace",
            "PodDisruptionBudget/web: the update (replace) is allowed; generation 1 -> 2 because spec.maxUnavailable changed",
            id="kind-that-wants-a-resource-version",
        ),
        pytest.param(
            CONFIG_MAP, "red", "blue", "auto", "ConfigMap/settings: the update (apply) is allowed", id="kind-without-generation"
        ),
        pytest.param(
            PRIORITY,
            "value: 10",
            "value: 10\ndescription: urgent",
            "auto",
            "PriorityClass/high: the update (apply) is allowed; generation stays 1",
            id="cluster-scoped",
        ),
    ],
)
def test_updates_that_are_allowed(diff: Any, old: str, before: str, after: str, how: str, words: str) -> None:
    done = diff(old, before, after, "--how", how)
    assert (done.out.splitlines()[0], done.code) == (f"new.yaml:1: {words}", 0)


@pytest.mark.parametrize(
    "old, before, after, place, start, end",
    [
        pytest.param(
            DEPLOYMENT,
            "app: web",
            "app: other",
            "10:12",
            'spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
            "",
            id="selector-of-a-deployment",
        ),
        pytest.param(
            STATEFUL_SET,
            "1Gi",
            "2Gi",
            "26:20",
            'spec.volumeClaimTemplates: Invalid value: [{"name":"data",',
            ": field is immutable",
            id="claim-template",
        ),
        pytest.param(
            JOB, "once:1", "once:2", "11:16", "spec.template: Invalid value: ", ": field is immutable", id="template-of-a-job"
        ),
        pytest.param(
            CONFIG_MAP.replace("\ndata:", "\nimmutable: true\ndata:"),
            "red",
            "blue",
            "7:11",
            "data: Forbidden: field is immutable when `immutable` is set",
            "",
            id="immutable-config-map",
        ),
        pytest.param(
            PRIORITY, "value: 10", "value: 11", "5:8", "value: Forbidden: may not be changed in an update.", "", id="cluster"
        ),
    ],
)
def test_updates_that_are_refused(diff: Any, old: str, before: str, after: str, place: str, start: str, end: str) -> None:
    done = diff(old, before, after)
    (line,) = (line for line in done.out.splitlines() if line.startswith(f"new.yaml:{place}: error: "))
    assert line.removeprefix(f"new.yaml:{place}: error: ").startswith(start)
    assert line.endswith(end)
    assert done.code == 1
    assert ": the update (apply) is refused\n" in done.out


def test_the_first_field_that_may_not_change_is_marked(diff: Any) -> None:
    """Up to 1.36 the server names the whole spec of a StatefulSet; replicas may change."""
    before, after = "replicas: 1\n  serviceName: db", "replicas: 3\n  serviceName: other"
    done = diff(STATEFUL_SET, before, after, "--kubernetes-version", "1.36")
    assert done.out.startswith("new.yaml:7:16: error: spec: Forbidden: updates to statefulset spec for fields other than ")


def test_custom_resources_are_checked_as_new(diff: Any) -> None:
    text = DEPLOYMENT.replace("apps/v1", "argoproj.io/v1alpha1").replace("Deployment", "Rollout")
    done = diff(text, "1.29", "1.30")
    assert done.out.splitlines()[0].endswith("updates of this kind are not evaluated: checked as a new object")


def test_an_object_of_a_server_is_taken_as_it_is(diff: Any) -> None:
    live = DEPLOYMENT.replace(
        "  name: web\n  labels", "  name: web\n  uid: 4d1e\n  generation: 7\n  resourceVersion: '5'\n  labels"
    )
    done = diff(live, "1.29", "1.30")
    words = f"generation 7 -> 8 because {IMAGE} changed"
    assert done.out.splitlines()[0] == f"new.yaml:1: Deployment/web: the update (replace) is allowed; {words}"


def test_an_old_object_that_no_server_has(podstrat: Any, write: Any) -> None:
    old = DEPLOYMENT.replace("  name: web\n  labels", "  name: web\n  uid: 4d1e\n  labels").replace(
        "apps/v1", "extensions/v1beta1"
    )
    done = podstrat("diff", write("old.yaml", old), write("new.yaml", DEPLOYMENT))
    reason = "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)"
    assert done.err == f"podstrat: old.yaml: the old Deployment/web is itself invalid: {reason}\n"
    assert done.code == 2


def test_a_json_patch_leaves_the_annotation_of_kubectl_out(diff: Any) -> None:
    done = diff(DEPLOYMENT, "1.29", "1.30", "-o", "jsonpatch")
    assert json.loads(done.out) == [
        {"op": "replace", "path": "/metadata/generation", "value": 2},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1.30"},
    ]


def test_a_subresource_that_the_kind_has_not(diff: Any) -> None:
    done = diff(DEPLOYMENT, "1.29", "1.30", "--subresource", "resize")
    assert done.out.splitlines()[0] == "new.yaml:1:1: error: the server could not find the requested resource"


# ---- explain and matrix --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param(DEPLOYMENT, "  generation: 1  # generation 0 -> 1: the Deployment is new\n", id="deployment"),
        pytest.param(DEPLOYMENT, "  revisionHistoryLimit: 10  # defaulted\n", id="defaults"),
        pytest.param(BUDGET, "# - PodDisruptionBudget/web: accepted by Kubernetes 1.37\n", id="budget"),
    ],
)
def test_explain(podstrat: Any, text: str, words: str) -> None:
    done = podstrat("explain", "-", stdin=text)
    assert words.replace("# - ", "# <stdin>:1 ") in done.out
    assert done.code == 0


def test_explain_says_nothing_of_a_generation_that_there_is_not(podstrat: Any) -> None:
    assert "generation" not in podstrat("explain", "-", stdin=CONFIG_MAP).out


def test_explain_marks_the_errors_of_a_kind(podstrat: Any) -> None:
    done = podstrat("explain", "-", stdin=BUDGET.replace("maxUnavailable: 1", "maxUnavailable: -1"))
    assert (
        "  maxUnavailable: -1  # ERROR: spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0\n" in done.out
    )
    assert done.code == 1


def test_matrix_turns_over_the_gates_of_workloads(podstrat: Any) -> None:
    text = STATEFUL_SET.replace("  replicas: 1\n", "  replicas: 1\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n")
    report = json.loads(podstrat("matrix", "-", "-o", "json", "--releases", "1.37", stdin=text).out)
    (entry,) = report["objects"]
    assert entry["releases"]["1.37"]["gates"] == {
        "MaxUnavailableStatefulSet=false": ["stored otherwise: spec.updateStrategy.rollingUpdate.maxUnavailable"]
    }
