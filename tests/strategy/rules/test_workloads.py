"""What workloads ask of their selectors and templates: each kind in its own words."""

from __future__ import annotations

import json

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.workloads import SOME_UID
from tests.strategy.make import lines
from tests.strategy.workload import make, template

ENGINE = Engine("1.37")
APPS = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
NOT_SELECTED = "`selector` does not match template `labels`"


# ---- selectors -----------------------------------------------------------------------------------------

BAD_KEY = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
BAD_SHOWN = '{"matchExpressions":[{"key":"app","operator":"Near"}]}'
BAD_OPERATOR = 'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator'


@pytest.mark.parametrize("kind", APPS)
def test_a_selector_must_match(kind):
    sent = make(kind, selector={"matchLabels": {"app": "x"}})
    assert lines(ENGINE.workload(sent)) == [f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {NOT_SELECTED}']


@pytest.mark.parametrize("labels, shown", [(None, "null"), ({}, "{}"), ({"b": "2", "a": "1"}, '{"a":"1","b":"2"}')])
def test_labels_are_shown_as_they_are(labels, shown):
    pod = template()
    pod["metadata"] = {} if labels is None else {"labels": labels}
    assert lines(ENGINE.workload(make("ReplicaSet", pod))) == [
        f"spec.template.metadata.labels: Invalid value: {shown}: {NOT_SELECTED}"
    ]


@pytest.mark.parametrize("kind", APPS)
def test_no_selector(kind):
    sent = make(kind)
    del sent["spec"]["selector"]
    required = [] if kind == "DaemonSet" else ["spec.selector: Required value"]
    mismatch = f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {NOT_SELECTED}'
    assert lines(ENGINE.workload(sent)) == [*required, mismatch]


@pytest.mark.parametrize(
    "kind, word",
    [
        ("Deployment", "deployment"),
        ("ReplicaSet", "deployment"),
        ("DaemonSet", "daemonset"),
        ("StatefulSet", "statefulset"),
    ],
)
def test_an_empty_selector(kind, word):
    assert lines(ENGINE.workload(make(kind, selector={}))) == [
        f"spec.selector: Invalid value: {{}}: empty selector is invalid for {word}"
    ]


@pytest.mark.parametrize(
    "kind, more",
    [
        ("Deployment", [f"spec.selector: Invalid value: {BAD_SHOWN}: invalid label selector"]),
        ("ReplicaSet", [f"spec.selector: Invalid value: {BAD_SHOWN}: invalid label selector"]),
        (
            "StatefulSet",
            [
                f"spec.selector: Invalid value: {BAD_SHOWN}",
                'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
            ],
        ),
        (
            "DaemonSet",
            [
                "spec.template.spec.containers: Required value",
                'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
            ],
        ),
    ],
)
def test_a_selector_that_cannot_be_read(kind, more):
    sent = make(kind, template(containers=[], restartPolicy="Never"), selector=BAD_KEY)
    assert lines(ENGINE.workload(sent)) == [BAD_OPERATOR, *more]


@pytest.mark.parametrize(
    "requirement, matches",
    [
        pytest.param({"key": "app", "operator": "In", "values": ["w", "x"]}, True, id="in"),
        pytest.param({"key": "app", "operator": "In", "values": ["x"]}, False, id="not-among"),
        pytest.param({"key": "tier", "operator": "In", "values": ["x"]}, False, id="in-without-the-label"),
        pytest.param({"key": "app", "operator": "NotIn", "values": ["x"]}, True, id="not-in"),
        pytest.param({"key": "app", "operator": "NotIn", "values": ["w"]}, False, id="among"),
        pytest.param({"key": "tier", "operator": "NotIn", "values": ["x"]}, True, id="not-in-without-the-label"),
        pytest.param({"key": "app", "operator": "Exists"}, True, id="exists"),
        pytest.param({"key": "tier", "operator": "Exists"}, False, id="exists-not"),
        pytest.param({"key": "tier", "operator": "DoesNotExist"}, True, id="does-not-exist"),
        pytest.param({"key": "app", "operator": "DoesNotExist"}, False, id="does"),
    ],
)
def test_requirements(requirement, matches):
    outcome = ENGINE.workload(make("Deployment", selector={"matchExpressions": [requirement]}))
    assert outcome.ok is matches


def test_a_replication_controller_takes_labels_and_selector_from_its_template():
    sent = make("ReplicationController")
    del sent["spec"]["selector"]
    made = ENGINE.workload(sent).pod
    assert (made["metadata"]["labels"], made["spec"]["selector"]) == ({"app": "w"}, {"app": "w"})


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"template": template()}, [], id="selector-defaulted"),
        pytest.param({"selector": {"app": "w"}}, ["spec.template: Required value"], id="no-template"),
        pytest.param({}, ["spec.selector: Required value", "spec.template: Required value"], id="nothing"),
        pytest.param(
            {"selector": {"app": "x"}, "template": template()},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {NOT_SELECTED}'],
            id="mismatch",
        ),
        pytest.param(
            {"template": {"spec": template()["spec"]}}, ["spec.selector: Required value"], id="neither-selector-nor-labels"
        ),
    ],
)
def test_replication_controllers(spec, errors):
    sent = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "w"}, "spec": spec}
    assert lines(ENGINE.workload(sent)) == errors


@pytest.mark.parametrize("kind", ["ReplicationController", "Job"])
def test_bad_labels_of_the_template_are_told_twice_and_have_one_place(kind):
    pod = template(restartPolicy="Never" if kind == "Job" else "Always")
    pod["metadata"]["labels"]["tier"] = "-"
    found = ENGINE.workload(make(kind, pod)).errors
    assert [error.field for error in found] == ["metadata.labels", "spec.template.labels"]
    assert {error.where for error in found} == {("spec", "template", "metadata", "labels", "tier")}


# ---- jobs ----------------------------------------------------------------------------------------------

GENERATED = {
    "app": "w",
    "job-name": "w",
    "batch.kubernetes.io/job-name": "w",
    "controller-uid": SOME_UID,
    "batch.kubernetes.io/controller-uid": SOME_UID,
}


def test_a_job_gets_its_selector():
    made = ENGINE.workload(make("Job")).pod
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": SOME_UID}}
    assert made["spec"]["template"]["metadata"]["labels"] == GENERATED
    assert made["metadata"]["labels"] == GENERATED, "taken from the template: the same map"


def test_a_jobs_own_labels_stay_its_own():
    sent = make("Job")
    sent["metadata"]["labels"] = {"mine": "1"}
    assert ENGINE.workload(sent).pod["metadata"]["labels"] == {"mine": "1"}


@pytest.mark.parametrize("labels, twice", [({"app": "w"}, True), (None, False)])
def test_a_long_name_is_a_bad_label(labels, twice):
    name = "j" * 64
    pod = template(restartPolicy="Never")
    pod["metadata"] = {"labels": labels} if labels else {}
    fault = f'Invalid value: "{name}": must be no more than 63 bytes'
    assert lines(ENGINE.workload(make("Job", pod, name=name))) == [
        *([f"metadata.labels: {fault}"] if twice else []),
        f"spec.template.labels: {fault}",
    ]


def test_a_label_that_should_have_been_generated():
    pod = template(restartPolicy="Never")
    pod["metadata"]["labels"] = {"job-name": "other"}
    labels = {key: value for key, value in GENERATED.items() if key != "app"} | {"job-name": "other"}
    shown = json.dumps(labels, sort_keys=True, separators=(",", ":"))
    assert lines(ENGINE.workload(make("Job", pod))) == [
        f"spec.template.metadata.labels[job-name]: Invalid value: {shown}: must be 'w'"
    ]


def test_a_selector_that_should_have_been_generated():
    selector = {"matchLabels": {"app": "w"}}
    shown = f'{{"matchLabels":{{"app":"w","batch.kubernetes.io/controller-uid":"{SOME_UID}"}}}}'
    assert lines(ENGINE.workload(make("Job", selector=selector))) == [
        f"spec.selector: Invalid value: {shown}: `selector` not auto-generated"
    ]


@pytest.mark.parametrize(
    "selector, errors",
    [
        pytest.param({"matchLabels": {"app": "w"}}, [], id="matches"),
        pytest.param({}, [], id="everything"),
        pytest.param(
            None,
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {NOT_SELECTED}',
            ],
            id="none",
        ),
        pytest.param(
            {"matchLabels": {"app": "x"}},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {NOT_SELECTED}'],
            id="mismatch",
        ),
        pytest.param(BAD_KEY, [BAD_OPERATOR], id="unreadable"),
    ],
)
def test_a_selector_by_hand(selector, errors):
    assert lines(ENGINE.workload(make("Job", manualSelector=True, selector=selector))) == errors


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"completionMode": "Indexed", "completions": 10}, [], id="one-digit"),
        pytest.param(
            {"completionMode": "Indexed", "completions": 11},
            [f'metadata.name: Invalid value: "{"j" * 61}": will not able to create pod with invalid DNS label: {"j" * 61}-10'],
            id="two-digits",
        ),
        pytest.param({"completionMode": "NonIndexed", "completions": 11}, [], id="not-indexed"),
        pytest.param({"completionMode": "Indexed", "completions": 0}, [], id="no-pods"),
    ],
)
def test_an_indexed_job_leaves_room_for_the_index(spec, errors):
    assert lines(ENGINE.workload(make("Job", name="j" * 61, **spec))) == errors


def test_a_cron_job_has_no_selector():
    at = "spec.jobTemplate.spec"
    sent = make("CronJob", selector={"matchLabels": {"app": "w"}}, manualSelector=True)
    assert lines(ENGINE.workload(sent)) == [
        f'{at}.selector: Invalid value: {{"matchLabels":{{"app":"w"}}}}: `selector` will be auto-generated',
        f'{at}.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ]


# ---- stateful sets -------------------------------------------------------------------------------------


def claim(name):
    storage = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": storage}}


def mounting(*names, **spec):
    mounts = [{"name": name, "mountPath": f"/{i}"} for i, name in enumerate(names)]
    return template(containers=[{"name": "c", "image": "x", "volumeMounts": mounts}], **spec)


@pytest.mark.parametrize(
    "pod, claims, errors",
    [
        pytest.param(mounting("data"), ["data"], [], id="a-claim-is-a-volume"),
        pytest.param(
            mounting("data"), [], ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'], id="no-claim"
        ),
        pytest.param(mounting("data", volumes=[{"name": "data", "emptyDir": {}}]), ["data"], [], id="in-the-place-of-a-volume"),
        pytest.param(mounting("data"), ["data", "data"], [], id="the-same-claim-twice"),
        pytest.param(
            mounting("data", volumes=[{"name": "v", "hostPath": {"path": ""}}]),
            ["data"],
            ["spec.template.spec.volumes[1].hostPath.path: Required value"],
            id="claims-shift-the-volumes",
        ),
        pytest.param(template(hostname="H_", subdomain="S_"), [], [], id="names-that-the-set-gives"),
    ],
)
def test_volumes_of_a_stateful_set(pod, claims, errors):
    assert lines(ENGINE.workload(make("StatefulSet", pod, volumeClaimTemplates=[claim(name) for name in claims]))) == errors


def test_shifted_volumes_keep_their_places():
    pod = mounting("data", volumes=[{"name": "data", "emptyDir": {}}, {"name": "v", "hostPath": {"path": ""}}])
    sent = make("StatefulSet", pod, volumeClaimTemplates=[claim("data"), claim("B_")])
    found = {error.field: error.where for error in ENGINE.workload(sent).errors}
    assert found == {
        "spec.template.spec.volumes[1].name": ("spec", "volumeClaimTemplates", 1, "metadata", "name"),
        "spec.template.spec.volumes[2].hostPath.path": ("spec", "template", "spec", "volumes", 1, "hostPath", "path"),
    }
