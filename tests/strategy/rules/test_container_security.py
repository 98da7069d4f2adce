"""The security context of a container."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import container_security
from tests.strategy.make import context, lines

AT = "spec.containers[0]"
S = f"{AT}.securityContext"
IDS = "must be between 0 and 2147483647, inclusive"


def check(given, spec=None, **fields):
    return lines(container_security.context({"securityContext": given}, AT, spec or {}, context(**fields)))


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param({"privileged": True, "runAsUser": 0, "runAsGroup": 2147483647, "procMount": "Default"}, [], id="ordinary"),
        pytest.param({"runAsUser": -1}, [f"{S}.runAsUser: Invalid value: -1: {IDS}"], id="user"),
        pytest.param({"runAsGroup": 2147483648}, [f"{S}.runAsGroup: Invalid value: 2147483648: {IDS}"], id="group"),
        pytest.param(
            {"procMount": "default"},
            [f'{S}.procMount: Unsupported value: "default": supported values: "Default", "Unmasked"'],
            id="proc-mount",
        ),
        pytest.param(
            {"seccompProfile": {}},
            [f"{S}.seccompProfile.type: Required value: type is required when seccompProfile is set"],
            id="seccomp",
        ),
        pytest.param(
            {"appArmorProfile": {}},
            [f"{S}.appArmorProfile.type: Required value: type is required when appArmorProfile is set"],
            id="apparmor",
        ),
        pytest.param(
            {"windowsOptions": {"runAsUserName": ""}},
            [f'{S}.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string'],
            id="windows",
        ),
        pytest.param({"allowPrivilegeEscalation": False, "capabilities": {"add": ["SYS_ADMIN"]}}, [], id="other-spelling-passes"),
        pytest.param({"allowPrivilegeEscalation": True, "privileged": True}, [], id="escalates"),
        pytest.param({"allowPrivilegeEscalation": False, "privileged": False}, [], id="neither"),
    ],
)
def test_context(given, errors):
    assert check(given) == errors


def test_privileged_is_the_cluster_s_decision():
    given = {"privileged": True}
    assert check(given, allow_privileged=False) == [f"{S}.privileged: Forbidden: disallowed by cluster policy"]
    assert check({"privileged": False}, allow_privileged=False) == []


@pytest.mark.parametrize("host_users, errors", [(False, 0), (True, 1), (None, 1)])
def test_proc_is_unmasked_only_with_users_of_its_own(host_users, errors):
    spec = {} if host_users is None else {"hostUsers": host_users}
    text = f'{S}.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'
    assert check({"procMount": "Unmasked"}, spec) == [text] * errors


def test_a_container_that_must_not_escalate_shows_its_whole_context():
    given = {"allowPrivilegeEscalation": False, "privileged": True, "capabilities": {"add": ["CAP_SYS_ADMIN", "CAP_SYS_ADMIN"]}}
    printed = (
        '{"Capabilities":{"Add":["CAP_SYS_ADMIN","CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":null,'
        '"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,'
        '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}'
    )
    admin = f"{S}: Invalid value: {printed}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
    assert check(given) == [
        f"{S}: Invalid value: {printed}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        admin,
        admin,
    ]
