"""Addresses and node ports of a Service: which families it has, what it is given, and what of that it holds.

Upstream: registry/core/service/storage/alloc.go
"""

from __future__ import annotations

from podstrat.strategy import allocation, errors, field, options
from podstrat.strategy.allocation import IPV4, IPV6, Allocation
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import FieldError
from podstrat.strategy.formats import go, validation
from podstrat.strategy.ranges import DEFAULT
from podstrat.strategy.request import Request
from podstrat.strategy.rules import service_addresses, services
from podstrat.strategy.rules.service_addresses import NONE, first_place, is_headless

SINGLE, PREFER, REQUIRE = "SingleStack", "PreferDualStack", "RequireDualStack"
OTHER = {IPV4: IPV6, IPV6: IPV4}


def allocate(obj: Pod, old: Pod | None, request: Request, ctx: Context) -> list[FieldError]:
    """Gives a Service what it needs; errors if it cannot have what it asks for."""
    spec, stored = obj["spec"], None if old is None else old["spec"]
    uid = request.uid if old is None else old["metadata"].get("uid", "")
    allocated = Allocation(request.ranges or DEFAULT, uid, options.is_dry_run(request))
    name = obj["metadata"].get("name", "")
    faults = _families(spec, stored, allocated, ctx) or _addresses(spec, stored, allocated, name)
    if faults:
        return faults
    if stored is None:
        return _new_node_ports(spec, allocated)
    return _changed_node_ports(spec, stored, allocated)


def claims(obj: Pod) -> frozenset[str]:
    """What a Service holds: its addresses and ports, as texts."""
    spec = obj["spec"]
    names = set(map(str, node_ports(spec)))
    if services.needs_health_check(spec) and spec.get("healthCheckNodePort"):
        names.add(str(spec["healthCheckNodePort"]))
    if spec.get("type") != "ExternalName" and not is_headless(spec):
        names |= {str(validation.parse_ip(text) or text) for text in spec.get("clusterIPs") or ()}
    return frozenset(names)


def needs_node_ports(spec: Pod) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def node_ports(spec: Pod) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


# ---- families --------------------------------------------------------------------------------------


def _families(spec: Pod, old: Pod | None, allocated: Allocation, ctx: Context) -> list[FieldError]:
    """ipFamilies and ipFamilyPolicy, as far as they follow from the rest and from the cluster.

    Upstream: initIPFamilyFields
    """
    if spec["type"] == "ExternalName" or _prefers_as_before(spec, old):
        return []
    _default_policy(spec, old)
    faults = list(service_addresses.related(spec, old, ctx))
    if faults:
        return faults
    faults = [*_released(spec, old), *_too_many_for_single(spec), *_inferred(spec, allocated)]
    if faults:
        return faults
    if spec.get("clusterIP") == NONE and not spec.get("selector"):
        # Endpoints that somebody else writes may be of any family.
        families = spec.get("ipFamilies") or [next(iter(allocated.networks))]
        _set_families(spec, families, spec["ipFamilyPolicy"] != SINGLE)
        return []
    faults = _not_configured(spec, allocated)
    if not faults:
        families = spec.get("ipFamilies") or [next(iter(allocated.networks))]
        _set_families(spec, families, spec["ipFamilyPolicy"] != SINGLE and len(allocated.networks) == 2)
    return faults


def default_families(spec: Pod) -> None:
    """What a Service has that was stored before it could have two families.

    Upstream: REST.defaultOnReadIPFamilies
    """
    if spec["type"] == "ExternalName" or (spec.get("ipFamilies") and spec.get("ipFamilyPolicy")):
        return
    families = [allocation.family_of(address) for text in spec.get("clusterIPs") or () if (address := validation.parse_ip(text))]
    if spec.get("clusterIP") == NONE:
        families = [IPV4] if spec.get("selector") else [IPV4, IPV6]
    if families:
        spec["ipFamilies"] = families
        spec["ipFamilyPolicy"] = SINGLE if len(families) == 1 else REQUIRE


def _prefers_as_before(spec: Pod, old: Pod | None) -> bool:
    """A Service that prefers two stacks is not changed when the cluster gets a second one.

    Upstream: isMatchingPreferDualStackClusterIPFields
    """
    if old is None or spec.get("ipFamilyPolicy") != PREFER or old.get("ipFamilyPolicy", PREFER) != PREFER:
        return False
    if spec["type"] != old["type"] or spec["type"] not in ("ClusterIP", "NodePort", "LoadBalancer"):
        return False
    return all((spec.get(key) or []) == (old.get(key) or []) for key in ("clusterIPs", "ipFamilies"))


def _default_policy(spec: Pod, old: Pod | None) -> None:
    if spec.get("ipFamilyPolicy") is not None:
        return
    if old is not None and old.get("ipFamilyPolicy") is not None:
        spec["ipFamilyPolicy"] = old["ipFamilyPolicy"]
    else:
        spec["ipFamilyPolicy"] = REQUIRE if spec.get("clusterIP") == NONE and not spec.get("selector") else SINGLE


def _released(spec: Pod, old: Pod | None) -> list[FieldError]:
    """SingleStack takes the second address and family away; nothing else does."""
    if old is None:
        return []
    faults = []
    for key, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        new, stored = spec.get(key) or [], old.get(key) or []
        if spec["ipFamilyPolicy"] == SINGLE:
            if new == stored and len(new) > 1:
                spec[key] = new[:1]
        elif 0 < len(new) < len(stored):
            faults.append(_policy(spec, f"must be 'SingleStack' to release the secondary {what}"))
    return faults


def _policy(spec: Pod, text: str) -> FieldError:
    return field.invalid("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], text)


def _too_many_for_single(spec: Pod) -> list[FieldError]:
    if spec["ipFamilyPolicy"] != SINGLE:
        return []
    fields = (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families"))
    text = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
    return [_policy(spec, text.format(what)) for key, what in fields if len(spec.get(key) or ()) == 2]


def _inferred(spec: Pod, allocated: Allocation) -> list[FieldError]:
    """Families that are not said follow from the addresses."""
    faults = []
    families = list(spec.get("ipFamilies") or ())
    for i, text in enumerate(spec.get("clusterIPs") or ()):
        address = validation.parse_ip(text)
        if address is None or i < len(families):
            continue
        family = allocation.family_of(address)
        if family in allocated.networks:
            families.append(family)
        else:
            words = f"{family} is not configured on this cluster"
            faults.append(field.invalid(f"spec.clusterIPs[{i}]", spec["clusterIPs"], words, first_place(i)))
    if families:
        spec["ipFamilies"] = families
    return faults


def _not_configured(spec: Pod, allocated: Allocation) -> list[FieldError]:
    faults = []
    if spec["ipFamilyPolicy"] == REQUIRE and len(allocated.networks) < 2:
        faults.append(_policy(spec, "this cluster is not configured for dual-stack services"))
    for i, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in allocated.networks:
            faults.append(field.invalid(f"spec.ipFamilies[{i}]", family, "not configured on this cluster"))
    return faults


def _set_families(spec: Pod, families: list[str], both: bool) -> None:
    spec["ipFamilies"] = [*families, OTHER[families[0]]] if both and len(families) == 1 else families


# ---- addresses -------------------------------------------------------------------------------------


def _addresses(spec: Pod, old: Pod | None, allocated: Allocation, name: str) -> list[FieldError]:
    """Upstream: allocClusterIPs, updateClusterIPs"""
    if spec["type"] == "ExternalName":
        return []
    if old is None or old["type"] == "ExternalName":
        return [] if (spec.get("clusterIPs") or [""])[0] == NONE else _take(spec, 0, allocated, name)
    if is_headless(old) or _prefers_as_before(spec, old):
        return []
    if len(old.get("ipFamilies") or ()) == 1 and len(spec.get("ipFamilies") or ()) == 2:
        return _take(spec, 1, allocated, name)
    return []


def _take(spec: Pod, start: int, allocated: Allocation, name: str) -> list[FieldError]:
    """Addresses of the families from ``start`` on: those that are given, or any."""
    addresses = list(spec.get("clusterIPs") or ())
    texts = addresses[:]
    for i, family in enumerate(spec["ipFamilies"][start:], start):
        address = addresses[i] if i < len(addresses) else ""
        try:
            if address:
                allocated.take_address(family, address)
            else:
                texts.append(allocated.next_address(family))
        except allocation.NotAllocated as error:
            fault = f"failed to allocate IP {address}: {error}"
            return [field.invalid("spec.clusterIPs", addresses, fault, first_place(i))]
        except allocation.Full as error:
            raise errors.InternalError(f"failed to allocate a serviceIP for Service {go.quote(name)}: {error}") from None
    spec["clusterIPs"] = texts
    if texts:
        spec["clusterIP"] = texts[0]
    return []


# ---- node ports ------------------------------------------------------------------------------------


def _gives_ports(spec: Pod) -> bool:
    """Upstream: shouldAllocateNodePorts"""
    return spec["type"] == "NodePort" or bool(spec.get("allocateLoadBalancerNodePorts"))


def _new_node_ports(spec: Pod, allocated: Allocation) -> list[FieldError]:
    """Ports with one number and several protocols have one node port.

    Upstream: initNodePorts
    """
    by_port: dict[int, int] = {}
    ports = spec.get("ports") or []
    for i, port in enumerate(ports if needs_node_ports(spec) else ()):
        if not port.get("nodePort") and not _gives_ports(spec):
            continue
        number = port["port"]
        same = by_port.get(number, 0)
        if same and port.get("nodePort") in (None, 0, same):
            port["nodePort"] = same
            continue
        requested = port.get("nodePort", 0) if same else _asked(ports, number)
        fault = _taken_port(allocated, requested, i) if requested else None
        if fault:
            return [fault]
        if not same:
            by_port[number] = port["nodePort"] = requested or _any_port(allocated)
    return _health_check(spec, allocated)


def _asked(ports: list[Pod], number: int) -> int:
    """The node port that some port with this number asks for."""
    return next((port["nodePort"] for port in ports if port["port"] == number and port.get("nodePort")), 0)


def _taken_port(allocated: Allocation, port: int, i: int) -> FieldError | None:
    try:
        allocated.take_port(port)
    except allocation.NotAllocated as error:
        return field.invalid(f"spec.ports[{i}].nodePort", port, str(error))
    return None


def _any_port(allocated: Allocation) -> int:
    try:
        return allocated.next_port()
    except allocation.Full as error:
        raise errors.InternalError(f"failed to allocate a nodePort: {error}") from None


def _changed_node_ports(spec: Pod, old: Pod, allocated: Allocation) -> list[FieldError]:
    """Upstream: updateNodePorts, updateHealthCheckNodePort"""
    before, ports_taken = node_ports(old), set[int]()
    seen = set[tuple[str, int]]()
    for i, port in enumerate((spec.get("ports") or ()) if needs_node_ports(spec) else ()):
        number = port.get("nodePort", 0)
        if not number and not _gives_ports(spec):
            continue
        if not number:
            number = port["nodePort"] = _any_port(allocated)
        elif number not in before and number not in ports_taken:
            if fault := _taken_port(allocated, number, i):
                return [fault]
            ports_taken.add(number)
        if (port["protocol"], number) in seen:
            raise errors.ServerError(f"duplicate nodePort: {{{port['protocol']} {number}}}")
        seen.add((port["protocol"], number))
    return [] if services.needs_health_check(old) else _health_check(spec, allocated)


def _health_check(spec: Pod, allocated: Allocation) -> list[FieldError]:
    """Upstream: allocHealthCheckNodePort"""
    if not services.needs_health_check(spec):
        return []
    port = spec.get("healthCheckNodePort", 0)
    try:
        if port:
            allocated.take_port(port)
        else:
            spec["healthCheckNodePort"] = allocated.next_port()
    except allocation.NotAllocated as error:
        raise errors.InternalError(f"failed to allocate requested HealthCheck NodePort {port}: {error}") from None
    except allocation.Full as error:
        raise errors.InternalError(f"failed to allocate a HealthCheck NodePort 0: {error}") from None
    return []
