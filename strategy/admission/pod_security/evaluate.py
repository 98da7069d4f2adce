"""The table of checks by level and version, and what they say of a pod together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from podstrat.strategy.admission.pod_security import levels
from podstrat.strategy.admission.pod_security.checks import (
    app_armor,
    capabilities,
    host,
    privileges,
    seccomp,
    selinux,
    sysctls,
    users,
    volumes,
)
from podstrat.strategy.admission.pod_security.levels import LevelVersion
from podstrat.strategy.admission.pod_security.violation import Pod, Violation

Function = Callable[[Pod], Violation | None]
Version = tuple[int, int]
Found = dict[Function, Violation]
"""By the check that found it."""

USER_NAMESPACES = "UserNamespacesPodSecurityStandards"
"""1.34's gate of what later releases do from version 1.35 of the standards on: less is asked of pods with user namespaces."""


class Check(NamedTuple):
    """A check: what it does from which minor version of the standards on."""

    name: str
    level: str
    versions: tuple[tuple[int, Function], ...]
    replaces: str = ""
    """The check of the laxer level that need not be made as well."""
    about: str = ""
    """The only field of securityContexts that it looks at: where none sets it there is nothing to check."""

    def function(self, minor: int) -> Function | None:
        return next((function for since, function in reversed(self.versions) if since <= minor), None)


def _linux(check: Function) -> Function:
    """Windows has no such feature; that is known from ``spec.os`` alone."""

    def checked(pod: Pod) -> Violation | None:
        return None if (pod.spec.get("os") or {}).get("name") == "windows" else check(pod)

    return checked


def _relaxed(check: Function) -> Function:
    """Root in a user namespace of the pod's own is not root on the node."""

    def checked(pod: Pod) -> Violation | None:
        return None if pod.spec.get("hostUsers") is False else check(pod)

    return checked


_ESCALATION = privileges.escalation
_CAPABILITIES = capabilities.restricted
_SYSCTLS = sysctls.sysctls

CHECKS = (  # each level sorted by name: the order in which the server tells what fails
    Check("appArmorProfile", levels.BASELINE, ((0, app_armor.profile),)),
    Check("capabilities_baseline", levels.BASELINE, ((0, capabilities.baseline),)),
    Check("hostNamespaces", levels.BASELINE, ((0, host.namespaces),)),
    Check("hostPathVolumes", levels.BASELINE, ((0, host.path_volumes),)),
    Check("hostPorts", levels.BASELINE, ((0, host.ports),)),
    Check("hostProbesAndHostLifecycle", levels.BASELINE, ((34, host.probes_and_lifecycle),)),
    Check("privileged", levels.BASELINE, ((0, privileges.privileged),), about="privileged"),
    Check("procMount", levels.BASELINE, ((0, privileges.proc_mount), (35, _relaxed(privileges.proc_mount))), about="procMount"),
    Check("seLinuxOptions", levels.BASELINE, ((0, selinux.options), (31, selinux.options_1_31)), about="seLinuxOptions"),
    Check("seccompProfile_baseline", levels.BASELINE, ((0, seccomp.forbidden_annotations), (19, seccomp.baseline))),
    Check(
        "sysctls",
        levels.BASELINE,
        (
            (0, _SYSCTLS),
            (27, partial(_SYSCTLS, allowed=sysctls.ALLOWED_1_27)),
            (29, partial(_SYSCTLS, allowed=sysctls.ALLOWED_1_29)),
            (32, partial(_SYSCTLS, allowed=sysctls.ALLOWED_1_32)),
            (37, partial(_SYSCTLS, allowed=sysctls.ALLOWED_1_37)),
        ),
        about="sysctls",
    ),
    Check("windowsHostProcess", levels.BASELINE, ((0, privileges.windows_host_process),), about="windowsOptions"),
    Check("allowPrivilegeEscalation", levels.RESTRICTED, ((8, _ESCALATION), (25, _linux(_ESCALATION)))),
    Check(
        "capabilities_restricted",
        levels.RESTRICTED,
        ((22, _CAPABILITIES), (25, _linux(_CAPABILITIES))),
        replaces="capabilities_baseline",
    ),
    Check("procMount_restricted", levels.RESTRICTED, ((35, privileges.proc_mount),), replaces="procMount", about="procMount"),
    Check("restrictedVolumes", levels.RESTRICTED, ((0, volumes.types),), replaces="hostPathVolumes"),
    Check("runAsNonRoot", levels.RESTRICTED, ((0, users.non_root), (35, _relaxed(users.non_root)))),
    Check("runAsUser", levels.RESTRICTED, ((23, users.user), (35, _relaxed(users.user))), about="runAsUser"),
    Check(
        "seccompProfile_restricted",
        levels.RESTRICTED,
        ((19, seccomp.restricted), (25, _linux(seccomp.restricted))),
        replaces="seccompProfile_baseline",
    ),
)

RELAXABLE = frozenset(("procMount", "runAsNonRoot", "runAsUser"))
"""What USER_NAMESPACES relaxes in every version of the standards."""

_NEWEST = {(1, 34): 34, (1, 35): 35, (1, 36): 35, (1, 37): 37}
"""By release: the newest version in which one of its checks changed. Later ones, and the latest, are judged as that."""


def newest(release: Version) -> int:
    return _NEWEST[release]


class Step(NamedTuple):
    """A check as a version of the standards has it."""

    about: str
    function: Function


@lru_cache(maxsize=256)
def steps(wanted: LevelVersion, release: Version, user_namespaces: bool = False) -> tuple[Step, ...]:
    """The checks of a level and version as a release knows them, in order.

    Upstream: checkRegistry, populate
    """
    if wanted.level == levels.PRIVILEGED:
        return ()
    last = newest(release)
    minor = last if wanted.minor == levels.LATEST else min(wanted.minor, last)
    known = [check for check in CHECKS if not levels.is_stricter(check.level, wanted.level)]
    made = [(check, function) for check in known if (function := check.function(minor)) is not None]
    replaced = {check.replaces for check, _ in made}
    relaxes = RELAXABLE if user_namespaces else frozenset()
    return tuple(
        Step(check.about, _relaxed(function) if check.name in relaxes else function)
        for check, function in made
        if check.name not in replaced
    )


class Plan(NamedTuple):
    """The checks of several levels and versions, each once."""

    always: tuple[Function, ...]
    about: dict[str, tuple[Function, ...]]
    """Those that look at one field of securityContexts only, by that field."""


@lru_cache(maxsize=256)
def plan(levels: tuple[LevelVersion, ...], release: Version, user_namespaces: bool) -> Plan:
    every = dict.fromkeys(step for wanted in levels for step in steps(wanted, release, user_namespaces))
    fields = dict.fromkeys(step.about for step in every if step.about)
    about = {field: tuple(step.function for step in every if step.about == field) for field in fields}
    return Plan(tuple(step.function for step in every if not step.about), about)


def found(planned: Plan, pod: Pod) -> Found:
    """What the checks of a plan find in a pod."""
    violations = {check: violation for check in planned.always if (violation := check(pod)) is not None}
    for field in planned.about.keys() & pod.secured:
        violations |= {check: violation for check in planned.about[field] if (violation := check(pod)) is not None}
    return violations


def violations(wanted: LevelVersion, release: Version, pod: Pod, user_namespaces: bool = False) -> list[Violation]:
    """What a pod violates, in the server's order.

    Upstream: EvaluatePod
    """
    return of_level(found(plan((wanted,), release, user_namespaces), pod), wanted, release, user_namespaces)


def of_level(violations: Found, wanted: LevelVersion, release: Version, user_namespaces: bool = False) -> list[Violation]:
    """Those of the violations that a level and version know, in the server's order."""
    if not violations:
        return []
    return [violations[step.function] for step in steps(wanted, release, user_namespaces) if step.function in violations]


def reasons(found: list[Violation]) -> str:
    """Upstream: ForbiddenReason"""
    return ", ".join(violation.reason for violation in found)


def details(found: list[Violation]) -> str:
    """Upstream: ForbiddenDetail"""
    return ", ".join(map(str, found))
