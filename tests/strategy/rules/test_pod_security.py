"""The security context of a pod, kernel parameters, and what a pod shares with its host."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import pod_security
from tests.strategy.make import context, lines

AT = "spec.template.spec"
S = f"{AT}.securityContext"
IDS = "must be between 0 and 2147483647, inclusive"
SYSCTL = (
    r"must have at most 253 characters and match regex "
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
)
SHARES = "ShareProcessNamespace and HostPID cannot both be enabled"
OWN_USERS = "Forbidden: when `hostUsers` is false"


def check(given, ctx=None, **spec):
    return lines(pod_security.context({"securityContext": given} | spec, AT, ctx or context()))


def choice(value, *supported):
    return f'Unsupported value: "{value}": supported values: ' + ", ".join(f'"{each}"' for each in supported)


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param({}, [], id="empty"),
        pytest.param({"fsGroup": 0, "runAsUser": 2147483647, "supplementalGroups": [], "runAsNonRoot": True}, [], id="ordinary"),
        pytest.param(
            {"fsGroupChangePolicy": "Always", "supplementalGroupsPolicy": "Merge", "seLinuxChangePolicy": "Recursive"},
            [],
            id="policies",
        ),
        pytest.param(
            {
                "fsGroup": -1,
                "runAsUser": -2,
                "runAsGroup": -3,
                "supplementalGroups": [1, -4],
                "sysctls": [{"name": "A"}],
                "fsGroupChangePolicy": "x",
                "seccompProfile": {},
                "windowsOptions": {"runAsUserName": ""},
                "appArmorProfile": {},
                "supplementalGroupsPolicy": "y",
                "seLinuxChangePolicy": "z",
            },
            [
                f"fsGroup: Invalid value: -1: {IDS}",
                f"runAsUser: Invalid value: -2: {IDS}",
                f"runAsGroup: Invalid value: -3: {IDS}",
                f"supplementalGroups[1]: Invalid value: -4: {IDS}",
                f'sysctls[0].name: Invalid value: "A": {SYSCTL}',
                f"fsGroupChangePolicy: {choice('x', 'Always', 'OnRootMismatch')}",
                "seccompProfile.type: Required value: type is required when seccompProfile is set",
                'windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string',
                "appArmorProfile.type: Required value: type is required when appArmorProfile is set",
                f"supplementalGroupsPolicy: {choice('y', 'Merge', 'Strict')}",
                f"seLinuxChangePolicy: {choice('z', 'MountOption', 'Recursive')}",
            ],
            id="everything-in-order",
        ),
    ],
)
def test_context(given, errors):
    assert check(given) == [f"{S}.{error}" for error in errors]


@pytest.mark.parametrize(
    "ctx, errors",
    [
        pytest.param(context("1.37"), [], id="on"),
        pytest.param(context("1.36"), [choice("MountOption", "Recursive")], id="off"),
        pytest.param(
            context("1.36", {"metadata": {}, "spec": {"securityContext": {"seLinuxChangePolicy": "Recursive"}}}), [], id="in-use"
        ),
    ],
)
def test_selinux_mounts_are_gated(ctx, errors):
    found = check({"seLinuxChangePolicy": "MountOption"}, ctx)
    assert found == [f"{S}.seLinuxChangePolicy: {error}" for error in errors]


@pytest.mark.parametrize(
    "release, path, where",
    [
        pytest.param("1.36", f"{S}.shareProcessNamespace", 0, id="1.36-before-sysctls"),
        pytest.param("1.37", f"{AT}.shareProcessNamespace", 1, id="1.37-behind-all"),
    ],
)
def test_processes_are_shared_with_containers_or_the_host(release, path, where):
    spec = {"securityContext": {"sysctls": [{"name": ""}]}, "hostPID": True, "shareProcessNamespace": True}
    found = list(pod_security.context(spec, AT, context(release)))
    assert str(found[where]) == f"{path}: Invalid value: true: {SHARES}"
    assert found[where].where == ("spec", "template", "spec", "shareProcessNamespace")
    assert str(found[1 - where]) == f"{S}.sysctls[0].name: Required value"


@pytest.mark.parametrize("spec", [{"hostPID": True, "shareProcessNamespace": False}, {"shareProcessNamespace": True}])
def test_processes_may_be_shared_one_way(spec):
    assert lines(pod_security.context(spec, AT, context())) == []


@pytest.mark.parametrize(
    "name, errors",
    [
        pytest.param("net.ipv4.conf.eno2/100.rp_filter", [], id="both-separators"),
        pytest.param("a" * 253, [], id="longest"),
        pytest.param("", ["Required value"], id="none"),
        pytest.param("net..x", [f'Invalid value: "net..x": {SYSCTL}'], id="empty-part"),
        pytest.param("a" * 254, [f'Invalid value: "{"a" * 254}": {SYSCTL}'], id="too-long"),
    ],
)
def test_kernel_parameter_names(name, errors):
    assert check({"sysctls": [{"name": name}]}) == [f"{S}.sysctls[0].name: {error}" for error in errors]


def test_a_kernel_parameter_is_given_once_in_one_spelling():
    sysctls = [{"name": name} for name in ("net.a", "net/a", "net.a", "A", "A")]
    assert check({"sysctls": sysctls}) == [
        f'{S}.sysctls[2].name: Duplicate value: "net.a"',
        f'{S}.sysctls[3].name: Invalid value: "A": {SYSCTL}',
        f'{S}.sysctls[4].name: Invalid value: "A": {SYSCTL}',
    ]


@pytest.mark.parametrize(
    "name, clash",
    [
        pytest.param("net.ipv4.tcp_syncookies", "hostNetwork", id="net"),
        pytest.param("net/ipv4/conf/eno2.100/rp_filter", "hostNetwork", id="net-by-slashes"),
        pytest.param("network.x", "", id="network"),
        pytest.param("kernel.sem", "hostIPC", id="semaphores"),
        pytest.param("kernel/shmmax", "hostIPC", id="shared-memory-by-slashes"),
        pytest.param("kernel.msgmni", "hostIPC", id="messages"),
        pytest.param("kernel.msgfoo", "", id="no-parameter-of-messages"),
        pytest.param("fs.mqueue.msg_max", "hostIPC", id="queues"),
        pytest.param("vm.max_map_count", "", id="not-namespaced"),
    ],
)
def test_kernel_parameters_of_the_host(name, clash):
    given = {"sysctls": [{"name": name}]}
    text = f"{S}.sysctls[0].name: Invalid value: \"{name}\": may not be specified when '{clash}' is true"
    assert check(given, hostNetwork=True, hostIPC=True) == ([text] if clash else [])
    assert check(given) == []


def test_a_pattern_is_bad_and_of_the_host():
    assert check({"sysctls": [{"name": "net.*"}]}, hostNetwork=True) == [
        f'{S}.sysctls[0].name: Invalid value: "net.*": {SYSCTL}',
        f"{S}.sysctls[0].name: Invalid value: \"net.*\": may not be specified when 'hostNetwork' is true",
    ]


def test_a_stored_pod_keeps_kernel_parameters_of_the_host():
    spec = {"hostIPC": True, "securityContext": {"sysctls": [{"name": "kernel.sem"}]}}
    ctx = context(old={"metadata": {}, "spec": spec})
    assert check({"sysctls": [{"name": "kernel.sem"}]}, ctx, hostIPC=True) == []
    ctx = context(old={"metadata": {}, "spec": {"hostIPC": True}})
    assert len(check({"sysctls": [{"name": "kernel.sem"}]}, ctx, hostIPC=True)) == 1


# ---- users -------------------------------------------------------------------------------------------

DEVICES = {"volumeDevices": [{"name": "v", "devicePath": "/d"}]}


def test_a_pod_with_its_own_users_shares_nothing():
    spec = {
        "hostUsers": False,
        "hostNetwork": True,
        "hostPID": True,
        "hostIPC": True,
        "initContainers": [{}, DEVICES],
        "containers": [DEVICES],
        "ephemeralContainers": [{}, DEVICES],
    }
    found = list(pod_security.own_users(spec, AT, context()))
    assert lines(found) == [
        f"{AT}.hostNetwork: {OWN_USERS}",
        f"{AT}.HostPID: {OWN_USERS}",
        f"{AT}.HostIPC: {OWN_USERS}",
        f"{AT}.initContainers[1].volumeDevices: {OWN_USERS}",
        f"{AT}.containers[0].volumeDevices: {OWN_USERS}",
        f"{AT}.ephemeralContainers[1].volumeDevices: {OWN_USERS}",
    ]
    assert [error.where[-1] for error in found[1:3]] == ["hostPID", "hostIPC"]


def test_a_pod_with_the_users_of_its_host_may_share_all():
    spec = {"hostUsers": True, "hostNetwork": True, "hostPID": True, "hostIPC": True, "containers": [DEVICES]}
    assert lines(pod_security.own_users(spec, AT, context())) == []


@pytest.mark.parametrize(
    "ctx",
    [
        pytest.param(context(UserNamespacesHostNetworkSupport=True), id="gate"),
        pytest.param(context(old={"metadata": {}, "spec": {"hostUsers": False, "hostNetwork": True}}), id="in-use"),
    ],
)
def test_own_users_on_the_network_of_the_host(ctx):
    spec = {"hostUsers": False, "hostNetwork": True, "hostIPC": True, "containers": []}
    assert lines(pod_security.own_users(spec, AT, ctx)) == [f"{AT}.HostIPC: {OWN_USERS}"]


def test_a_stored_pod_keeps_its_devices():
    spec = {"hostUsers": False, "containers": [DEVICES]}
    assert lines(pod_security.own_users(spec, AT, context(old={"metadata": {}, "spec": spec}))) == []
    added = {**spec, "ephemeralContainers": [DEVICES]}
    assert lines(pod_security.own_users(added, AT, context(old={"metadata": {}, "spec": spec}))) == []
    assert lines(pod_security.own_users(spec, AT, context(old={"metadata": {}, "spec": added}))) == []
    others = context(old={"metadata": {}, "spec": {"hostUsers": True, "containers": [DEVICES]}})
    assert len(lines(pod_security.own_users(spec, AT, others))) == 1
