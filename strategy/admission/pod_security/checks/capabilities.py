"""capabilities_baseline and capabilities_restricted: which Linux capabilities a container may add and must drop."""

from __future__ import annotations

from collections.abc import Container as Set

from podstrat.strategy.admission.pod_security.violation import Container, Object, Place, Pod, Violation, named, quoted

_DEFAULT = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
_MAY_ADD = frozenset(("NET_BIND_SERVICE",))


def baseline(pod: Pod) -> Violation | None:
    """Nothing is added to the capabilities that container runtimes grant by default.

    Upstream: capabilitiesBaseline_1_0
    """
    detail, places = _added(pod, _DEFAULT)
    return Violation("non-default capabilities", detail, places) if detail else None


def restricted(pod: Pod) -> Violation | None:
    """All capabilities are dropped, and only NET_BIND_SERVICE is added.

    Upstream: capabilitiesRestricted_1_22
    """
    parts: list[str] = []
    places: tuple[Place, ...] = ()
    if missing := [container for container in pod.containers if "ALL" not in (_of(container).get("drop") or ())]:
        parts.append(f'{named(missing)} must set securityContext.capabilities.drop=["ALL"]')
        places = tuple(container.at("securityContext", "capabilities", "drop") for container in missing)
    detail, more = _added(pod, _MAY_ADD)
    if detail:
        parts.append(detail)
    return Violation("unrestricted capabilities", "; ".join(parts), (*places, *more)) if parts else None


def _added(pod: Pod, allowed: Set[str]) -> tuple[str, tuple[Place, ...]]:
    """What is said about capabilities that are added and not allowed, and where they stand."""
    bad: list[Container] = []
    names: set[str] = set()
    places: list[Place] = []
    for container in pod.containers:
        given = _of(container).get("add")
        if given and (added := [(i, name) for i, name in enumerate(given) if name not in allowed]):
            bad.append(container)
            names.update(name for _, name in added)
            places += [container.at("securityContext", "capabilities", "add", i) for i, _ in added]
    if not bad:
        return "", ()
    return f"{named(bad)} must not include {quoted(sorted(names))} in securityContext.capabilities.add", tuple(places)


def _of(container: Container) -> Object:
    return container.security.get("capabilities") or {}
