"""Each check of the Pod Security Standards: reason, detail and the place that it points at."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat.strategy.admission.pod_security import evaluate, levels
from podstrat.strategy.admission.pod_security.violation import Object, Pod

GOOD: Object = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "c", "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}],
}
C = ("spec", "containers", 0)


def spec(*, pod: Object | None = None, container: Object | None = None, security: Object | None = None, **fields: Any) -> Object:
    """A restricted spec with these fields in the pod's security context, the container, its security context, the spec."""
    made = copy.deepcopy(GOOD)
    made["securityContext"].update(pod or {})
    made["containers"][0].update(container or {})
    made["containers"][0]["securityContext"].update(security or {})
    return {**made, **fields}


def found(wanted: str, made: Object, annotations: Object | None = None, release: tuple[int, int] = (1, 37)) -> list[str]:
    return [
        str(each) for each in evaluate.violations(levels.parse(wanted), release, Pod({"annotations": annotations or {}}, made))
    ]


def places(wanted: str, made: Object, annotations: Object | None = None) -> list[tuple[str | int, ...]]:
    violations = evaluate.violations(levels.parse(wanted), (1, 37), Pod({"annotations": annotations or {}}, made))
    return [place for violation in violations for place in violation.places]


@pytest.mark.parametrize("release", [(1, 34), (1, 35), (1, 36), (1, 37)])
@pytest.mark.parametrize("version", ["v1.0", "v1.8", "v1.19", "v1.22", "v1.25", "v1.35", "v1.99", "latest"])
def test_a_restricted_pod_passes_every_version(version, release):
    assert found(f"restricted:{version}", GOOD, release=release) == []


BASELINE = [
    pytest.param(
        {"hostPID": True, "hostNetwork": True},
        "host namespaces (hostNetwork=true, hostPID=true)",
        [("spec", "hostNetwork"), ("spec", "hostPID")],
        id="host-namespaces",
    ),
    pytest.param(
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/"}}]},
        'hostPath volumes (volume "v")',
        [("spec", "volumes", 1, "hostPath")],
        id="host-path",
    ),
    pytest.param(
        {"container": {"ports": [{"hostPort": 9090}, {"hostPort": 0}, {"hostPort": 10000}]}},
        'hostPort (container "c" uses hostPorts 10000, 9090)',
        [(*C, "ports", 0, "hostPort"), (*C, "ports", 2, "hostPort")],
        id="host-ports",
    ),
    pytest.param(
        {"container": {"livenessProbe": {"httpGet": {"host": "z"}}, "lifecycle": {"preStop": {"tcpSocket": {"host": "a"}}}}},
        'probe or lifecycle host (container "c" uses probe or lifecycle hosts "a", "z")',
        [(*C, "livenessProbe", "httpGet", "host"), (*C, "lifecycle", "preStop", "tcpSocket", "host")],
        id="probe-hosts",
    ),
    pytest.param(
        {"security": {"privileged": True}},
        'privileged (container "c" must not set securityContext.privileged=true)',
        [(*C, "securityContext", "privileged")],
        id="privileged",
    ),
    pytest.param(
        {"security": {"procMount": "Unmasked"}},
        'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
        [(*C, "securityContext", "procMount")],
        id="proc-mount",
    ),
    pytest.param(
        {"security": {"capabilities": {"add": ["CHOWN", "SYS_ADMIN", "NET_RAW"]}}},
        'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
        [(*C, "securityContext", "capabilities", "add", 1), (*C, "securityContext", "capabilities", "add", 2)],
        id="capabilities",
    ),
    pytest.param(
        {"pod": {"appArmorProfile": {"type": "Unconfined"}}},
        'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
        [("spec", "securityContext", "appArmorProfile", "type")],
        id="app-armor",
    ),
    pytest.param(
        {"pod": {"seLinuxOptions": {"type": "spc_t", "role": "r"}}, "security": {"seLinuxOptions": {"user": "u"}}},
        'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: '
        'type "spc_t"; user may not be set; role may not be set)',
        [
            ("spec", "securityContext", "seLinuxOptions", "type"),
            ("spec", "securityContext", "seLinuxOptions", "role"),
            (*C, "securityContext", "seLinuxOptions", "user"),
        ],
        id="selinux",
    ),
    pytest.param(
        {"pod": {"seccompProfile": {"type": "Unconfined"}}, "security": {"seccompProfile": {"type": "Unconfined"}}},
        'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
        [("spec", "securityContext", "seccompProfile", "type"), (*C, "securityContext", "seccompProfile", "type")],
        id="seccomp",
    ),
    pytest.param(
        {"pod": {"sysctls": [{"name": "b"}, {"name": "net.ipv4.tcp_rmem"}, {"name": "a"}, {"name": "b"}]}},
        "forbidden sysctls (b, a, b)",
        [("spec", "securityContext", "sysctls", i, "name") for i in (0, 2, 3)],
        id="sysctls",
    ),
    pytest.param(
        {"pod": {"windowsOptions": {"hostProcess": True}}, "security": {"windowsOptions": {"hostProcess": True}}},
        'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
        [("spec", "securityContext", "windowsOptions", "hostProcess"), (*C, "securityContext", "windowsOptions", "hostProcess")],
        id="windows-host-process",
    ),
]


@pytest.mark.parametrize("fields, text, where", BASELINE)
def test_baseline(fields, text, where):
    made = spec(**fields)
    assert found("baseline", made) == [text]
    assert places("baseline", made) == where
    assert found("privileged", made) == []


RESTRICTED = [
    pytest.param(
        {"security": {"allowPrivilegeEscalation": None}},
        'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
        [(*C, "securityContext", "allowPrivilegeEscalation")],
        id="escalation",
    ),
    pytest.param(
        {"security": {"capabilities": {"add": ["NET_BIND_SERVICE", "CHOWN"]}}},
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; '
        'container "c" must not include "CHOWN" in securityContext.capabilities.add)',
        [(*C, "securityContext", "capabilities", "drop"), (*C, "securityContext", "capabilities", "add", 1)],
        id="capabilities",
    ),
    pytest.param(
        {"volumes": [{"name": "v", "nfs": {}}, {"name": "w", "hostPath": {}}, {"name": "x"}, {"name": "y", "image": {}}]},
        'restricted volume types (volumes "v", "w", "x" use restricted volume types "hostPath", "nfs", "unknown")',
        [("spec", "volumes", 0, "nfs"), ("spec", "volumes", 1, "hostPath"), ("spec", "volumes", 2)],
        id="volumes",
    ),
    pytest.param(
        {"pod": {"runAsNonRoot": None}},
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
        [(*C, "securityContext", "runAsNonRoot")],
        id="non-root-missing",
    ),
    pytest.param(
        {"pod": {"runAsNonRoot": False}, "security": {"runAsNonRoot": False}},
        'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)',
        [("spec", "securityContext", "runAsNonRoot"), (*C, "securityContext", "runAsNonRoot")],
        id="non-root-false",
    ),
    pytest.param(
        {"pod": {"runAsUser": 0}, "security": {"runAsUser": 0}},
        'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
        [("spec", "securityContext", "runAsUser"), (*C, "securityContext", "runAsUser")],
        id="user",
    ),
    pytest.param(
        {"pod": {"seccompProfile": None}},
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
        [(*C, "securityContext", "seccompProfile", "type")],
        id="seccomp",
    ),
]


@pytest.mark.parametrize("fields, text, where", RESTRICTED)
def test_restricted(fields, text, where):
    made = spec(**fields)
    assert found("restricted", made) == [text]
    assert places("restricted", made) == where


def test_what_fails_is_told_by_level_and_name():
    made = spec(
        hostPID=True, security={"procMount": "Unmasked", "capabilities": {"add": ["X"]}, "allowPrivilegeEscalation": True}
    )
    reasons = [text.partition(" (")[0] for text in found("restricted", made)]
    assert reasons == ["host namespaces", "allowPrivilegeEscalation != false", "unrestricted capabilities", "procMount"]


def test_containers_are_named_in_the_order_of_their_kinds():
    made = {**GOOD, "initContainers": [{"name": "i"}], "ephemeralContainers": [{"name": "e"}]}
    text = 'allowPrivilegeEscalation != false (containers "i", "e" must set securityContext.allowPrivilegeEscalation=false)'
    assert found("restricted:v1.8", made)[0] == text


def test_an_app_armor_annotation_is_quoted_twice():
    annotations = {"container.apparmor.security.beta.kubernetes.io/c": "unconfined", "other": "unconfined"}
    assert found("baseline", GOOD, annotations) == [
        "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
        '"container.apparmor.security.beta.kubernetes.io/c="unconfined"")'
    ]
    assert places("baseline", GOOD, annotations) == [
        ("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/c")
    ]


@pytest.mark.parametrize("value", ["", "runtime/default", "localhost/mine"])
def test_app_armor_annotations_that_are_allowed(value):
    assert found("baseline", GOOD, {"container.apparmor.security.beta.kubernetes.io/c": value}) == []


def test_seccomp_annotations_count_before_1_19():
    annotations = {
        "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
        "container.seccomp.security.alpha.kubernetes.io/c": "",
        "container.seccomp.security.alpha.kubernetes.io/gone": "unconfined",
    }
    text = (
        'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/c="", '
        'seccomp.security.alpha.kubernetes.io/pod="unconfined")'
    )
    assert found("baseline:v1.18", GOOD, annotations) == [text]
    assert found("baseline:v1.19", GOOD, annotations) == []


WINDOWS = {"os": {"name": "windows"}}
BY_VERSION = [
    pytest.param("baseline", {"pod": {"sysctls": [{"name": "net.ipv4.ip_local_reserved_ports"}]}}, 27, None, id="sysctl-1.27"),
    pytest.param("baseline", {"pod": {"sysctls": [{"name": "net.ipv4.tcp_fin_timeout"}]}}, 29, None, id="sysctl-1.29"),
    pytest.param("baseline", {"pod": {"sysctls": [{"name": "net.ipv4.tcp_wmem"}]}}, 32, None, id="sysctl-1.32"),
    pytest.param("baseline", {"pod": {"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat"}]}}, 37, None, id="sysctl-1.37"),
    pytest.param("baseline", {"pod": {"seLinuxOptions": {"type": "container_engine_t"}}}, 31, None, id="selinux-1.31"),
    pytest.param("baseline", {"hostUsers": False, "security": {"procMount": "Unmasked"}}, 35, None, id="proc-mount-1.35"),
    pytest.param("restricted", {"hostUsers": False, "pod": {"runAsNonRoot": None}}, 35, None, id="non-root-1.35"),
    pytest.param("restricted", {"hostUsers": False, "pod": {"runAsUser": 0}}, 35, 23, id="user-1.23"),
    pytest.param("restricted", {**WINDOWS, "security": {"allowPrivilegeEscalation": True}}, 25, 8, id="escalation-1.8"),
    pytest.param("restricted", {**WINDOWS, "pod": {"seccompProfile": None}}, 25, 19, id="seccomp-1.19"),
    pytest.param("restricted", {**WINDOWS, "security": {"capabilities": {}}}, 25, 22, id="capabilities-1.22"),
    pytest.param("baseline", {"container": {"livenessProbe": {"tcpSocket": {"host": "h"}}}}, None, 34, id="probe-host-1.34"),
]


@pytest.mark.parametrize("level, fields, relaxed, since", BY_VERSION)
def test_versions_of_the_standards(level, fields, relaxed, since):
    made = spec(**fields)
    failing = [minor for minor in range(40) if found(f"{level}:v1.{minor}", made)]
    assert failing == list(range(since or 0, relaxed or 40))


def test_user_namespaces_do_not_unmask_proc_at_restricted():
    made = spec(hostUsers=False, security={"procMount": "Unmasked"})
    assert found("baseline:v1.35", made) == []
    assert found("restricted:v1.35", made) == ['procMount (container "c" must not set securityContext.procMount to "Unmasked")']


@pytest.mark.parametrize(
    "release, versions",
    [((1, 34), ["latest", "v1.34", "v1.99"]), ((1, 36), ["latest", "v1.37", "v1.99"]), ((1, 37), ["v1.36"])],
    ids=["1.34", "1.36", "1.37"],
)
def test_later_versions_are_judged_as_the_newest_that_the_release_knows(release, versions):
    sysctl = spec(pod={"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat"}]})
    for version in versions:
        assert found(f"baseline:{version}", sysctl, release=release) == ["forbidden sysctls (net.ipv4.tcp_notsent_lowat)"]


def test_1_34_has_a_gate_for_user_namespaces():
    made = spec(hostUsers=False, pod={"runAsNonRoot": None, "runAsUser": 0}, security={"procMount": "Unmasked"})
    restricted = levels.parse("restricted")
    assert [v.reason for v in evaluate.violations(restricted, (1, 34), Pod({}, made))] == [
        "procMount",
        "runAsNonRoot != true",
        "runAsUser=0",
    ]
    assert evaluate.violations(restricted, (1, 34), Pod({}, made), user_namespaces=True) == []


def test_reasons_and_details_are_joined():
    both = evaluate.violations(levels.parse("baseline"), (1, 37), Pod({}, spec(hostIPC=True, security={"privileged": True})))
    assert evaluate.reasons(both) == "host namespaces, privileged"
    assert evaluate.details(both) == (
        'host namespaces (hostIPC=true), privileged (container "c" must not set securityContext.privileged=true)'
    )
