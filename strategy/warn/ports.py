"""Warnings about duplicate and conflicting ports across all containers of a pod."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod
from podstrat.strategy.formats import go
from podstrat.strategy.rules.pod_annotations import CONTAINER_LISTS


class Port(NamedTuple):
    """A port, its number among those before it, and where it stands."""

    number: int
    at: str
    host_ip: str
    host_port: int


def each(spec: Pod, at: str) -> Iterator[str]:
    """Upstream: warningsForPodSpecAndMeta, its part about ports"""
    if not _suspicious(spec):
        return
    defined: dict[tuple[int, str], _Alike] = {}
    places: dict[str, str] = {}
    for kind in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(kind) or ()):
            for j, port in enumerate(container.get("ports") or ()):
                alike = defined.setdefault((port["containerPort"], port.get("protocol", "")), _Alike())
                place = f"{at}.{kind}[{i}].ports[{j}]"
                here = Port(len(alike.all), place, port.get("hostIP", ""), port.get("hostPort", 0))
                if here.host_ip and not here.host_port:
                    yield f"{here.at}: hostIP set without hostPort: {_printed(port)}"
                for other in alike.clashing(here):
                    yield f"{here.at}: {_clash(here, other)} port definition with {other.at}"
                alike.add(here)
                yield from _repeated_name(port.get("name", ""), here.at, places)


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


class _Alike:
    """Ports of one number and protocol, by what they claim of the host: those that clash with another are found at once."""

    def __init__(self) -> None:
        self.all: list[Port] = []
        self._by_port: defaultdict[int, list[Port]] = defaultdict(list)
        self._by_address: defaultdict[tuple[int, str], list[Port]] = defaultdict(list)

    def add(self, port: Port) -> None:
        self.all.append(port)
        self._by_port[port.host_port].append(port)
        self._by_address[port.host_port, port.host_ip].append(port)

    def clashing(self, port: Port) -> Iterable[Port]:
        """In the order in which they were added: all, if the port is on no host port; else those on none or the same one."""
        if not port.host_port:
            return self.all
        from heapq import merge  # here, since nearly no pod comes so far

        free = self._by_port.get(0, ())
        if not port.host_ip:
            return merge(free, self._by_port.get(port.host_port, ()))
        same = (self._by_address.get((port.host_port, ip), ()) for ip in ("", port.host_ip))
        return merge(free, *same)


def _clash(port: Port, other: Port) -> str:
    if (port.host_ip, port.host_port) == (other.host_ip, other.host_port):
        return "duplicate"
    return "dangerously ambiguous" if port.host_port and other.host_port else "overlapping"


def _repeated_name(name: str, at: str, places: dict[str, str]) -> Iterator[str]:
    if not name:
        return
    first = places.setdefault(name, at)
    if first != at:
        quoted = go.quote(name)
        yield f"{at}: duplicate port name {quoted} with {first}, services and probes that select ports by name will use {first}"


def _printed(port: Pod) -> str:
    """The port as Go prints a struct with its field names."""
    fields = {
        "Name": port.get("name", ""),
        "HostPort": port.get("hostPort", 0),
        "ContainerPort": port["containerPort"],
        "Protocol": port.get("protocol", ""),
        "HostIP": port.get("hostIP", ""),
    }
    return "{" + " ".join(f"{name}:{value}" for name, value in fields.items()) + "}"
