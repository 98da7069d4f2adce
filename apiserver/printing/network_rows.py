"""The columns and cells of kinds about networks: endpoints, ingresses, addresses, network policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing.cells import AGE, NAME, NONE, UNSET, Cells, Column, Object, age, name
from podstrat.strategy.rules import label_selectors

_MOST: Final = 3
"""How many addresses, ports or hosts a cell shows."""


def _some(texts: Iterable[str], empty: str) -> str:
    """The first of some texts, and how many more there are.

    Upstream: listWithMoreString
    """
    every = list(texts)
    text = ",".join(every[:_MOST])
    return f"{text} + {len(every) - _MOST} more..." if len(every) > _MOST else text or empty


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _points(obj: Object) -> Iterator[str]:
    for subset in obj.get("subsets") or ():
        addresses = subset.get("addresses") or ()
        if not subset.get("ports"):
            yield from (each.get("ip", "") for each in addresses)
        for port in subset.get("ports") or ():
            for each in addresses:
                host = f"[{each['ip']}]" if ":" in each.get("ip", "") else each.get("ip", "")
                yield f"{host}:{port.get('port', 0)}"


def _endpoints(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printEndpoints"""
    return [name(obj), _some(_points(obj), NONE), age(obj, now)]


def _slice(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printEndpointSlice"""
    ports = (str(each.get("port") or each.get("name") or "*") for each in obj.get("ports") or ())
    addresses = (address for each in obj.get("endpoints") or () for address in each.get("addresses") or ())
    return [name(obj), obj.get("addressType", ""), _some(ports, UNSET), _some(addresses, UNSET), age(obj, now)]


def _ingress(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printIngress"""
    spec = _spec(obj)
    hosts = (each["host"] for each in spec.get("rules") or () if each.get("host"))
    points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    addresses = sorted({text for each in points if (text := each.get("ip") or each.get("hostname"))})
    ports = "80, 443" if spec.get("tls") else "80"
    return [name(obj), spec.get("ingressClassName") or NONE, _some(hosts, "*"), ",".join(addresses), ports, age(obj, now)]


def _ingress_class(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printIngressClass"""
    ref, text = _spec(obj).get("parameters"), NONE
    if ref:
        group = f".{ref['apiGroup']}" if ref.get("apiGroup") else ""
        text = f"{ref.get('kind', '')}{group}/{ref.get('name', '')}"
    return [name(obj), _spec(obj).get("controller", ""), text, age(obj, now)]


def _address(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printIPAddress"""
    ref = _spec(obj).get("parentRef")
    if not ref:
        return [name(obj), NONE]
    resource = f"{ref.get('resource', '')}.{ref['group']}" if ref.get("group") else ref.get("resource", "")
    return [name(obj), "/".join(part for part in (resource, ref.get("namespace"), ref.get("name")) if part)]


def _network(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printServiceCIDR"""
    return [name(obj), ",".join(_spec(obj).get("cidrs") or ()), age(obj, now)]


def _policy(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printNetworkPolicy"""
    return [name(obj), label_selectors.text(_spec(obj).get("podSelector")) or NONE, age(obj, now)]


KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "Endpoints": ((NAME, Column("Endpoints", "Addresses and ports behind the Service."), AGE), _endpoints),
    "EndpointSlice": (
        (
            NAME,
            Column("AddressType", "Whether the addresses are of IPv4, of IPv6 or names."),
            Column("Ports", "The ports of all its endpoints."),
            Column("Endpoints", "The addresses of its endpoints."),
            AGE,
        ),
        _slice,
    ),
    "Ingress": (
        (
            NAME,
            Column("Class", "The class of the ingress."),
            Column("Hosts", "The hosts that it has rules for."),
            Column("Address", "Where it can be reached."),
            Column("Ports", "The ports of its hosts."),
            AGE,
        ),
        _ingress,
    ),
    "IngressClass": (
        (
            NAME,
            Column("Controller", "The controller that implements the class."),
            Column("Parameters", "The object with the parameters of the controller."),
            AGE,
        ),
        _ingress_class,
    ),
    "IPAddress": ((NAME, Column("ParentRef", "The object that holds the address.")), _address),
    "ServiceCIDR": ((NAME, Column("CIDRs", "The networks, in CIDR form."), AGE), _network),
    "NetworkPolicy": ((NAME, Column("Pod-Selector", "The labels of the pods that it is about."), AGE), _policy),
}
