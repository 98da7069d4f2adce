"""privileged, procMount, windowsHostProcess (baseline), allowPrivilegeEscalation and procMount_restricted (restricted)."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Object, Pod, Violation, named, quoted, setters


def privileged(pod: Pod) -> Violation | None:
    """Upstream: privileged_1_0"""
    bad = [container for container in pod.containers if container.security.get("privileged")]
    if not bad:
        return None
    places = tuple(container.at("securityContext", "privileged") for container in bad)
    return Violation("privileged", f"{named(bad)} must not set securityContext.privileged=true", places)


def escalation(pod: Pod) -> Violation | None:
    """Upstream: allowPrivilegeEscalation_1_8"""
    bad = [container for container in pod.containers if container.security.get("allowPrivilegeEscalation") is not False]
    if not bad:
        return None
    places = tuple(container.at("securityContext", "allowPrivilegeEscalation") for container in bad)
    detail = f"{named(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail, places)


def proc_mount(pod: Pod) -> Violation | None:
    """Upstream: procMount_1_0"""
    bad = [container for container in pod.containers if container.security.get("procMount", "Default") != "Default"]
    if not bad:
        return None
    types = sorted({container.security["procMount"] for container in bad})
    places = tuple(container.at("securityContext", "procMount") for container in bad)
    return Violation("procMount", f"{named(bad)} must not set securityContext.procMount to {quoted(types)}", places)


def windows_host_process(pod: Pod) -> Violation | None:
    """Upstream: windowsHostProcess_1_0"""
    of_pod = _host_process(pod.security)
    bad = [container for container in pod.containers if _host_process(container.security)]
    if not of_pod and not bad:
        return None
    field = ("securityContext", "windowsOptions", "hostProcess")
    places = [pod.at(*field)] if of_pod else []
    places += [container.at(*field) for container in bad]
    detail = f"{setters(of_pod, bad)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail, tuple(places))


def _host_process(security: Object) -> bool:
    return bool((security.get("windowsOptions") or {}).get("hostProcess"))
