"""Fields that one operating system does not know, and host processes of Windows."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import operating_system
from tests.strategy.make import context, lines

WINDOWS = "Forbidden: cannot be set for a windows pod"
LINUX = "Forbidden: windows options cannot be set for a linux pod"


def check(spec, release="1.37"):
    return lines(operating_system.fields(spec, "spec", context(release)))


def container(**security):
    return {"name": "c", "securityContext": security}


@pytest.mark.parametrize(
    "name, errors",
    [
        pytest.param("linux", [], id="linux"),
        pytest.param("windows", [], id="windows"),
        pytest.param("", ["spec.os.name: Required value"], id="none"),
        pytest.param("Linux", ['spec.os: Unsupported value: "Linux": supported values: "linux", "windows"'], id="by-case"),
    ],
)
def test_names(name, errors):
    assert check({"os": {"name": name}, "securityContext": {}, "containers": [container()]}) == errors


def test_another_system_points_at_its_name_and_nothing_else_is_said():
    spec = {"os": {"name": "plan9"}, "hostPID": True, "securityContext": {"windowsOptions": {}}, "containers": []}
    (error,) = operating_system.fields(spec, "spec", context())
    assert error.where == ("spec", "os", "name")


def test_linux_has_no_windows_options():
    options = {"windowsOptions": {}}
    spec = {
        "os": {"name": "linux"},
        "securityContext": options,
        "initContainers": [container(**options)],
        "containers": [{"name": "d"}, container(**options)],
        "ephemeralContainers": [container(**options)],
    }
    assert check(spec) == [
        f"spec.securityContext.windowsOptions: {LINUX}",
        f"spec.initContainers[0].securityContext.windowsOptions: {LINUX}",
        f"spec.containers[1].securityContext.windowsOptions: {LINUX}",
        f"spec.ephemeralContainers[0].securityContext.windowsOptions: {LINUX}",
    ]


ALL = {
    "os": {"name": "windows"},
    "containers": [],
    "hostUsers": True,
    "hostPID": True,
    "hostIPC": True,
    "shareProcessNamespace": False,
    "securityContext": {
        "appArmorProfile": {},
        "seLinuxOptions": {},
        "seccompProfile": {},
        "fsGroup": 0,
        "fsGroupChangePolicy": "Always",
        "sysctls": [{"name": "a.b"}],
        "runAsUser": 0,
        "runAsGroup": 0,
        "supplementalGroups": [],
        "runAsNonRoot": True,
        "supplementalGroupsPolicy": "Merge",
        "seLinuxChangePolicy": "Recursive",
        "windowsOptions": {},
    },
}


@pytest.mark.parametrize(
    "release, fields",
    [
        pytest.param("1.36", operating_system.LINUX_FIELDS_BEFORE_1_37, id="1.36"),
        pytest.param("1.37", operating_system.LINUX_FIELDS, id="1.37"),
    ],
)
def test_windows_has_no_linux_fields(release, fields):
    assert sorted(operating_system.LINUX_FIELDS_BEFORE_1_37) == sorted(operating_system.LINUX_FIELDS)
    assert check(ALL, release) == [f"spec.{field}: {WINDOWS}" for field in fields]


def test_hosts_switches_stand_elsewhere_before_1_37():
    before, now = (check(ALL, release) for release in ("1.36", "1.37"))
    assert before.index(f"spec.hostUsers: {WINDOWS}") == 2
    assert before.index(f"spec.shareProcessNamespace: {WINDOWS}") == 9
    assert now[-4:] == [f"spec.{key}: {WINDOWS}" for key in ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")]


def test_no_kernel_parameters_are_none():
    assert check({"os": {"name": "windows"}, "containers": None, "securityContext": {"sysctls": []}}) == []


def test_windows_containers_have_no_linux_fields():
    security = {
        "appArmorProfile": {},
        "seLinuxOptions": {},
        "seccompProfile": {},
        "capabilities": {},
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": False,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "procMount": "Default",
        "runAsUser": 0,
        "runAsGroup": 0,
        "windowsOptions": {},
    }
    spec = {"os": {"name": "windows"}, "initContainers": [container(runAsUser=1)], "containers": [container(**security)]}
    assert check(spec) == [
        f"spec.initContainers[0].securityContext.runAsUser: {WINDOWS}",
        *(f"spec.containers[0].securityContext.{key}: {WINDOWS}" for key in operating_system.LINUX_CONTAINER_FIELDS),
    ]


# ---- host processes ----------------------------------------------------------------------------------

ALL_OR_NONE = (
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers'
)
NETWORK = "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers"


def process(value):
    return {} if value is None else {"securityContext": {"windowsOptions": {"hostProcess": value}}}


def pod(whole, *each, **fields):
    return process(whole) | {"containers": [{"name": "c"} | process(own) for own in each]} | fields


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param(pod(None, None), [], id="none"),
        pytest.param(pod(None, False), [], id="no"),
        pytest.param(pod(True, None, True, hostNetwork=True), [], id="all"),
        pytest.param(pod(None, True, hostNetwork=True), [], id="of-its-own"),
        pytest.param(pod(None, True), [NETWORK], id="own-network"),
        pytest.param(pod(None, True, None, hostNetwork=True), [ALL_OR_NONE], id="not-all"),
        pytest.param(
            pod(None, True, hostNetwork=True, initContainers=[{"name": "i"}], ephemeralContainers=None),
            [ALL_OR_NONE],
            id="init-containers-count",
        ),
        pytest.param(
            pod(True, None, False),
            [
                "spec.containers[1].securityContext.windowsOptions.hostProcess: Invalid value: false: "
                "pod hostProcess value must be identical if both are specified, was true",
                ALL_OR_NONE,
                NETWORK,
            ],
            id="differs-from-true",
        ),
        pytest.param(
            pod(False, True, hostNetwork=True),
            [
                "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: true: "
                "pod hostProcess value must be identical if both are specified, was false",
            ],
            id="differs-from-false",
        ),
    ],
)
def test_host_processes(spec, errors):
    assert [str(error) for error in operating_system.host_processes(spec, "spec", context())] == errors


def test_host_processes_are_privileged():
    spec = pod(True, None, hostNetwork=True)
    found = operating_system.host_processes(spec, "spec", context(allow_privileged=False))
    assert [str(error) for error in found] == ["spec: Forbidden: hostProcess containers are disallowed by cluster policy"]
