"""Pod templates, alone and in their workloads: what differs from a pod, and what each kind asks."""

from __future__ import annotations

import copy
import json

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.workloads import KINDS
from tests.strategy.make import lines
from tests.strategy.workload import make, template

ENGINE = Engine("1.37")
APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36", "1.37"])
def test_a_plain_workload_is_accepted(kind, release):
    sent = make(kind)
    before = copy.deepcopy(sent)
    outcome = Engine(release).workload(sent)
    assert (outcome.code, lines(outcome), outcome.warnings) == (201, [], ())
    assert sent == before, "the argument is not touched"


@pytest.mark.parametrize("kind", list(KINDS))
def test_paths_are_those_of_the_workload(kind):
    at = KINDS[kind].template
    pod = template(restartPolicy="Never" if "Job" in kind else "Always", nodeName="N_", containers=[{"name": "c"}])
    assert lines(ENGINE.workload(make(kind, pod))) == [
        f"{at}.spec.containers[0].image: Required value",
        f'{at}.spec.nodeName: Invalid value: "N_": {validation.DNS_SUBDOMAIN}',
    ]


# ---- what the server answers ---------------------------------------------------------------------------


def test_the_status_names_the_group():
    status = ENGINE.workload(make("Deployment", template(containers=[]))).status()
    assert status["message"] == 'Deployment.apps "w" is invalid: spec.template.spec.containers: Required value'
    assert status["details"] == {
        "name": "w",
        "group": "apps",
        "kind": "Deployment",
        "causes": [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.template.spec.containers"}],
    }


def test_a_wrong_type_is_told_by_the_types_of_the_workload():
    outcome = ENGINE.workload(make("CronJob", {"spec": {"containers": "x"}}))
    assert (outcome.code, outcome.status()["message"]) == (
        400,
        'CronJob in version "v1" cannot be handled as a CronJob: json: cannot unmarshal string into Go struct field '
        "PodSpec.spec.jobTemplate.spec.template.spec.containers of type []v1.Container",
    )


def test_bytes_show_repeated_keys():
    text = json.dumps(make("Deployment")).replace('"image":', '"image": "x", "image":')
    outcome = ENGINE.workload(text.encode())
    assert (outcome.code, outcome.warnings) == (201, ('duplicate field "spec.template.spec.containers[0].image"',))


def test_bytes_that_are_no_json():
    outcome = ENGINE.workload(b'{"kind": ')
    assert (outcome.code, outcome.status()["message"]) == (400, "unexpected end of JSON input")


def test_unknown_fields_warn_or_refuse():
    sent = make("Deployment", template(colour="red"))
    assert ENGINE.workload(sent).warnings == ('unknown field "spec.template.spec.colour"',)
    strict = ENGINE.workload(sent, options={"fieldValidation": "Strict"})
    assert (strict.code, strict.status()["message"]) == (
        400,
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
        'unknown field "spec.template.spec.colour"',
    )


def test_a_version_that_is_not_served():
    outcome = ENGINE.workload({**make("Deployment"), "apiVersion": "apps/v1beta1"})
    assert outcome.status()["message"] == (
        "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)"
    )


@pytest.mark.parametrize("value", [{"apiVersion": "v1", "kind": "Pod"}, {}, [], {"kind": 7}])
def test_other_kinds_are_not_for_us(value):
    with pytest.raises(ValueError, match=r"^kind .* has no pod template; choose one of Pod"):
        ENGINE.workload(value)


def test_a_new_workload_brings_no_resource_version():
    sent = make("Deployment")
    sent["metadata"]["resourceVersion"] = "5"
    outcome = ENGINE.workload(sent)
    assert (outcome.code, outcome.status()["message"]) == (500, "resourceVersion should not be set on objects to be created")
    assert ENGINE.workload(sent, options={"dryRun": "All"}).code == 201


def test_wrong_options_are_refused():
    assert ENGINE.workload(make("Job"), options={"fieldValidation": "Loud"}).code == 422


def test_repeated_owners_warn():
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
    sent = make("DaemonSet")
    sent["metadata"]["ownerReferences"] = [owner, dict(owner)]
    outcome = ENGINE.workload(sent)
    assert outcome.warnings[0].endswith("duplicate UID(s) observed: u")
    assert outcome.pod["metadata"]["ownerReferences"] == [owner]


def test_an_error_found_twice_is_told_once_from_1_37_on():
    sent = make("Deployment", template(containers=[{"name": "c", "image": "x", "envFrom": [{}, {}]}]))
    fault = 'spec.template.spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'
    assert lines(ENGINE.workload(sent)) == [fault]
    assert lines(Engine("1.36").workload(sent)) == [fault, fault]


# ---- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, name, errors",
    [
        pytest.param("Deployment", "", ["metadata.name: Required value: name or generateName is required"], id="none"),
        pytest.param("PodTemplate", "A_", [f'metadata.name: Invalid value: "A_": {validation.DNS_SUBDOMAIN}'], id="subdomain"),
        pytest.param("ReplicaSet", "a.b", [], id="dots"),
        pytest.param("StatefulSet", "a.b", ['metadata.name: Invalid value: "a.b": must not contain dots'], id="label"),
        pytest.param("CronJob", "c" * 52, [], id="cron-job-52"),
        pytest.param(
            "CronJob", "c" * 53, [f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters'], id="53"
        ),
    ],
)
def test_names(kind, name, errors):
    assert lines(ENGINE.workload(make(kind, name=name))) == errors


@pytest.mark.parametrize(
    "kind, prefix, errors",
    [
        pytest.param("Deployment", "web-", [], id="a-dash-at-the-end"),
        pytest.param("StatefulSet", "web-", [], id="also-of-a-label"),
        pytest.param(
            "StatefulSet",
            "a.b-",
            [
                'metadata.generateName: Invalid value: "a.b-": must not contain dots',
                'metadata.name: Invalid value: "a.b-xxxxx": must not contain dots',
            ],
            id="dots",
        ),
    ],
)
def test_generated_names(kind, prefix, errors):
    sent = make(kind)
    sent["metadata"] = {"generateName": prefix}
    assert lines(ENGINE.workload(sent)) == errors


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "StatefulSet"])
def test_a_name_that_makes_odd_hostnames_warns(kind):
    outcome = ENGINE.workload(make(kind, name="a.b"))
    words = (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    )
    assert outcome.warnings == (() if kind in ("PodTemplate", "DaemonSet") else (words,))


# ---- the template --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("policy", ["Always", "OnFailure", "Never", "Often", None])
def test_restart_policies(kind, policy):
    path = f"{KINDS[kind].template}.spec.restartPolicy"
    known = [] if policy != "Often" else [f'{path}: Unsupported value: "Often": supported values: "Always", "OnFailure", "Never"']
    if kind == "PodTemplate":
        asked = []
    elif kind not in ("Job", "CronJob"):
        asked = [] if policy in ("Always", None) else [f'{path}: Unsupported value: "{policy}": supported values: "Always"']
    elif policy in ("Always", None):
        asked = [f'{path}: Required value: valid values: "OnFailure", "Never"']
    else:
        asked = [f'{path}: Unsupported value: "Often": supported values: "OnFailure", "Never"'] if policy == "Often" else []
    pod = template(restartPolicy=policy) if policy else template()
    assert lines(ENGINE.workload(make(kind, pod))) == known + asked


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_judged_failures_are_not_restarted(kind):
    policy = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
    path = f"{KINDS[kind].template}.spec.restartPolicy"
    sent = make(kind, template(restartPolicy="OnFailure"), podFailurePolicy=policy)
    words = 'only "Never" is supported when podFailurePolicy is specified'
    assert lines(ENGINE.workload(sent)) == [f'{path}: Invalid value: "OnFailure": {words}']
    assert lines(ENGINE.workload(make(kind, podFailurePolicy=policy))) == []


@pytest.mark.parametrize(
    "kind, named",
    [
        ("Deployment", "ReplicaSet"),
        ("ReplicaSet", "ReplicaSet"),
        ("DaemonSet", "DaemonSet"),
        ("StatefulSet", "StatefulSet"),
        ("ReplicationController", "ReplicationController"),
    ],
)
def test_no_deadline_for_pods_that_run_forever(kind, named):
    path = "spec.template.spec.activeDeadlineSeconds"
    assert lines(ENGINE.workload(make(kind, template(activeDeadlineSeconds=5)))) == [
        f"{path}: Forbidden: activeDeadlineSeconds in {named} is not Supported"
    ]


@pytest.mark.parametrize("kind", ["Job", "CronJob", "PodTemplate"])
def test_a_deadline_for_others(kind):
    pod = template(activeDeadlineSeconds=5, restartPolicy="Never")
    assert lines(ENGINE.workload(make(kind, pod))) == []


def test_no_ephemeral_containers():
    pod = template(ephemeralContainers=[{"name": "e", "image": "x"}])
    assert lines(ENGINE.workload(make("PodTemplate", pod))) == [
        "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"
    ]


def test_labels_and_annotations_have_odd_paths_and_true_places():
    pod = template()
    pod["metadata"] = {
        "labels": {"app": "w", "-": "x"},
        "annotations": {"a b": "", "seccomp.security.alpha.kubernetes.io/pod": "x"},
    }
    found = ENGINE.workload(make("Deployment", pod)).errors
    assert [(error.field, error.where) for error in found] == [
        ("spec.template.labels", ("spec", "template", "metadata", "labels", "-")),
        ("spec.template.annotations", ("spec", "template", "metadata", "annotations", "a b")),
        (
            "spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod",
            ("spec", "template", "metadata", "annotations", "seccomp.security.alpha.kubernetes.io/pod"),
        ),
    ]


def test_annotations_agree_with_fields():
    pod = template(securityContext={"appArmorProfile": {"type": "Unconfined"}})
    pod["metadata"]["annotations"] = {APPARMOR: "runtime/default"}
    (error,) = ENGINE.workload(make("CronJob", {**pod, "spec": {**pod["spec"], "restartPolicy": "Never"}})).errors
    at = "spec.jobTemplate.spec.template.spec.containers[0].securityContext.appArmorProfile.type"
    assert str(error) == f"{at}: Forbidden: apparmor type in annotation and field must match"
    assert error.where[:6] == ("spec", "jobTemplate", "spec", "template", "spec", "containers")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"containers": [{"name": "c", "image": " x "}]}, id="padded-image"),
        pytest.param({"nodeName": "n", "schedulingGates": [{"name": "g"}]}, id="gated-on-a-node"),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]}, id="no-account"
        ),
        pytest.param(
            {"hostNetwork": True, "containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 80}]}]}, id="host-port"
        ),
    ],
)
def test_what_only_a_pod_must_not(spec):
    assert lines(ENGINE.workload(make("Deployment", template(**spec)))) == []


def test_defaults_of_the_template():
    limits = {"name": "c", "image": "x", "resources": {"limits": {"cpu": "1.5"}}}
    spec = ENGINE.workload(make("Deployment", template(containers=[limits]))).pod["spec"]["template"]["spec"]
    assert spec == {
        "containers": [
            {
                "name": "c",
                "image": "x",
                "imagePullPolicy": "Always",
                "resources": {"limits": {"cpu": "1500m"}},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_gated_fields_go():
    engine = Engine("1.36", {"HostnameOverride": False})
    outcome = engine.workload(make("Deployment", template(hostnameOverride="h_")))
    assert outcome.code == 201
    assert "hostnameOverride" not in outcome.pod["spec"]["template"]["spec"]
    assert [str(change) for change in outcome.changes if change.kind == "dropped"] == [
        "dropped spec.template.spec.hostnameOverride (gate HostnameOverride is off)"
    ]


# ---- warnings ------------------------------------------------------------------------------------------


def test_a_negative_grace_period_stays_and_warns():
    outcome = ENGINE.workload(make("DaemonSet", template(terminationGracePeriodSeconds=-5)))
    words = "must be >= 0; negative values are invalid and will be treated as 1"
    assert outcome.warnings == (f"spec.template.spec.terminationGracePeriodSeconds: {words}",)
    assert outcome.pod["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == -5


@pytest.mark.parametrize(
    "spec, warns",
    [
        pytest.param({}, True, id="no-field"),
        pytest.param({"os": {"name": "windows"}}, True, id="also-on-windows"),
        pytest.param({"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}, False, id="field-of-the-pod"),
        pytest.param(
            {
                "containers": [
                    {"name": "c", "image": "x", "securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}},
                ]
            },
            False,
            id="field-of-the-container",
        ),
    ],
)
def test_the_old_apparmor_annotation_warns_and_fills_nothing(spec, warns):
    pod = template(**spec)
    pod["metadata"]["annotations"] = {APPARMOR: "runtime/default"}
    outcome = ENGINE.workload(make("PodTemplate", pod))
    words = f'template.metadata.annotations[{APPARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead'
    assert outcome.warnings == ((words,) if warns else ())
    assert outcome.pod["template"]["spec"]["containers"][0].get("securityContext") == spec.get("containers", [{}])[0].get(
        "securityContext"
    )


# ---- a template alone ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, errors",
    [
        ("Deployment", ['a.b.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"']),
        ("Job", []),
        ("PodTemplate", []),
        ("Sandbox", []),
    ],
)
def test_a_template_at_a_path(kind, errors):
    outcome = ENGINE.template(template(restartPolicy="Never"), "a.b", kind)
    assert (outcome.code, lines(outcome)) == (422 if errors else 201, errors)


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_a_template_of_a_job_says_how_it_restarts(kind):
    assert lines(ENGINE.template(template(), "t", kind)) == [
        't.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


def test_a_template_is_one_of_a_deployment_unless_said_otherwise():
    outcome = ENGINE.template(template(restartPolicy="Never", activeDeadlineSeconds=1, nodeName="N_"))
    assert lines(outcome) == [
        f'spec.template.spec.nodeName: Invalid value: "N_": {validation.DNS_SUBDOMAIN}',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
    ]
    assert outcome.status()["message"].startswith('Deployment.apps "" is invalid: [spec.template.spec.nodeName: ')


def test_a_template_alone_gives_warnings_at_its_path():
    outcome = ENGINE.template(template(terminationGracePeriodSeconds=-1, colour="red"), "spec.tasks[2].template", "Task")
    assert outcome.warnings == (
        'unknown field "spec.tasks[2].template.spec.colour"',
        "spec.tasks[2].template.spec.terminationGracePeriodSeconds: "
        "must be >= 0; negative values are invalid and will be treated as 1",
    )
    assert outcome.pod["spec"]["dnsPolicy"] == "ClusterFirst"


@pytest.mark.parametrize(
    "value, words",
    [
        pytest.param(
            {"spec": {"containers": 5}},
            "json: cannot unmarshal number into Go struct field PodSpec.spec.tasks.template.spec.containers "
            "of type []v1.Container",
            id="inside",
        ),
        pytest.param("x", "json: cannot unmarshal string into Go value of type v1.PodTemplateSpec", id="the-template-itself"),
    ],
)
def test_a_template_of_a_wrong_type(value, words):
    outcome = ENGINE.template(value, "spec.tasks[2].template", "Task")
    assert (outcome.code, outcome.status()["message"]) == (400, words)
