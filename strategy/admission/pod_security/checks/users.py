"""runAsNonRoot and runAsUser (restricted): containers do not run as root."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Place, Pod, Violation, named, setters

_NON_ROOT = ("securityContext", "runAsNonRoot")
_USER = ("securityContext", "runAsUser")


def non_root(pod: Pod) -> Violation | None:
    """Upstream: runAsNonRoot_1_0"""
    of_pod = pod.security.get("runAsNonRoot")
    false = [container for container in pod.containers if container.security.get("runAsNonRoot") is False]
    if of_pod is False or false:
        places: list[Place] = [pod.at(*_NON_ROOT)] if of_pod is False else []
        places += [container.at(*_NON_ROOT) for container in false]
        detail = f"{setters(of_pod is False, false)} must not set securityContext.runAsNonRoot=false"
        return Violation("runAsNonRoot != true", detail, tuple(places))
    missing = [container for container in pod.containers if container.security.get("runAsNonRoot") is None]
    if of_pod or not missing:
        return None
    detail = f"pod or {named(missing)} must set securityContext.runAsNonRoot=true"
    return Violation("runAsNonRoot != true", detail, tuple(container.at(*_NON_ROOT) for container in missing))


def user(pod: Pod) -> Violation | None:
    """Upstream: runAsUser_1_23"""
    of_pod = pod.security.get("runAsUser") == 0
    bad = [container for container in pod.containers if container.security.get("runAsUser") == 0]
    if not of_pod and not bad:
        return None
    places: list[Place] = [pod.at(*_USER)] if of_pod else []
    places += [container.at(*_USER) for container in bad]
    return Violation("runAsUser=0", f"{setters(of_pod, bad)} must not set runAsUser=0", tuple(places))
