"""The pod's security context, host namespaces, and sysctls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules import profiles

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
GROUP_CHANGE_POLICIES = ("Always", "OnRootMismatch")
GROUPS_POLICIES = ("Merge", "Strict")
SELINUX_CHANGE_POLICIES = ("MountOption", "Recursive")
MAX_SYSCTL_NAME = 253  # upstream: SysctlMaxLength

_SYSCTL_PART = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SYSCTL_PART}[\./])*{_SYSCTL_PART}"
_IPC_SYSCTLS = {
    "kernel.sem",
    *("kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced"),
    *("kernel.msg", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni"),
}
_SWAPPED = str.maketrans("./", "/.")

BAD_SYSCTL = f"must have at most {MAX_SYSCTL_NAME} characters and match regex ^{_SYSCTL}$"
SHARES_BOTH = "ShareProcessNamespace and HostPID cannot both be enabled"
OWN_USERS = "when `hostUsers` is false"


def context(spec: Pod, at: str, ctx: Context) -> Errors:
    """Users, groups, kernel parameters and profiles of a pod.

    Upstream: validatePodSpecSecurityContext
    """
    security: Pod = spec.get("securityContext") or {}
    here = f"{at}.securityContext"
    shares = spec.get("shareProcessNamespace")
    for key in ("fsGroup", "runAsUser", "runAsGroup"):
        if not 0 <= security.get(key, 0) <= profiles.MAX_ID:
            yield from profiles.user_or_group(security[key], f"{here}.{key}")
    for i, group in enumerate(security.get("supplementalGroups") or ()):
        yield from profiles.user_or_group(group, f"{here}.supplementalGroups[{i}]")
    if shares and ctx.version < V1_37:
        # Inside the server the switch was part of the security context, and its path still said so.
        yield from _shared_processes(spec, f"{here}.shareProcessNamespace", (*field.place_of(at), "shareProcessNamespace"))
    if security.get("sysctls"):
        yield from _sysctls(security["sysctls"], spec, f"{here}.sysctls", ctx)
    if "fsGroupChangePolicy" in security:
        yield from _choice(security, "fsGroupChangePolicy", GROUP_CHANGE_POLICIES, here)
    if "seccompProfile" in security:
        yield from profiles.seccomp_profile(security["seccompProfile"], f"{here}.seccompProfile", ctx)
    if "windowsOptions" in security:
        yield from profiles.windows_options(security["windowsOptions"], f"{here}.windowsOptions")
    if "appArmorProfile" in security:
        yield from profiles.apparmor_profile(security["appArmorProfile"], f"{here}.appArmorProfile")
    if "supplementalGroupsPolicy" in security:
        yield from _choice(security, "supplementalGroupsPolicy", GROUPS_POLICIES, here)
    if security.get("seLinuxChangePolicy", "Recursive") != "Recursive":
        choices = SELINUX_CHANGE_POLICIES if ctx.allows("SELinuxMount") else ("Recursive",)
        yield from _choice(security, "seLinuxChangePolicy", choices, here)
    if shares and ctx.version >= V1_37:
        yield from _shared_processes(spec, f"{at}.shareProcessNamespace")


def _choice(security: dict[str, Any], key: str, choices: tuple[str, ...], at: str) -> Errors:
    if security[key] not in choices:
        yield field.not_supported(f"{at}.{key}", security[key], choices)


def _shared_processes(spec: Pod, path: str, where: field.Place | None = None) -> Errors:
    """Containers that share their processes do not share the host's as well."""
    if spec.get("hostPID"):
        yield field.invalid(path, True, SHARES_BOTH, where)


# ---- kernel parameters -------------------------------------------------------------------------------


def _sysctls(sysctls: Sequence[Pod], spec: Pod, at: str, ctx: Context) -> Errors:
    """A kernel parameter is named once, and is not one of a namespace that the pod shares with its host.

    Upstream: validateSysctls
    """
    names: set[str] = set()
    for i, sysctl in enumerate(sysctls):
        name = sysctl["name"]
        if not name:
            yield field.required(f"{at}[{i}].name")
        elif len(name.encode()) > MAX_SYSCTL_NAME or not re.fullmatch(_SYSCTL, name):
            yield field.invalid(f"{at}[{i}].name", name, BAD_SYSCTL)
        elif name in names:
            yield field.duplicate(f"{at}[{i}].name", name)
        names.add(name)
        clash = _host_namespace(name, spec)
        if clash and not _clash_stored(ctx):
            yield field.invalid(f"{at}[{i}].name", name, f"may not be specified when '{clash}' is true")


def _host_namespace(name: str, spec: Pod) -> str:
    """The field that shares this parameter with the host; "" if none does.

    Upstream: ValidateHostSysctl
    """
    name = _with_dots(name).partition("*")[0]
    if spec.get("hostNetwork") and name.startswith("net."):
        return "hostNetwork"
    if spec.get("hostIPC") and (name in _IPC_SYSCTLS or name.startswith("fs.mqueue.")):
        return "hostIPC"
    return ""


def _with_dots(name: str) -> str:
    """Where a slash comes first, slashes stand for dots and dots for slashes.

    Upstream: NormalizeName
    """
    dot, slash = name.find("."), name.find("/")
    return name.translate(_SWAPPED) if slash >= 0 and (dot < 0 or slash < dot) else name


def _clash_stored(ctx: Context) -> bool:
    """A stored pod that has such a parameter may keep it."""
    spec: Pod = {} if ctx.old is None else ctx.old["spec"]
    stored = (spec.get("securityContext") or {}).get("sysctls") or ()
    return any(_host_namespace(sysctl["name"], spec) for sysctl in stored)


# ---- users -------------------------------------------------------------------------------------------


def own_users(spec: Pod, at: str, ctx: Context) -> Errors:
    """A pod with users of its own shares no namespace with its host and has no block devices.

    Upstream: validateHostUsers; two of its paths have a capital letter.
    """
    if spec.get("hostUsers") is not False:
        return
    if spec.get("hostNetwork") and not ctx.allows("UserNamespacesHostNetworkSupport"):
        yield field.forbidden(f"{at}.hostNetwork", OWN_USERS)
    if spec.get("hostPID"):
        yield field.forbidden(f"{at}.HostPID", OWN_USERS, (*field.place_of(at), "hostPID"))
    if spec.get("hostIPC"):
        yield field.forbidden(f"{at}.HostIPC", OWN_USERS, (*field.place_of(at), "hostIPC"))
    for kind in CONTAINERS:
        for i, container in enumerate(spec.get(kind) or ()):
            if container.get("volumeDevices") and not _devices_stored(ctx):
                yield field.forbidden(f"{at}.{kind}[{i}].volumeDevices", OWN_USERS)


def _devices_stored(ctx: Context) -> bool:
    """Upstream: hasUserNamespacesWithVolumeDevices"""
    spec: Pod = {} if ctx.old is None else ctx.old["spec"]
    return spec.get("hostUsers") is False and any(
        container.get("volumeDevices") for kind in CONTAINERS for container in spec.get(kind) or ()
    )
