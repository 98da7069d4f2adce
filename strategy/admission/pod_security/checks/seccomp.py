"""seccompProfile_baseline and seccompProfile_restricted: system calls are filtered by the runtime's or a local profile."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import (
    Container,
    Object,
    Place,
    Pod,
    Violation,
    named,
    plural,
    quoted,
    setters,
)
from podstrat.strategy.formats import go

_POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"
_TYPES = frozenset(("RuntimeDefault", "Localhost"))
_FIELD = ("securityContext", "seccompProfile", "type")


def forbidden_annotations(pod: Pod) -> Violation | None:
    """Before 1.19 annotations set the profile.

    Upstream: seccompProfileBaseline_1_0
    """
    given = pod.annotations
    keys = {_POD_ANNOTATION, *(_CONTAINER_ANNOTATION + container.name for container in pod.containers)}
    bad = sorted(key for key in keys if key in given and not _allows(given[key]))
    if not bad:
        return None
    shown = ", ".join(f"{key}={go.quote(given[key])}" for key in bad)
    places = tuple(("metadata", "annotations", key) for key in bad)
    return Violation("seccompProfile", f"forbidden {plural(len(bad), 'annotation', 'annotations')} {shown}", places)


def baseline(pod: Pod) -> Violation | None:
    """No profile is switched off.

    Upstream: seccompProfileBaseline_1_19
    """
    return _forbidden(pod)


def restricted(pod: Pod) -> Violation | None:
    """Every container has a profile, of its own or the pod's.

    Upstream: seccompProfileRestricted_1_19
    """
    if violation := _forbidden(pod):
        return violation
    if _type(pod.security) is not None:
        return None
    bad = [container for container in pod.containers if _type(container.security) is None]
    if not bad:
        return None
    detail = f'pod or {named(bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", detail, tuple(container.at(*_FIELD) for container in bad))


def _forbidden(pod: Pod) -> Violation | None:
    if "seccompProfile" not in pod.secured:
        return None
    of_pod = _type(pod.security)
    bad_pod = of_pod is not None and of_pod not in _TYPES
    bad = [container for container in pod.containers if _is_forbidden(container)]
    if not bad_pod and not bad:
        return None
    types = {_type(container.security) or "" for container in bad} | ({of_pod or ""} if bad_pod else set())
    places: list[Place] = [pod.at(*_FIELD)] if bad_pod else []
    places += [container.at(*_FIELD) for container in bad]
    detail = f"{setters(bad_pod, bad)} must not set securityContext.seccompProfile.type to {quoted(sorted(types))}"
    return Violation("seccompProfile", detail, tuple(places))


def _is_forbidden(container: Container) -> bool:
    found = _type(container.security)
    return found is not None and found not in _TYPES


def _type(security: Object) -> str | None:
    """The type of the profile; None if there is none."""
    profile = security.get("seccompProfile")
    return None if profile is None else profile.get("type", "")


def _allows(value: str) -> bool:
    return value in ("runtime/default", "docker/default") or value.startswith("localhost/")
