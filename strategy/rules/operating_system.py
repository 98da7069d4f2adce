"""Rules by operating system: fields that Linux or Windows does not have, and Windows host processes."""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors

NAMES = ("linux", "windows")
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")

LINUX_FIELDS = (
    *("securityContext.appArmorProfile", "securityContext.seLinuxOptions", "securityContext.seccompProfile"),
    *("securityContext.fsGroup", "securityContext.fsGroupChangePolicy", "securityContext.sysctls"),
    *("securityContext.runAsUser", "securityContext.runAsGroup"),
    *("securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy"),
    "securityContext.seLinuxChangePolicy",
    *("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"),
)
"""Fields of the spec that Windows does not know, in the server's order."""
LINUX_FIELDS_BEFORE_1_37 = (
    *("securityContext.appArmorProfile", "securityContext.seLinuxOptions"),
    *("hostUsers", "hostPID", "hostIPC"),
    *("securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy"),
    *("securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup"),
    *("securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy"),
    "securityContext.seLinuxChangePolicy",
)
LINUX_CONTAINER_FIELDS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
"""The same for the security context of a container."""

NOT_ON_WINDOWS = "cannot be set for a windows pod"
NOT_ON_LINUX = "windows options cannot be set for a linux pod"
ALL_OR_NONE = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
NEEDS_HOST_NETWORK = "hostNetwork must be true if pod contains any hostProcess containers"
NOT_PRIVILEGED = "hostProcess containers are disallowed by cluster policy"


def fields(spec: Pod, at: str, ctx: Context) -> Errors:
    """A pod that says which system it is for has no fields that only the other knows.

    Upstream: validateOS, validateLinux, validateWindows
    """
    name = spec["os"]["name"]
    if not name:
        yield field.required(f"{at}.os.name")
    elif name == "linux":
        yield from _linux(spec, at)
    elif name == "windows":
        yield from _windows(spec, at, ctx)
    else:
        yield field.not_supported(f"{at}.os", name, NAMES, field.place_of(f"{at}.os.name"))


def _linux(spec: Pod, at: str) -> Errors:
    if "windowsOptions" in (spec.get("securityContext") or ()):
        yield field.forbidden(f"{at}.securityContext.windowsOptions", NOT_ON_LINUX)
    for container, here in _containers(spec, at):
        if "windowsOptions" in (container.get("securityContext") or ()):
            yield field.forbidden(f"{here}.securityContext.windowsOptions", NOT_ON_LINUX)


def _windows(spec: Pod, at: str, ctx: Context) -> Errors:
    for path in LINUX_FIELDS if ctx.version >= V1_37 else LINUX_FIELDS_BEFORE_1_37:
        part, _, key = path.rpartition(".")
        holder = (spec.get(part) or {}) if part else spec
        # An empty list of kernel parameters counts as none, but one of groups does not.
        if key in holder and (key != "sysctls" or holder[key]):
            yield field.forbidden(f"{at}.{path}", NOT_ON_WINDOWS)
    for container, here in _containers(spec, at):
        security = container.get("securityContext") or ()
        for key in LINUX_CONTAINER_FIELDS:
            if key in security:
                yield field.forbidden(f"{here}.securityContext.{key}", NOT_ON_WINDOWS)


def host_processes(spec: Pod, at: str, ctx: Context) -> Errors:
    """Containers of Windows that run as processes of the host: all of a pod or none, and on the host's network.

    Upstream: validateWindowsHostProcessPod; it does not ask for the operating system.
    """
    whole = _host_process(spec)
    values = []
    for container, here in _containers(spec, at):
        own = _host_process(container)
        if whole is not None and own is not None and own != whole:
            text = f"pod hostProcess value must be identical if both are specified, was {field.shown(whole)}"
            yield field.invalid(f"{here}.securityContext.windowsOptions.hostProcess", own, text)
        values.append(whole if own is None else own)
    if not any(values):
        return
    if not all(values):
        yield field.invalid(at, "", ALL_OR_NONE)
    if not spec.get("hostNetwork"):
        yield field.invalid(f"{at}.hostNetwork", False, NEEDS_HOST_NETWORK)
    if not ctx.allow_privileged:
        yield field.forbidden(at, NOT_PRIVILEGED)


def speaks_of_windows(spec: Pod) -> bool:
    """Whether the pod or a container has windowsOptions; in most pods none has."""
    if "windowsOptions" in (spec.get("securityContext") or ()):
        return True
    for kind in CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            if "windowsOptions" in (container.get("securityContext") or ()):
                return True
    return False


def _host_process(holder: Pod) -> bool | None:
    """Of the spec, or of a container."""
    options: Pod = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    return options.get("hostProcess")


def _containers(spec: Pod, at: str) -> Iterator[tuple[Pod, str]]:
    for kind in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(kind) or ()):
            yield container, f"{at}.{kind}[{i}]"
