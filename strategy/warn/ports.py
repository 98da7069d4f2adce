"""Warnings about ports that clash, or nearly, across all containers of a pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from strategy import gotext
from strategy.context import Pod
from strategy.rules.pod_annotations import CONTAINER_LISTS


class Port(NamedTuple):
    """A port and where it stands."""

    at: str
    host_ip: str
    host_port: int


def each(spec: Pod, at: str) -> Iterator[str]:
    """Upstream: warningsForPodSpecAndMeta, its part about ports"""
    if not _suspicious(spec):
        return
    defined: dict[tuple[int, str], list[Port]] = {}
    named: dict[str, str] = {}
    for kind in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(kind) or ()):
            for j, port in enumerate(container.get("ports") or ()):
                here = Port(f"{at}.{kind}[{i}].ports[{j}]", port.get("hostIP", ""), port.get("hostPort", 0))
                if here.host_ip and not here.host_port:
                    yield f"{here.at}: hostIP set without hostPort: {_printed(port)}"
                others = defined.setdefault((port["containerPort"], port.get("protocol", "")), [])
                for other in others:
                    if clash := _clash(here, other):
                        yield f"{here.at}: {clash} port definition with {other.at}"
                others.append(here)
                yield from _repeated_name(port.get("name", ""), here.at, named)


def _suspicious(spec: Pod) -> bool:
    """Whether two ports have a number or a name in common, or one names an address: nearly no pod has that."""
    numbers: set[int] = set()
    names: set[str] = set()
    for kind in CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            for port in container.get("ports") or ():
                number, name = port["containerPort"], port.get("name", "")
                if number in numbers or name in names or "hostIP" in port:
                    return True
                numbers.add(number)
                if name:
                    names.add(name)
    return False


def _clash(port: Port, other: Port) -> str:
    if (port.host_ip, port.host_port) == (other.host_ip, other.host_port):
        return "duplicate"
    if not port.host_port or not other.host_port:
        return "overlapping"
    if port.host_port == other.host_port and not (port.host_ip and other.host_ip):
        return "dangerously ambiguous"
    return ""


def _repeated_name(name: str, at: str, named: dict[str, str]) -> Iterator[str]:
    if not name:
        return
    first = named.setdefault(name, at)
    if first != at:
        quoted = gotext.quote(name)
        yield f"{at}: duplicate port name {quoted} with {first}, services and probes that select ports by name will use {first}"


def _printed(port: Pod) -> str:
    """The port as Go prints a struct with its field names."""
    shown = {
        "Name": port.get("name", ""),
        "HostPort": port.get("hostPort", 0),
        "ContainerPort": port["containerPort"],
        "Protocol": port.get("protocol", ""),
        "HostIP": port.get("hostIP", ""),
    }
    return "{" + " ".join(f"{name}:{value}" for name, value in shown.items()) + "}"
