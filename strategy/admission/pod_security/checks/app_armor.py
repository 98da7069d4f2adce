"""appArmorProfile (baseline): the profile is the runtime's default or a local one, in fields and in annotations."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Object, Place, Pod, Violation, plural, quoted, setters
from podstrat.strategy.formats import go

_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_FIELD = ("securityContext", "appArmorProfile", "type")
_TYPES = frozenset(("RuntimeDefault", "Localhost"))


def profile(pod: Pod) -> Violation | None:
    """Upstream: appArmorProfile_1_0"""
    is_set = "appArmorProfile" in pod.secured
    of_pod = is_set and _is_forbidden(pod.security)
    bad = [container for container in pod.containers if _is_forbidden(container.security)] if is_set else []
    annotations = sorted(item for item in pod.annotations.items() if item[0].startswith(_ANNOTATION) and not _allows(item[1]))
    if not of_pod and not bad and not annotations:
        return None
    types = {container.security["appArmorProfile"].get("type", "") for container in bad}
    who = [setters(of_pod, bad)] if of_pod or bad else []
    places: list[Place] = [container.at(*_FIELD) for container in bad]
    if of_pod:
        types.add(pod.security["appArmorProfile"].get("type", ""))
        places.insert(0, pod.at(*_FIELD))
    if annotations:
        who.append(plural(len(annotations), "annotation", "annotations"))
        places += [("metadata", "annotations", key) for key, _ in annotations]
    # Upstream quotes an annotation twice: its value as Go text, then the whole.
    values = [*sorted(types), *(f"{key}={go.quote(value)}" for key, value in annotations)]
    reason = plural(len(values), "forbidden AppArmor profile", "forbidden AppArmor profiles")
    return Violation(reason, f"{' and '.join(who)} must not set AppArmor profile type to {quoted(values)}", tuple(places))


def _is_forbidden(security: Object) -> bool:
    profile = security.get("appArmorProfile")
    return profile is not None and profile.get("type") not in _TYPES


def _allows(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")
