"""Status writes: conditions, addresses, claims, users, and state transitions of containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, V1_36, V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import health, node_allocatable, restart_status, volume_health

if TYPE_CHECKING:
    import ipaddress

KNOWN_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
STATUS_LISTS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
MAX_ID = 2**31 - 1  # the largest int32
MAX_UID_1_37 = 2**32 - 1  # the largest uint32: user IDs of the kernel
NOT_NEGATIVE = "must be a non-negative integer"


def update(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodStatusUpdate, behind the metadata"""
    status, stored, spec = pod["status"], old.get("status") or {}, old["spec"]
    yield from _conditions(status.get("conditions") or (), ctx)
    yield from _nominated_node(status, stored, spec, ctx)
    if status.get("observedGeneration", 0) < 0:
        yield field.invalid("status.observedGeneration", status["observedGeneration"], NOT_NEGATIVE)
    if status.get("qosClass", "") != stored.get("qosClass", ""):
        value = status.get("qosClass", "")
        yield field.invalid("status.qosClass", value, "field is immutable", show=go.to_json(value))
    yield from restart_status.transitions(status, stored, pod["spec"], ctx)
    yield from _claims(status.get("resourceClaimStatuses") or (), spec, ctx)
    yield from _extended_resources(status.get("extendedResourceClaimStatus"), spec, ctx)
    allocatable = status.get("nodeAllocatableResourceClaimStatuses") or () if ctx.version >= V1_37 else ()
    volumes = status.get("volumeHealth") or ()
    if allocatable:
        yield from node_allocatable.each(allocatable, status, spec)
    if volumes:
        yield from volume_health.each(volumes, spec)
    yield from _addresses(status, stored, ctx)
    yield from _users(status, spec, ctx)
    yield from _health(pod, ctx)
    yield from node_allocatable.declared(allocatable)
    yield from volume_health.declared(volumes)


def _conditions(conditions: Sequence[Pod], ctx: Context) -> Errors:
    """A condition of one's own has a qualified name; only that and observedGeneration are looked at.

    Upstream: validatePodConditions
    """
    for i, condition in enumerate(conditions):
        if condition.get("observedGeneration", 0) < 0:
            value = condition["observedGeneration"]
            yield field.invalid(f"status.conditions[{i}].observedGeneration", value, NOT_NEGATIVE)
        kind = condition["type"]
        if kind not in KNOWN_CONDITIONS:
            place = ("status", "conditions", i, "type")
            for message in validation.label_key(kind, ctx.name_unit):
                # The path has the Go name of the field.
                yield field.invalid(f"status.conditions[{i}].Type", kind, message, place)


def _nominated_node(status: Pod, stored: Pod, spec: Pod, ctx: Context) -> Errors:
    """A new nomination is a node's name, and a bound pod gets none."""
    name = status.get("nominatedNodeName", "")
    if not name or name == stored.get("nominatedNodeName", ""):
        return
    yield from validation.each("status.nominatedNodeName", name, validation.dns_subdomain(name))
    if "ClearingNominatedNodeNameAfterBinding" in ctx.gates and spec.get("nodeName"):
        yield field.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")


def _claims(claims: Sequence[Pod], spec: Pod, ctx: Context) -> Errors:
    """Each status is of a claim that the pod has, once.

    Upstream: validatePodResourceClaimStatuses
    """
    names = {claim["name"] for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for i, claim in enumerate(claims):
        at, name = f"status.resourceClaimStatuses[{i}]", claim["name"]
        if name not in names:
            yield field.invalid(f"{at}.name", name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            yield field.duplicate(f"{at}.name", name)
        seen.add(name)
        claim_name = claim.get("resourceClaimName")
        if claim_name is not None:
            # Before 1.36 the path named the wrong field.
            wrong = "resourceClaimName" if ctx.version >= V1_36 else "name"
            place = ("status", "resourceClaimStatuses", i, "resourceClaimName")
            yield from validation.each(f"{at}.{wrong}", claim_name, validation.dns_subdomain(claim_name), place)


def _extended_resources(extended: Pod | None, spec: Pod, ctx: Context) -> Errors:
    """The claim behind extended resources is named, and so is each request that it serves.

    Upstream: validatePodExtendedResourceClaimStatus
    """
    if extended is None:
        return
    at = "status.extendedResourceClaimStatus"
    mappings = extended.get("requestMappings") or ()
    if not mappings:
        yield field.required(f"{at}.requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, ...]] = set()
    for i, mapping in enumerate(mappings):
        yield from _mapping(mapping, spec, f"{at}.requestMappings[{i}]", i)
        # 1.34 refuses several requests of one resource.
        keys = ("containerName", "resourceName", "requestName") if ctx.version >= V1_35 else ("containerName", "resourceName")
        key = tuple(mapping[name] for name in keys)
        if key in seen:
            for name in keys:
                yield field.duplicate(f"{at}.requestMappings[{i}].{name}", mapping[name])
        seen.add(key)
    name = extended["resourceClaimName"]
    if not name:
        yield field.required(f"{at}.resourceClaimName")
    else:
        yield from validation.each(f"{at}.resourceClaimName", name, validation.dns_subdomain(name))


def _mapping(mapping: Pod, spec: Pod, at: str, i: int) -> Errors:
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    container = next((each for each in containers if each["name"] == mapping["containerName"]), None)
    if container is None:
        text = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        yield field.invalid(f"{at}.containerName", mapping["containerName"], text)
    elif mapping["resourceName"] not in (container["resources"].get("requests") or {}):
        text = (
            "must match the extended resource name of an entry in "
            "spec.initContainers.resources.requests or spec.containers.resources.requests"
        )
        yield field.invalid(f"{at}.resourceName", mapping["resourceName"], text)
    name = mapping["requestName"]
    place = ("status", "extendedResourceClaimStatus", "requestMappings", i, "requestName")
    yield from validation.each("status.extendedResourceClaimStatus.requestName", name, validation.dns_label(name), place)


def _addresses(status: Pod, stored: Pod, ctx: Context) -> Errors:
    """Addresses are addresses, one of each family, and the first is the single one.

    Upstream: validatePodIPs, validateHostIPs
    """
    yield from _ips(status.get("podIPs") or (), stored.get("podIPs") or (), "status.podIPs", ctx)
    if ctx.version >= V1_37 and status.get("podIPs") and not status.get("podIP"):
        text = "podIP and podIPs must either both be set or both be unset"
        yield field.invalid("status.podIPs", status["podIPs"], text, show=_internal_ips(status["podIPs"]))
    hosts = status.get("hostIPs") or ()
    if hosts and hosts[0].get("ip", "") != status.get("hostIP", ""):
        yield field.invalid("status.hostIPs[0].ip", hosts[0].get("ip", ""), "must be equal to `hostIP`")
    yield from _ips(hosts, stored.get("hostIPs") or (), "status.hostIPs", ctx)


def _ips(ips: Sequence[Pod], stored: Sequence[Pod], at: str, ctx: Context) -> Errors:
    before = {each.get("ip", "") for each in stored}
    texts = [each.get("ip", "") for each in ips]
    strict = "StrictIPCIDRValidation" in ctx.gates
    for i, text in enumerate(texts):
        if text not in before:
            yield from validation.each(f"{at}[{i}]", text, validation.ip(text, strict))
    if len(texts) < 2:
        return
    parsed = [validation.parse_ip(text) for text in texts]
    if None in parsed:
        first = parsed.index(None)
        yield field.internal(at, f"failed to check for dual stack with error:invalid IP[{first}]: {texts[first]}")
    if None in parsed or len(texts) > 2 or len({_family(each) for each in parsed}) < 2:
        yield field.invalid(at, list(ips), "may specify no more than one IP for each IP family", show=_internal_ips(ips))


def _internal_ips(ips: Sequence[Pod]) -> str:
    return go.to_json([{"IP": each.get("ip", "")} for each in ips])


def _family(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> int:
    """4 or 6; an IPv4 address written as an IPv6 one counts as 4."""
    import ipaddress

    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return 6
    return 4


def _users(status: Pod, spec: Pod, ctx: Context) -> Errors:
    """Ids are in range, and a Windows container has no Linux user.

    Upstream: validateContainerStatusUsers
    """
    windows = (spec.get("os") or {}).get("name") == "windows"
    for key in STATUS_LISTS:
        for i, container in enumerate(status.get(key) or ()):
            linux = (container.get("user") or {}).get("linux")
            if linux is None:
                continue
            at = f"status.{key}[{i}].user.linux"
            if windows:
                yield field.forbidden(at, "cannot be set for a windows pod")
            else:
                yield from _linux_user(linux, at, ctx)


def _linux_user(linux: Pod, at: str, ctx: Context) -> Errors:
    highest_uid = MAX_UID_1_37 if ctx.version >= V1_37 else MAX_ID
    for name, highest in (("uid", highest_uid), ("gid", MAX_ID)):
        if not 0 <= linux[name] <= highest:
            yield field.invalid(f"{at}.{name}", linux[name], validation.between(0, highest))
    for i, group in enumerate(linux.get("supplementalGroups") or ()):
        if not 0 <= group <= MAX_ID:
            yield field.invalid(f"{at}.supplementalGroups[{i}]", group, validation.between(0, MAX_ID))


def _health(pod: Pod, ctx: Context) -> Errors:
    status, spec = pod["status"], pod["spec"]
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from health.statuses(status.get(key) or (), spec.get(containers) or (), pod, f"status.{key}", ctx)
    yield from health.none_in(status.get("ephemeralContainerStatuses") or (), "status.ephemeralContainerStatuses")
    yield from health.of_pod(pod, ctx)
