"""Pod templates, alone and in their workloads: what differs from a pod, and what each kind asks."""

from __future__ import annotations

import copy
import json

import pytest

from strategy import formats
from strategy.engine import Engine
from strategy.templates import KINDS, SOME_UID

ENGINE = Engine("1.37")
APPS = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
NOT_SELECTED = "`selector` does not match template `labels`"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"


def template(**spec):
    return {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "busybox:1"}], **spec}}


def make(kind, pod=None, /, name="w", **spec):
    """A workload that the server accepts, with another template or other fields of its spec."""
    about = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}}
    if kind in ("Job", "CronJob"):
        pod = pod or template(restartPolicy="Never")
    pod = pod or template()
    if kind == "PodTemplate":
        return {**about, "template": pod}
    if kind == "CronJob":
        return {**about, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": pod, **spec}}}}
    if kind == "ReplicationController":
        return {**about, "spec": {"selector": {"app": "w"}, "template": pod, **spec}}
    if kind == "Job":
        return {**about, "spec": {"template": pod, **spec}}
    return {**about, "spec": {"selector": {"matchLabels": {"app": "w"}}, "template": pod, **spec}}


def lines(outcome):
    return [str(error) for error in outcome.errors]


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
    at = KINDS[kind].at
    pod = template(restartPolicy="Never" if "Job" in kind else "Always", nodeName="N_", containers=[{"name": "c"}])
    assert lines(ENGINE.workload(make(kind, pod))) == [
        f"{at}.spec.containers[0].image: Required value",
        f'{at}.spec.nodeName: Invalid value: "N_": {formats.DNS_SUBDOMAIN}',
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
    with pytest.raises(ValueError, match="no pod template is known in a"):
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
        pytest.param("PodTemplate", "A_", [f'metadata.name: Invalid value: "A_": {formats.DNS_SUBDOMAIN}'], id="subdomain"),
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
    path = f"{KINDS[kind].at}.spec.restartPolicy"
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
    path = f"{KINDS[kind].at}.spec.restartPolicy"
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
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"]}}


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


def test_a_template_is_one_of_a_deployment_unless_said_otherwise():
    outcome = ENGINE.template(template(restartPolicy="Never", activeDeadlineSeconds=1, nodeName="N_"))
    assert lines(outcome) == [
        f'spec.template.spec.nodeName: Invalid value: "N_": {formats.DNS_SUBDOMAIN}',
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
