"""The security context of a container."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.rules import profiles

PROC_MOUNTS = ("Default", "Unmasked")

NOT_PRIVILEGED = "disallowed by cluster policy"
NEEDS_OWN_USERS = "`hostUsers` must be false to use `Unmasked`"
ESCALATES_PRIVILEGED = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
ESCALATES_BY_ADMIN = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"


def context(container: dict[str, Any], at: str, spec: dict[str, Any], ctx: Context) -> Errors:
    """Users, groups, /proc, privileges and profiles of a container go together.

    Upstream: ValidateSecurityContext
    """
    security = container["securityContext"]
    here = f"{at}.securityContext"
    if security.get("privileged") and not ctx.allow_privileged:
        yield field.forbidden(f"{here}.privileged", NOT_PRIVILEGED)
    if "runAsUser" in security:
        yield from profiles.user_or_group(security["runAsUser"], f"{here}.runAsUser")
    if "runAsGroup" in security:
        yield from profiles.user_or_group(security["runAsGroup"], f"{here}.runAsGroup")
    if "procMount" in security:
        yield from _proc_mount(security["procMount"], f"{here}.procMount", spec)
    if "seccompProfile" in security:
        yield from profiles.seccomp_profile(security["seccompProfile"], f"{here}.seccompProfile", ctx)
    if security.get("allowPrivilegeEscalation") is False and (
        "privileged" in security or "add" in (security.get("capabilities") or ())
    ):
        yield from _no_escalation(security, here, ctx)
    if "windowsOptions" in security:
        yield from profiles.windows_options(security["windowsOptions"], f"{here}.windowsOptions")
    if "appArmorProfile" in security:
        yield from profiles.apparmor_profile(security["appArmorProfile"], f"{here}.appArmorProfile")


def _proc_mount(kind: str, path: str, spec: dict[str, Any]) -> Errors:
    """/proc is unmasked only where the pod has users of its own.

    Upstream: ValidateProcMountType
    """
    if kind not in PROC_MOUNTS:
        yield field.not_supported(path, kind, PROC_MOUNTS)
    elif kind == "Unmasked" and spec.get("hostUsers") is not False:
        yield field.invalid(path, kind, NEEDS_OWN_USERS, show=go.to_json(kind))


def _no_escalation(security: dict[str, Any], path: str, ctx: Context) -> Errors:
    """A container that must not gain privileges does not already have them all; only one spelling of the capability counts."""
    if security.get("privileged"):
        yield field.invalid(path, security, ESCALATES_PRIVILEGED, show=internal.text("SecurityContext", security, ctx.version))
    for capability in (security.get("capabilities") or {}).get("add") or ():
        if capability == "CAP_SYS_ADMIN":
            yield field.invalid(path, security, ESCALATES_BY_ADMIN, show=internal.text("SecurityContext", security, ctx.version))
