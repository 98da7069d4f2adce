"""The strategy of Services. Their rules are in rules.services; addresses and ports come from service_allocation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors, FieldError
from podstrat.strategy.kinds import plain, service_allocation, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import service_addresses, services
from podstrat.strategy.verbs import deletion
from podstrat.strategy.warn import addresses

AFFINITY_SECONDS = 10800  # upstream: DefaultClientIPServiceAffinitySeconds
EXTERNAL_NAME, LOAD_BALANCER = "ExternalName", "LoadBalancer"


# ---- defaults --------------------------------------------------------------------------------------


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_Service"""
    spec = obj["spec"]
    for key, value in (("sessionAffinity", "None"), ("type", "ClusterIP")):
        if not spec.get(key):
            spec[key] = value
    _default_affinity(spec)
    for port in spec.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port["port"]
    if services.is_external(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec["type"] in ("NodePort", LOAD_BALANCER, "ClusterIP") and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    if spec["type"] != LOAD_BALANCER:
        return
    if spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True
    for point in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
        if point.get("ip") and point.get("ipMode") is None:
            point["ipMode"] = "VIP"


def _default_affinity(spec: Pod) -> None:
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}


# ---- prepare ---------------------------------------------------------------------------------------


def begin(obj: Pod, old: Pod | None, request: Request, ctx: Context) -> list[FieldError]:
    """Fills in what the client leaves to the server, and allocates.

    Upstream: REST.beginCreate, REST.beginUpdate
    """
    spec = obj["spec"]
    if old is None:
        _derive_addresses(spec)
    else:
        _keep_allocated(spec, old["spec"])
        _follow_address(spec, old["spec"])
    return service_allocation.allocate(obj, old, request, ctx)


def _derive_addresses(spec: Pod) -> None:
    """Upstream: normalizeClusterIPs of a create"""
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def _follow_address(spec: Pod, old: Pod) -> None:
    """clusterIPs follow clusterIP where only that was changed.

    Upstream: normalizeClusterIPs of an update
    """
    single, before = spec.get("clusterIP", ""), old.get("clusterIP", "")
    if old.get("clusterIPs") and not spec.get("clusterIPs") and single == before:
        spec["clusterIPs"] = old["clusterIPs"]
    if single != before and (spec.get("clusterIPs") or []) == (old.get("clusterIPs") or []):
        if single:
            spec["clusterIPs"] = [single]
        else:
            spec.pop("clusterIPs", None)


def _keep_allocated(spec: Pod, old: Pod) -> None:
    """What was allocated stays where an update says nothing of it.

    Upstream: patchAllocatedValues
    """
    if EXTERNAL_NAME not in (spec["type"], old["type"]):
        for key in ("clusterIP", "clusterIPs"):
            if not spec.get(key) and old.get(key):
                spec[key] = old[key]
    if service_allocation.needs_node_ports(spec) and service_allocation.needs_node_ports(old):
        stored = {port.get("name", ""): port.get("nodePort", 0) for port in old.get("ports") or ()}
        ports = {port.get("nodePort", 0) for port in spec.get("ports") or ()} & set(stored.values())
        for port in spec.get("ports") or ():
            number = stored.get(port.get("name", ""), 0)
            if not port.get("nodePort") and number and number not in ports:
                port["nodePort"] = number
    if services.needs_health_check(spec) and services.needs_health_check(old) and not spec.get("healthCheckNodePort"):
        plain.keep_in(spec, old, "healthCheckNodePort")


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["status"] = codec.zero("ServiceStatus", ctx.types)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: svcStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    _drop_by_type(obj["spec"], old["spec"])
    if obj["spec"]["type"] != LOAD_BALANCER:
        obj["status"] = {**(obj.get("status") or {}), "loadBalancer": {}}
    return obj, []


def _drop_by_type(spec: Pod, old: Pod) -> None:
    """What the new type has no use for goes, unless the client changes it too.

    Upstream: dropTypeDependentFields
    """
    if old["type"] != EXTERNAL_NAME and spec["type"] == EXTERNAL_NAME:
        if _same(spec, old, "clusterIP") and _same(spec, old, "clusterIPs"):
            _drop(spec, "clusterIP", "clusterIPs")
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if _same(spec, old, key):
                _drop(spec, key)
    if service_allocation.needs_node_ports(old) and not service_allocation.needs_node_ports(spec):
        if service_allocation.node_ports(spec) <= service_allocation.node_ports(old):
            for port in spec.get("ports") or ():
                _drop(port, "nodePort")
    if services.needs_health_check(old) and not services.needs_health_check(spec) and _same(spec, old, "healthCheckNodePort"):
        _drop(spec, "healthCheckNodePort")
    if old["type"] == LOAD_BALANCER and spec["type"] != LOAD_BALANCER:
        for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if _same(spec, old, key):
                _drop(spec, key)
    if services.is_external(old) and not services.is_external(spec) and _same(spec, old, "externalTrafficPolicy"):
        _drop(spec, "externalTrafficPolicy")


def _same(spec: Pod, old: Pod, key: str) -> bool:
    return (spec.get(key) or None) == (old.get(key) or None)


def _drop(holder: Pod, *keys: str) -> None:
    for key in keys:
        holder.pop(key, None)


def read_back(obj: Pod, ctx: Context) -> Pod:
    """Upstream: REST.defaultOnReadService"""
    _derive_addresses(obj["spec"])
    service_allocation.default_families(obj["spec"])
    if obj["spec"].get("type") == EXTERNAL_NAME:
        _drop(obj["spec"], "internalTrafficPolicy")
    return obj


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateServiceCreate"""
    yield from services.metadata(obj, ctx)
    yield from services.service(obj, None, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateServiceUpdate"""
    yield from plain.updating(obj, old, ctx)
    yield from service_addresses.changes(obj["spec"], old["spec"])
    yield from services.balancer_class(obj["spec"], old["spec"], ctx)
    yield from services.health_check_port(obj["spec"], old["spec"])
    yield from services.service(obj, old, ctx)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateServiceStatusUpdate"""
    yield from plain.updating(obj, old, ctx)
    yield from services.balancer_status(obj, old, ctx)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    """Upstream: GetWarningsForService"""
    spec = obj["spec"]
    external: Sequence[str] = spec.get("externalIPs") or ()
    if services.HINTS in (obj["metadata"].get("annotations") or ()):
        yield f"annotation {services.HINTS} is deprecated, please use {services.MODE} instead"
    is_headless = spec["type"] == "ClusterIP" and spec.get("clusterIP") == service_addresses.NONE
    if not service_addresses.is_headless(spec) and spec["type"] != EXTERNAL_NAME:
        for i, text in enumerate(spec.get("clusterIPs") or ()):
            yield from addresses.spelling(text, f"spec.clusterIPs[{i}]", ctx)
    if is_headless:
        ignored = (spec.get("loadBalancerIP"), external, spec["sessionAffinity"] != "None")
        for name, is_set in zip(("loadBalancerIP", "externalIPs", "SessionAffinity"), ignored, strict=True):
            if is_set:
                yield f"spec.{name} is ignored for headless services"
    for i, text in enumerate(external):
        yield from addresses.spelling(text, f"spec.externalIPs[{i}]", ctx)
    if spec.get("loadBalancerIP"):
        yield from addresses.spelling(spec["loadBalancerIP"], "spec.loadBalancerIP", ctx)
    for i, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from addresses.cidr_spelling(text, f"spec.loadBalancerSourceRanges[{i}]", ctx)
    if spec["type"] == EXTERNAL_NAME and external:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if spec["type"] != EXTERNAL_NAME and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if ctx.version >= V1_35 and spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, plain.as_on_create(create_warnings)),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    begin=begin,
    claims=service_allocation.claims,
    reset=workload.RESET,
    read_back=read_back,
    returns_deleted=True,
    creates_on_update=True,
)
