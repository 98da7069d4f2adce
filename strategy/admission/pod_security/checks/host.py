"""What a pod shares with its node (baseline): namespaces, paths, ports, and hosts that its probes and hooks call."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Container, Object, Place, Pod, Violation, named, plural, quoted

_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_ACTIONS = ("httpGet", "tcpSocket")


def namespaces(pod: Pod) -> Violation | None:
    """Upstream: hostNamespaces_1_0"""
    names = [name for name in _NAMESPACES if pod.spec.get(name)]
    if not names:
        return None
    return Violation("host namespaces", ", ".join(f"{name}=true" for name in names), tuple(("spec", name) for name in names))


def path_volumes(pod: Pod) -> Violation | None:
    """Upstream: hostPathVolumes_1_0"""
    found = {i: volume for i, volume in enumerate(pod.spec.get("volumes") or ()) if volume.get("hostPath") is not None}
    if not found:
        return None
    detail = f"{plural(len(found), 'volume', 'volumes')} {quoted(volume.get('name', '') for volume in found.values())}"
    return Violation("hostPath volumes", detail, tuple(("spec", "volumes", i, "hostPath") for i in found))


def ports(pod: Pod) -> Violation | None:
    """Upstream: hostPorts_1_0"""
    bad: list[Container] = []
    numbers: set[str] = set()
    places: list[Place] = []
    for container in pod.containers:
        used = {i: port["hostPort"] for i, port in enumerate(container.fields.get("ports") or ()) if port.get("hostPort")}
        if used:
            bad.append(container)
            numbers.update(map(str, used.values()))
            places += [container.at("ports", i, "hostPort") for i in used]
    if not bad:
        return None
    words = f"{plural(len(bad), 'uses', 'use')} {plural(len(numbers), 'hostPort', 'hostPorts')}"
    return Violation("hostPort", f"{named(bad)} {words} {', '.join(sorted(numbers))}", tuple(places))


def probes_and_lifecycle(pod: Pod) -> Violation | None:
    """Upstream: hostProbesAndHostLifecycleV1Dot34"""
    names: set[str] = set()
    hosts: set[str] = set()
    places: list[Place] = []
    for container in pod.containers:
        for path, handler in _handlers(container.fields):
            for name in _ACTIONS:
                if name in handler and (host := (handler[name] or {}).get("host")):
                    names.add(container.name)
                    hosts.add(host)
                    places.append(container.at(*path, name, "host"))
    if not names:
        return None
    detail = (
        f"{plural(len(names), 'container', 'containers')} {quoted(sorted(names))} {plural(len(names), 'uses', 'use')} "
        f"{plural(len(hosts), 'probe or lifecycle host', 'probe or lifecycle hosts')} {quoted(sorted(hosts))}"
    )
    return Violation("probe or lifecycle host", detail, tuple(places))


def _handlers(fields: Object) -> list[tuple[tuple[str, ...], Object]]:
    """The probes and hooks of a container."""
    found: list[tuple[tuple[str, ...], Object]] = [((name,), fields[name]) for name in _PROBES if fields.get(name)]
    if lifecycle := fields.get("lifecycle"):
        found += [(("lifecycle", name), lifecycle[name]) for name in _HOOKS if lifecycle.get(name)]
    return found
