"""Services: ports, selector, affinity, external addresses, and what belongs to which type."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import cidr, validation
from podstrat.strategy.rules import meta, ports, service_addresses

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES = ("ClientIP", "None")
TRAFFIC = ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
IP_MODES = ("Proxy", "VIP")
KUBELET_PORT = 10250  # upstream: ports.KubeletPort
MAX_TIMEOUT = 86400  # upstream: MaxClientIPServiceAffinitySeconds, a day
ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'"
ONLY_LOCAL = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
NOT_EXTERNAL_NAME = "may not be set for ExternalName services"
HINTS, MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def is_external(spec: Pod) -> bool:
    """Whether a service can be reached from outside. Upstream: ExternallyAccessible"""
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def needs_health_check(spec: Pod) -> bool:
    """Upstream: NeedsHealthCheck"""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def metadata(obj: Pod, ctx: Context) -> Errors:
    """A name is a DNS label; without the gate one that begins with a letter.

    Upstream: ValidateServiceCreate
    """
    form = validation.dns_label if "RelaxedServiceNameValidation" in ctx.gates else validation.dns1035_label
    yield from meta.on_create(obj["metadata"], ctx, form)


def service(obj: Pod, old: Pod | None, ctx: Context) -> Errors:
    """What holds for a new service and for a changed one; allocation has looked at its addresses.

    Upstream: ValidateService
    """
    spec, stored = obj["spec"], (old or {}).get("spec") or {}
    annotations = obj["metadata"].get("annotations") or {}
    if HINTS in annotations and MODE in annotations and annotations[HINTS] != annotations[MODE]:
        text = f"must match annotations[{HINTS}] when both are specified"
        yield field.invalid(f"metadata.annotations[{MODE}]", annotations[MODE], text, ("metadata", "annotations", MODE))
    yield from _by_type(spec)
    yield from _ports(spec, ctx)
    yield from meta.labels(spec.get("selector") or {}, ctx.name_unit, "spec.selector")
    yield from _affinity(spec)
    for i, text in enumerate(spec.get("externalIPs") or ()):
        yield from _external_address(text, f"spec.externalIPs[{i}]", stored, ctx)
    if spec["type"] not in TYPES:
        yield field.not_supported("spec.type", spec["type"], TYPES)
    yield from _node_ports(spec)
    yield from _duplicate_ports(spec, ctx)
    yield from _source_ranges(obj, stored, ctx)
    if "allocateLoadBalancerNodePorts" in spec and spec["type"] != "LoadBalancer":
        yield field.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCERS)
    yield from balancer_class(spec, None, ctx)
    yield from _external_traffic(spec)
    yield from _other_traffic(spec, stored, ctx)


def _by_type(spec: Pod) -> Errors:
    headless, kind = service_addresses.is_headless(spec), spec["type"]
    if not spec.get("ports") and not headless and kind != "ExternalName":
        yield field.required("spec.ports")
    if kind == "LoadBalancer":
        for i, port in enumerate(spec.get("ports") or ()):
            if port["port"] == KUBELET_PORT:
                text = f"may not expose port {KUBELET_PORT} externally since it is used by kubelet"
                yield field.invalid(f"spec.ports[{i}]", KUBELET_PORT, text)
    if headless and kind in ("LoadBalancer", "NodePort"):
        text = f"may not be set to 'None' for {kind} services"
        yield field.invalid("spec.clusterIPs[0]", "None", text, ("spec", "clusterIP"))
    if kind != "ExternalName":
        return
    for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(key):
            place = ("spec", "clusterIP") if key == "clusterIPs" else None
            yield field.forbidden(f"spec.{key}", NOT_EXTERNAL_NAME, place)
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        yield field.required("spec.externalName")
    else:
        yield from validation.each("spec.externalName", name, validation.dns_subdomain(name))


def _ports(spec: Pod, ctx: Context) -> Errors:
    """Upstream: validateServicePort"""
    names = set[str]()
    items = spec.get("ports") or ()
    for i, port in enumerate(items):
        at, name = f"spec.ports[{i}]", port.get("name", "")
        if not name and len(items) > 1:
            yield field.required(f"{at}.name")
        elif name:
            yield from validation.each(f"{at}.name", name, validation.dns_label(name))
            if name in names:
                yield field.duplicate(f"{at}.name", name)
            names.add(name)
        if not 1 <= port["port"] <= 65535:
            yield field.invalid(f"{at}.port", port["port"], validation.BETWEEN_PORTS)
        if port["protocol"] not in ports.PROTOCOLS:
            yield field.not_supported(f"{at}.protocol", port["protocol"], ports.PROTOCOLS)
        yield from ports.number_or_name(port["targetPort"], f"{at}.targetPort")
        if "appProtocol" in port:
            text = port["appProtocol"]
            yield from validation.each(f"{at}.appProtocol", text, validation.label_key(text, ctx.name_unit))


def _affinity(spec: Pod) -> Errors:
    """Upstream: validateClientIPAffinityConfig"""
    affinity = spec["sessionAffinity"]
    if affinity not in AFFINITIES:
        yield field.not_supported("spec.sessionAffinity", affinity, AFFINITIES)
    elif affinity == "ClientIP":
        timeout = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < timeout <= MAX_TIMEOUT:
            at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            yield field.invalid(at, timeout, f"must be greater than 0 and less than {MAX_TIMEOUT}")


def _external_address(text: str, at: str, stored: Pod, ctx: Context) -> Errors:
    faults = list(service_addresses.address(text, at, stored.get("externalIPs") or (), ctx))
    yield from faults
    address = validation.parse_ip(text)
    if faults or address is None:
        return
    if address.is_unspecified:
        yield field.invalid(at, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        yield field.invalid(at, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        yield field.invalid(at, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if cidr.is_link_local_multicast(address):
        yield field.invalid(at, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def _node_ports(spec: Pod) -> Errors:
    seen = set[tuple[str, int]]()
    pairs = [(i, port) for i, port in enumerate(spec.get("ports") or ()) if port.get("nodePort")]
    if spec["type"] == "ClusterIP":
        for i, _ in pairs:
            yield field.forbidden(f"spec.ports[{i}].nodePort", "may not be used when `type` is 'ClusterIP'")
    for i, port in pairs:
        key = port["protocol"], port["nodePort"]
        if key in seen:
            yield field.duplicate(f"spec.ports[{i}].nodePort", port["nodePort"])
        seen.add(key)


def _duplicate_ports(spec: Pod, ctx: Context) -> Errors:
    seen = set[tuple[str, int]]()
    for i, port in enumerate(spec.get("ports") or ()):
        key = port["protocol"], port["port"]
        if key in seen:
            text = internal.text("ServicePort", {"protocol": key[0], "port": key[1]}, ctx.version)
            yield field.duplicate(f"spec.ports[{i}]", port, show=text)
        seen.add(key)


def _source_ranges(obj: Pod, stored: Pod, ctx: Context) -> Errors:
    """The field, or in its place an old annotation. Spaces around a value are ignored."""
    spec, kind = obj["spec"], obj["spec"]["type"]
    annotation = (obj["metadata"].get("annotations") or {}).get(SOURCE_RANGES)
    place: field.Place = ("spec", "loadBalancerSourceRanges")
    if ranges := spec.get("loadBalancerSourceRanges"):
        at = "spec.LoadBalancerSourceRanges"
        if kind != "LoadBalancer":
            yield field.forbidden(at, ONLY_BALANCERS, place)
        before = [text.strip() for text in stored.get("loadBalancerSourceRanges") or ()]
        for i, text in enumerate(ranges):
            yield from _cidr(text.strip(), f"{at}[{i}]", before, (*place, i), ctx)
    elif annotation is not None:
        at, place = f"metadata.annotations[{SOURCE_RANGES}]", ("metadata", "annotations", SOURCE_RANGES)
        if kind != "LoadBalancer":
            yield field.forbidden(at, ONLY_BALANCERS, place)
        for text in annotation.strip().split(",") if annotation.strip() else ():
            yield from _cidr(text.strip(), at, (), place, ctx)


def _cidr(text: str, at: str, before: list[str] | tuple[str, ...], place: field.Place, ctx: Context) -> Errors:
    strict = "StrictIPCIDRValidation" in ctx.gates and text not in before
    yield from validation.each(at, text, cidr.faults(text, strict), place)


def balancer_class(spec: Pod, old: Pod | None, ctx: Context) -> Errors:
    """Only a load balancer has a class, and keeps it.

    Upstream: validateLoadBalancerClassField
    """
    at, name = "spec.loadBalancerClass", spec.get("loadBalancerClass")
    if old is not None and old.get("type") == spec["type"] == "LoadBalancer" and name != old.get("loadBalancerClass"):
        yield field.invalid(at, name, service_addresses.UNCHANGED)
    if name is None:
        return
    if spec["type"] == "LoadBalancer":
        yield from validation.each(at, name, validation.label_key(name, ctx.name_unit))
    else:
        yield field.forbidden(at, ONLY_BALANCERS)


def _external_traffic(spec: Pod) -> Errors:
    """Upstream: validateServiceExternalTrafficPolicy"""
    policy, port = spec.get("externalTrafficPolicy", ""), spec.get("healthCheckNodePort", 0)
    if not is_external(spec):
        if policy:
            text = "may only be set for externally-accessible services"
            yield field.invalid("spec.externalTrafficPolicy", policy, text)
    elif policy not in TRAFFIC:
        yield field.not_supported("spec.externalTrafficPolicy", policy, TRAFFIC)
    if not needs_health_check(spec):
        if port:
            yield field.invalid("spec.healthCheckNodePort", port, ONLY_LOCAL)
    elif not 1 <= port <= 65535:
        yield field.invalid("spec.healthCheckNodePort", port, validation.BETWEEN_PORTS)


def _other_traffic(spec: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: validateServiceInternalTrafficFieldsValue, validateServiceTrafficDistribution"""
    policy, distribution = spec.get("internalTrafficPolicy"), spec.get("trafficDistribution")
    if policy is not None and policy not in TRAFFIC:
        yield field.not_supported("spec.internalTrafficPolicy", policy, TRAFFIC)
    if distribution is None:
        return
    in_use = old.get("trafficDistribution") in DISTRIBUTIONS[1:]
    is_on = ctx.version >= V1_35 or "PreferSameTrafficDistribution" in ctx.gates
    choices = DISTRIBUTIONS if is_on or in_use else DISTRIBUTIONS[:1]
    if distribution not in choices:
        yield field.not_supported("spec.trafficDistribution", distribution, choices)


def health_check_port(spec: Pod, old: Pod) -> Errors:
    """Upstream: validateServiceExternalTrafficFieldsUpdate"""
    if needs_health_check(spec) and needs_health_check(old):
        if spec.get("healthCheckNodePort", 0) != old.get("healthCheckNodePort", 0):
            yield field.forbidden("spec.healthCheckNodePort", "field is immutable")


def balancer_status(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateLoadBalancerStatus"""
    at = "status.loadBalancer.ingress"
    points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    if points and obj["spec"]["type"] != "LoadBalancer":
        yield field.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    stored = ((old.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    before = [each.get("ip", "") for each in stored]
    for i, point in enumerate(points):
        yield from _ingress(point, f"{at}[{i}]", before, ctx)


def _ingress(point: Pod, at: str, before: list[str], ctx: Context) -> Errors:
    text, mode, host = point.get("ip", ""), point.get("ipMode"), point.get("hostname", "")
    if text:
        yield from service_addresses.address(text, f"{at}.ip", before, ctx)
    if mode is not None and not text:
        yield field.forbidden(f"{at}.ipMode", "may not be specified when `ip` is not set")
    elif mode is not None and mode not in IP_MODES:
        yield field.not_supported(f"{at}.ipMode", mode, IP_MODES)
    if host:
        yield from validation.each(f"{at}.hostname", host, validation.dns_subdomain(host))
        if validation.parse_ip(host) is not None:
            yield field.invalid(f"{at}.hostname", host, "must be a DNS name, not an IP address")
