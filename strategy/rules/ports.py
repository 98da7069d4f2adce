"""Container ports: names, numbers, protocols, and host port conflicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

PROTOCOLS = ("SCTP", "TCP", "UDP")
SAME_PORT = "must match `containerPort` when `hostNetwork` is true"


def each(container: dict[str, Any], at: str) -> Errors:
    """Each port has a number from 1 to 65535, a known protocol, and a name that is unique in the container.

    Upstream: validateContainerPorts
    """
    names: set[str] = set()
    for i, port in enumerate(container["ports"]):
        name = port.get("name")
        if name:
            if faults := validation.port_name(name):
                yield from validation.each(f"{at}.ports[{i}].name", name, faults)
            elif name in names:
                yield field.duplicate(f"{at}.ports[{i}].name", name)
            names.add(name)
        number = port["containerPort"]
        # 0 counts as absent: the Go field is an int, not a pointer.
        if number == 0:
            yield field.required(f"{at}.ports[{i}].containerPort")
        elif not 1 <= number <= 65535:
            yield field.invalid(f"{at}.ports[{i}].containerPort", number, validation.BETWEEN_PORTS)
        if "hostPort" in port and not 0 <= port["hostPort"] <= 65535:
            yield field.invalid(f"{at}.ports[{i}].hostPort", port["hostPort"], validation.BETWEEN_PORTS)
        protocol = port.get("protocol")
        if not protocol:
            yield field.required(f"{at}.ports[{i}].protocol")
        elif protocol not in PROTOCOLS:
            yield field.not_supported(f"{at}.ports[{i}].protocol", protocol, PROTOCOLS)


def is_plain(port: int | str) -> bool:
    """Whether nothing is wrong with a number or name of a port."""
    return not validation.port_name(port) if isinstance(port, str) else 1 <= port <= 65535


def number_or_name(port: int | str, path: str) -> Errors:
    """A port of a probe or handler is a number from 1 to 65535 or a port name; the name need not exist.

    Upstream: ValidatePortNumOrName
    """
    if isinstance(port, str):
        if faults := validation.port_name(port):
            yield from validation.each(path, port, faults)
    elif not 1 <= port <= 65535:
        yield field.invalid(path, port, validation.BETWEEN_PORTS)


def conflicts(containers: Iterable[dict[str, Any]], at: str) -> Errors:
    """Containers that run at the same time do not claim the same host port.

    Upstream: checkHostPortConflicts
    """
    ports: set[str] = set()
    for i, container in enumerate(containers):
        for j, port in enumerate(container.get("ports") or ()):
            if "hostPort" in port:
                claim = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
                if claim in ports:
                    yield field.duplicate(f"{at}[{i}].ports[{j}].hostPort", claim)
                ports.add(claim)


def conflicts_inside(container: dict[str, Any], at: str, index: int) -> Errors:
    """One init container does not claim a host port twice; init containers run one after the other.

    Upstream: checkHostPortConflicts with a list of one container, which is why the path always says ``[0]``.
    """
    for error in conflicts((container,), at):
        yield error._replace(place=field.place_of(error.field.replace(f"{at}[0]", f"{at}[{index}]", 1)))


def host_network(spec: dict[str, Any], at: str, in_template: bool = False) -> Errors:
    """On the host network, hostPort equals containerPort; a template may leave it open, as the pods made from it get it.

    Upstream: validateHostNetwork; it looks at regular containers only.
    """
    if not spec.get("hostNetwork"):
        return
    for i, container in enumerate(spec["containers"] or ()):
        for j, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort", 0)
            if host != port.get("containerPort", 0) and (host or not in_template):
                yield field.invalid(f"{at}.containers[{i}].ports[{j}].hostPort", host, SAME_PORT)
