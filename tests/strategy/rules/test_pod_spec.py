"""The spec as a whole: every family of rules is reached, in the server's order, wherever the spec stands."""

from __future__ import annotations

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import pod_spec
from tests.strategy.make import context, lines

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CONTAINER = {"name": "c", "image": "busybox:1"}


def make(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [dict(CONTAINER)]} | spec,
    }


def check(release="1.37", overrides=None, **spec):
    return lines(Engine(release, overrides).create(make(**spec)).errors)


def complete(**fields):
    """A spec behind defaulting."""
    container = CONTAINER | {"resources": {}, "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
    return {
        "containers": [container],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {},
    } | fields


def test_an_ordinary_pod_is_all_right():
    assert check() == []


DEADLINE = "must be between 1 and 2147483647, inclusive"


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param(
            {"volumes": [{"name": "A"}]}, [f'spec.volumes[0].name: Invalid value: "A": {validation.DNS_LABEL}'], id="volumes"
        ),
        pytest.param(
            {"resourceClaims": [{"name": "", "resourceClaimName": "c"}]},
            ["spec.resourceClaims[0].name: Required value"],
            id="claims",
        ),
        pytest.param({"containers": []}, ["spec.containers: Required value"], id="containers"),
        pytest.param({"initContainers": [{"name": "i"}]}, ["spec.initContainers[0].image: Required value"], id="init-containers"),
        pytest.param(
            {"ephemeralContainers": [{"name": "e"}]},
            ["spec.ephemeralContainers[0].image: Required value", "spec.ephemeralContainers: Forbidden: cannot be set on create"],
            id="ephemeral-containers",
        ),
        pytest.param(
            {"resources": {"limits": {"pods": "1"}}},
            [
                'spec.resources.limits[pods]: Unsupported value: "pods": supported values: "cpu", "hugepages-", "memory"',
            ],
            id="resources",
        ),
        pytest.param(
            {"hostNetwork": True, "containers": [CONTAINER | {"ports": [{"containerPort": 1, "hostPort": 2}]}]},
            ["spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true"],
            id="ports",
        ),
        pytest.param(
            {"restartPolicy": "No"},
            ['spec.restartPolicy: Unsupported value: "No": supported values: "Always", "OnFailure", "Never"'],
            id="restart-policy",
        ),
        pytest.param(
            {"nodeSelector": {"a": "b c"}},
            [f'spec.nodeSelector: Invalid value: "b c": {validation.LABEL_VALUE}'],
            id="node-selector",
        ),
        pytest.param(
            {"securityContext": {"runAsUser": -1}},
            ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
            id="security-context",
        ),
        pytest.param(
            {"shareProcessNamespace": True, "hostPID": True},
            ["spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"],
            id="processes",
        ),
        pytest.param(
            {"affinity": {"nodeAffinity": {REQUIRED: {}}}},
            [
                f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: "
                "Required value: must have at least one node selector term"
            ],
            id="affinity",
        ),
        pytest.param(
            {"dnsPolicy": "None"},
            ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
            id="dns-none",
        ),
        pytest.param(
            {"dnsConfig": {"options": [{}]}}, ["spec.dnsConfig.options[0]: Required value: must not be empty"], id="dns-config"
        ),
        pytest.param(
            {"readinessGates": [{"conditionType": "-"}]},
            [f'spec.readinessGates[0].conditionType: Invalid value: "-": {validation.NAME_PART}'],
            id="readiness-gates",
        ),
        pytest.param(
            {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}]},
            ["spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"],
            id="spread",
        ),
        pytest.param(
            {"securityContext": {"windowsOptions": {"hostProcess": True}}},
            ["spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers"],
            id="host-processes",
        ),
        pytest.param(
            {"hostUsers": False, "hostPID": True}, ["spec.HostPID: Forbidden: when `hostUsers` is false"], id="host-users"
        ),
        pytest.param(
            {"hostnameOverride": "A"},
            [f'spec.hostnameOverride: Invalid value: "A": {validation.DNS_SUBDOMAIN}'],
            id="hostname-override",
        ),
        pytest.param(
            {"serviceAccount": "A"},
            [f'spec.serviceAccountName: Invalid value: "A": {validation.DNS_SUBDOMAIN}'],
            id="account-by-alias",
        ),
        pytest.param({"nodeName": "A"}, [f'spec.nodeName: Invalid value: "A": {validation.DNS_SUBDOMAIN}'], id="node-name"),
        pytest.param(
            {"activeDeadlineSeconds": 0}, [f"spec.activeDeadlineSeconds: Invalid value: 0: {DEADLINE}"], id="deadline-too-short"
        ),
        pytest.param(
            {"activeDeadlineSeconds": 2**31},
            [f"spec.activeDeadlineSeconds: Invalid value: 2147483648: {DEADLINE}"],
            id="deadline-too-long",
        ),
        pytest.param({"activeDeadlineSeconds": 2**31 - 1}, [], id="deadline"),
        pytest.param({"hostname": "a.b"}, ['spec.hostname: Invalid value: "a.b": must not contain dots'], id="hostname"),
        pytest.param({"subdomain": "A"}, [f'spec.subdomain: Invalid value: "A": {validation.DNS_LABEL}'], id="subdomain"),
        pytest.param(
            {"tolerations": [{"key": "-"}]},
            [f'spec.tolerations[0].key: Invalid value: "-": {validation.NAME_PART}'],
            id="tolerations",
        ),
        pytest.param(
            {"hostAliases": [{"ip": "x"}]},
            [f'spec.hostAliases[0].ip: Invalid value: "x": {validation.BAD_IP}'],
            id="host-aliases",
        ),
        pytest.param(
            {"priorityClassName": "A"},
            [f'spec.priorityClassName: Invalid value: "A": {validation.DNS_SUBDOMAIN}'],
            id="priority-class",
        ),
        pytest.param(
            {"runtimeClassName": ""},
            [f'spec.runtimeClassName: Invalid value: "": {validation.DNS_SUBDOMAIN}'],
            id="runtime-class",
        ),
        pytest.param({"preemptionPolicy": ""}, ["spec.preemptionPolicy: Required value"], id="preemption-policy"),
        pytest.param(
            {"overhead": {"cpu": "-1"}},
            ['spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
            id="overhead",
        ),
        pytest.param({"os": {}}, ["spec.os.name: Required value"], id="os"),
        pytest.param(
            {
                "containers": [
                    CONTAINER
                    | {"env": [{"name": "E", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "f", "key": "K"}}}]}
                ]
            },
            ['spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"'],
            id="files-of-variables",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{}, {"serviceAccountToken": {"path": "t"}}]}}]},
            [
                "spec.volumes[0].projected.sources[1].serviceAccountToken: Forbidden: "
                "must not be specified when serviceAccountName is not set"
            ],
            id="token-without-account",
        ),
        pytest.param(
            {"containers": [{"name": "c", "image": "x "}]},
            ['spec.containers[0].image: Invalid value: "x ": must not have leading or trailing whitespace'],
            id="image",
        ),
        pytest.param(
            {"nodeName": "n", "schedulingGates": [{"name": "g"}]},
            ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
            id="bound-and-gated",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "-"}]},
            [f'spec.schedulingGates[0]: Invalid value: "-": {validation.NAME_PART}'],
            id="gates",
        ),
    ],
)
def test_each_family_is_reached_by_create(spec, errors):
    assert check(**spec) == errors


@pytest.mark.parametrize(
    "release, gate, spec, errors",
    [
        pytest.param(
            *("1.37", "GenericWorkload", {"schedulingGroup": {}}),
            ["spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"],
            id="scheduling-group",
        ),
        pytest.param(
            *("1.35", "GenericWorkload", {"workloadRef": {"name": "w", "podGroup": "a.b"}}),
            ['spec.workloadRef.podGroup: Invalid value: "a.b": must not contain dots'],
            id="workload",
        ),
        pytest.param(
            *("1.37", "EvictionRequestAPI", {"evictionResponders": [{"name": "example.com/r"}], "hostname": "a.b"}),
            [
                'spec.hostname: Invalid value: "a.b": must not contain dots',
                "spec.evictionResponders[0].priority: Required value",
            ],
            id="responders-behind-all",
        ),
    ],
)
def test_gated_families(release, gate, spec, errors):
    assert check(release, {gate: True}, **spec) == errors
    assert "spec.schedulingGroup" not in "".join(check(release, {gate: False}, **spec))


def test_pod_level_resources_are_judged_by_the_gate_alone():
    spec = complete(resources={"limits": {"pods": "1"}})
    old = {"metadata": {}, "spec": spec}
    on = context(old=old)
    off = on._replace(gates=on.gates - {"PodLevelResources"})
    assert [error.field for error in pod_spec.spec(spec, {}, "spec", on)] == ["spec.resources.limits[pods]"]
    assert list(pod_spec.spec(spec, {}, "spec", off)) == []


EVERYTHING = {
    "volumes": [{"name": "A", "emptyDir": {}}],
    "resourceClaims": [{"name": "g"}],
    "restartPolicy": "X",
    "dnsPolicy": "Y",
    "nodeSelector": {"a": "!"},
    "securityContext": {"fsGroup": -1},
    "affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "-"}]}},
    "dnsConfig": {"nameservers": ["x"]},
    "readinessGates": [{"conditionType": "-"}],
    "schedulingGates": [{"name": "-"}],
    "topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
    "hostUsers": False,
    "hostIPC": True,
    "hostnameOverride": "A",
    "serviceAccountName": "A",
    "nodeName": "A",
    "activeDeadlineSeconds": 0,
    "hostname": "A",
    "subdomain": "A",
    "tolerations": [{}],
    "hostAliases": [{"ip": "x"}],
    "priorityClassName": "A",
    "runtimeClassName": "A",
    "preemptionPolicy": "A",
    "overhead": {"cpu": "-1"},
    "os": {"name": "x"},
}
IN_ORDER = [
    *("volumes[0].name", "resourceClaims[0]", "restartPolicy", "dnsPolicy", "nodeSelector", "securityContext.fsGroup"),
    *(f"affinity.podAffinity.{REQUIRED}[0].topologyKey", "dnsConfig.nameservers[0]", "readinessGates[0].conditionType"),
    *("schedulingGates[0]", "topologySpreadConstraints[0].maxSkew", "HostIPC", "hostnameOverride", "serviceAccountName"),
    *("nodeName", "activeDeadlineSeconds", "hostname", "subdomain", "tolerations[0].operator", "hostAliases[0].ip"),
    *("priorityClassName", "runtimeClassName", "preemptionPolicy", "overhead.limits[cpu]", "os"),
]


def test_the_order_is_the_servers():
    found = [error.field for error in Engine("1.37").create(make(**EVERYTHING)).errors]
    assert found == [*(f"spec.{path}" for path in IN_ORDER), "spec.nodeName"]


def test_the_same_rules_serve_a_template():
    spec = complete(**EVERYTHING)
    at = "spec.jobTemplate.spec.template.spec"
    found = list(pod_spec.spec(spec, None, at, context()))
    assert [error.field for error in found] == [f"{at}.{path}" for path in IN_ORDER]
    assert {error.where[:5] for error in found} == {("spec", "jobTemplate", "spec", "template", "spec")}


def test_what_defaulting_always_fills_in():
    spec = complete()
    for key in ("terminationGracePeriodSeconds", "restartPolicy", "dnsPolicy"):
        del spec[key]
    assert [str(error) for error in pod_spec.spec(spec, None, "spec", context())] == [
        "spec.terminationGracePeriodSeconds: Required value",
        "spec.restartPolicy: Required value",
        "spec.dnsPolicy: Required value",
    ]


@pytest.mark.parametrize(
    "release, errors",
    [
        pytest.param("1.36", [], id="1.36"),
        pytest.param(
            "1.37", ["spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0"], id="1.37"
        ),
    ],
)
def test_a_negative_grace_period(release, errors):
    pod = {"metadata": {}, "spec": complete(terminationGracePeriodSeconds=-1)}
    assert [str(error) for error in pod_spec.pod_only(pod, context(release))] == errors


def test_an_account_allows_a_token():
    volumes = [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
    assert check(volumes=volumes, serviceAccountName="default") == []
