"""The columns and cells of Services."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing.cells import AGE, NAME, NONE, Cells, Column, Object, age, name


def _service(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printService"""
    spec = obj.get("spec") or {}
    addresses = spec.get("clusterIPs") or [NONE]
    ports = ",".join(map(_port, spec.get("ports") or ())) or NONE
    selector = ",".join(f"{key}={value}" for key, value in sorted((spec.get("selector") or {}).items())) or NONE
    return [name(obj), spec.get("type", ""), addresses[0], _external(obj, spec), ports, age(obj, now), selector]


def _port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node}/{port.get('protocol', '')}"


def _external(obj: Object, spec: Object) -> str:
    """Upstream: getServiceExternalIP"""
    kind, addresses = spec.get("type"), spec.get("externalIPs") or []
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
        names = {each.get("ip") or each.get("hostname") for each in points}
        return ",".join([*sorted(filter(None, names)), *addresses]) or "<pending>"
    return ",".join(addresses) or NONE if kind in ("ClusterIP", "NodePort") else "<unknown>"


KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "Service": (
        (
            NAME,
            Column("Type", "How the service is exposed."),
            Column("Cluster-IP", "The first address of the service in the cluster."),
            Column("External-IP", "Where the service can be reached from outside."),
            Column("Port(s)", "The ports of the service, and those of the nodes that lead to them."),
            AGE,
            Column("Selector", "The labels of the pods behind the service.", priority=1),
        ),
        _service,
    ),
}
