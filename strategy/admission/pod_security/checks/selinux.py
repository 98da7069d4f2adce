"""seLinuxOptions (baseline): only container types, no user and no role of one's own."""

from __future__ import annotations

from collections.abc import Container as Set

from podstrat.strategy.admission.pod_security.violation import Object, Place, Pod, Violation, plural, quoted, setters

_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t"))
_TYPES_1_31 = _TYPES | {"container_engine_t"}


def options(pod: Pod) -> Violation | None:
    """Upstream: seLinuxOptions1_0"""
    return _options(pod, _TYPES)


def options_1_31(pod: Pod) -> Violation | None:
    """Upstream: seLinuxOptions1_31"""
    return _options(pod, _TYPES_1_31)


def _options(pod: Pod, types: Set[str]) -> Violation | None:
    if "seLinuxOptions" not in pod.security and not any("seLinuxOptions" in each.security for each in pod.containers):
        return None
    places: list[Place] = [("spec", "securityContext", "seLinuxOptions", name) for name in _bad(pod.security, types)]
    found = [_of(pod.security)] if places else []
    of_pod = bool(places)
    bad = []
    for container in pod.containers:
        if names := _bad(container.security, types):
            bad.append(container)
            found.append(_of(container.security))
            places += [container.at("securityContext", "seLinuxOptions", name) for name in names]
    if not places:
        return None
    parts = []
    if bad_types := sorted({given["type"] for given in found if given.get("type", "") not in types}):
        parts.append(f"{plural(len(bad_types), 'type', 'types')} {quoted(bad_types)}")
    parts += [f"{name} may not be set" for name in ("user", "role") if any(given.get(name) for given in found)]
    detail = f"{setters(of_pod, bad)} set forbidden securityContext.seLinuxOptions: {'; '.join(parts)}"
    return Violation("seLinuxOptions", detail, tuple(places))


def _bad(security: Object, types: Set[str]) -> list[str]:
    """The names of options that are not allowed."""
    given = _of(security)
    bad = [] if given.get("type", "") in types else ["type"]
    return bad + [name for name in ("user", "role") if given.get(name)]


def _of(security: Object) -> Object:
    return security.get("seLinuxOptions") or {}
