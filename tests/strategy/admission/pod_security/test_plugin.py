"""PodSecurity in the chain: pods and workloads of namespaces with labels, exemptions, updates."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.admission import Admission, Settings, World, plugins
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request, User
from tests.strategy import make

PREFIX = "pod-security.kubernetes.io/"
CONFIGURATION = {
    "apiVersion": "pod-security.admission.config.k8s.io/v1",
    "kind": "PodSecurityConfiguration",
    "defaults": {"enforce": "baseline"},
    "exemptions": {"usernames": ["trusted"], "namespaces": ["exempt"], "runtimeClasses": ["sandboxed"]},
}
HOST_PID = 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'


def namespace(name: str = "default", **modes: str) -> dict[str, Any]:
    labels = {PREFIX + mode.replace("_", "-"): text for mode, text in modes.items()}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}, "status": {"phase": "Active"}}


def engine(*objects: Any, configuration: Any = None, release: str = "1.37", complete: Any = "*", **gates: bool) -> Engine:
    """A server on which PodSecurity is the only plugin."""
    others = frozenset(row.name for row in plugins.known((1, int(release[2:]))) if row.name != "PodSecurity")
    settings = Settings(disable=others, configurations={} if configuration is None else {"PodSecurity": configuration})
    return Engine(release, gates, admission=Admission(World(objects, complete=complete), settings))


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }


def test_a_pod_that_violates_what_is_enforced_is_refused_without_a_warning():
    outcome = engine(namespace(enforce="baseline", warn="restricted")).create(make.pod(hostPID=True))
    assert outcome.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'pods "p" is forbidden: {HOST_PID}',
        "reason": "Forbidden",
        "details": {"name": "p", "kind": "pods"},
        "code": 403,
    }
    assert outcome.warnings == ()
    assert outcome.admission.refused_by == "PodSecurity"


def test_what_would_be_refused_elsewhere_is_warned_about():
    outcome = engine(namespace(enforce="baseline", warn="restricted", warn_version="v1.7")).create(make.pod())
    assert outcome.ok
    assert outcome.warnings == (
        'would violate PodSecurity "restricted:v1.7": '
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    )


def test_the_report_says_which_fields_are_meant():
    outcome = engine(namespace(enforce="baseline")).create(make.pod(hostPID=True, hostIPC=True))
    located = outcome.admission.located
    assert [(each.plugin, each.places) for each in located] == [("PodSecurity", (("spec", "hostPID"), ("spec", "hostIPC")))]
    assert located[0].text == 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true, hostIPC=true)'


def test_the_audit_log_has_policy_and_violations():
    outcome = engine(namespace(audit="baseline", enforce="privileged")).create(make.pod(hostPID=True))
    assert outcome.admission.audit == {
        f"{PREFIX}enforce-policy": "privileged:latest",
        f"{PREFIX}audit-violations": 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    }
    assert outcome.warnings == ()


def test_a_workload_is_warned_about_and_never_refused():
    outcome = engine(namespace(enforce="baseline")).create_object(deployment(hostPID=True))
    assert outcome.ok
    assert outcome.warnings == (f"would {HOST_PID.replace('violates', 'violate')}",)
    assert outcome.admission.located[0].places == (("spec", "template", "spec", "hostPID"),)


@pytest.mark.parametrize(
    "kind, api_version, spec, place",
    [
        (
            "CronJob",
            "batch/v1",
            {"schedule": "@daily", "jobTemplate": {"spec": {"template": None}}},
            "spec.jobTemplate.spec.template",
        ),
        ("Job", "batch/v1", {"template": None}, "spec.template"),
    ],
)
def test_templates_of_jobs(kind, api_version, spec, place):
    template = {"spec": {"restartPolicy": "Never", "hostPID": True, "containers": [{"name": "c", "image": "i"}]}}
    holder = spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "j", "namespace": "default"}, "spec": spec}
    holder["template"] = template
    outcome = engine(namespace(warn="baseline")).create_object(obj)
    assert outcome.warnings == (f"would {HOST_PID.replace('violates', 'violate')}",)
    assert outcome.admission.located[0].places == ((*place.split("."), "spec", "hostPID"),)


def test_a_pod_template_and_a_controller_without_one():
    of = engine(namespace(warn="baseline"))
    template = {"spec": {"hostPID": True, "containers": [{"name": "c", "image": "i"}]}}
    meta = {"name": "t", "namespace": "default"}
    outcome = of.create_object({"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": template})
    assert outcome.admission.located[0].places == (("template", "spec", "hostPID"),)
    assert len(outcome.warnings) == 1


def test_defaults_of_the_configuration():
    outcome = engine(namespace(), configuration=CONFIGURATION).create(make.pod(hostPID=True))
    assert outcome.refusal.message == f'pods "p" is forbidden: {HOST_PID}'


def test_exemptions():
    of = engine(namespace(), namespace("exempt"), configuration=CONFIGURATION)
    bad = make.pod(hostPID=True)
    elsewhere = {**bad, "metadata": {"name": "p", "namespace": "exempt"}}
    assert of.create(elsewhere).admission.audit == {f"{PREFIX}exempt": "namespace"}
    assert of.create(make.pod(hostPID=True, runtimeClassName="sandboxed")).admission.audit == {f"{PREFIX}exempt": "runtimeClass"}
    request = Request("create", body=bad, namespace="default", user=User("trusted"))
    assert of.answer(request, None).code == 201
    assert of.answer(request._replace(user=User("other")), None).code == 403


def test_labels_that_cannot_be_read_are_taken_as_restricted():
    outcome = engine(namespace(enforce="strict", audit="x")).create(make.pod())
    assert outcome.code == 403
    assert outcome.refusal.message.startswith('pods "p" is forbidden: violates PodSecurity "restricted:latest": ')
    assert outcome.admission.audit[f"{PREFIX}error"] == (
        "Failed to parse policy: "
        f'[metadata.labels[{PREFIX}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, '
        f'metadata.labels[{PREFIX}audit]: Invalid value: "x": must be one of privileged, baseline, restricted]'
    )


def test_a_namespace_that_is_missing_is_an_error_without_namespace_lifecycle():
    outcome = engine().create(make.pod())
    assert (outcome.code, outcome.refusal.message) == (500, 'Internal error occurred: failed to lookup namespace "default"')


def test_a_namespace_that_is_not_known_is_a_hint():
    outcome = engine(complete=()).create(make.pod(hostPID=True))
    assert outcome.ok
    assert list(map(str, outcome.admission.hints)) == ["PodSecurity: cannot be known from what was given: Namespace default"]


def test_gate_of_1_34_for_user_namespaces():
    outcome = engine(namespace(enforce="baseline"), release="1.34", UserNamespacesPodSecurityStandards=True).create(
        make.pod(hostUsers=False, containers=[{"name": "c", "image": "i", "securityContext": {"procMount": "Unmasked"}}])
    )
    assert outcome.ok


# ---- updates ------------------------------------------------------------------------------------------------------------

STORED = Engine().create(make.pod(hostPID=True, initContainers=[{"name": "i", "image": "i:1"}])).pod


def edited(**spec: Any) -> dict[str, Any]:
    return {**STORED, "spec": {**STORED["spec"], **spec}}


@pytest.mark.parametrize(
    "new, code",
    [
        pytest.param(STORED, 200, id="nothing"),
        pytest.param(edited(activeDeadlineSeconds=5), 200, id="deadline"),
        pytest.param({**STORED, "metadata": {**STORED["metadata"], "labels": {"a": "b"}}}, 200, id="labels"),
        pytest.param(edited(containers=[{**STORED["spec"]["containers"][0], "image": "other"}]), 403, id="image"),
        pytest.param(edited(initContainers=[{**STORED["spec"]["initContainers"][0], "image": "other"}]), 403, id="init-image"),
    ],
)
def test_updates_are_judged_if_containers_or_images_change(new, code):
    assert engine(namespace(enforce="baseline")).update(new, STORED).code == code


def test_a_new_ephemeral_container_has_the_whole_pod_judged():
    of = engine(namespace(enforce="baseline"))
    added = edited(ephemeralContainers=[{"name": "e", "image": "e:1"}])
    assert of.ephemeral_containers(added, STORED).refusal.message == f'pods "p" is forbidden: {HOST_PID}'
    there = Engine().ephemeral_containers(added, STORED).pod
    assert of.ephemeral_containers(there, there).code == 200


def test_status_is_not_judged():
    new = {**STORED, "status": {**STORED["status"], "message": "m"}}
    assert engine(namespace(enforce="baseline")).update_status(new, STORED).code == 200
