"""Devices that a pod holds, from its spec, its claims' allocations and its device-plugin allocations. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from podstrat.node.model import Device, Object
from podstrat.strategy.rules.health import CLAIM


class HeldDevice(NamedTuple):
    device: Device
    cdi: str = ""
    """The first CDI ID that the driver returned for it, as far as known."""
    hidden: bool = False
    """Beside a kubelet: an earlier device of the entry has the same CDI ID, and the kubelet shows only that one."""


class Holding(NamedTuple):
    """What one container has under one name of allocatedResourcesStatus."""

    container: str
    """Empty: the pod itself, with what none of its containers refers to."""
    name: str
    devices: tuple[HeldDevice, ...]


Claims = Callable[[str], Object | None]
"""From the name of a ResourceClaim to the claim, if there is one that is reserved for the pod."""


def of_pod(
    pod: Object, claims: Claims, plugins: Mapping[str, Mapping[str, Iterable[str]]], extended: bool
) -> tuple[Holding, ...]:
    """All that the pod holds. `plugins` has the devices of device plugins by container and resource.

    `extended`: also what a DRA driver serves under the name of an extended resource; the server takes that since 1.37.
    """
    return tuple(holding for holding in _all(pod, claims, plugins, extended) if holding.devices)


def claim_names(pod: Object) -> dict[str, str]:
    """The pod's own name for each of its claims, and the name of the claim object, for those that have one already."""
    generated = {
        status["name"]: status.get("resourceClaimName") for status in (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    }
    names = {}
    for claim in pod["spec"].get("resourceClaims") or ():
        if name := generated.get(claim["name"]) or claim.get("resourceClaimName"):
            names[claim["name"]] = name
    return names


def unneeded_claims(pod: Object) -> set[str]:
    """Those of the pod's claims for which no object was made, because none was needed."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    return {each["name"] for each in statuses if not each.get("resourceClaimName")}


def extended_claim(pod: Object) -> str | None:
    """The name of the claim that stands behind the pod's extended resources."""
    status: Object = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    return status.get("resourceClaimName")


def is_reserved(claim: Object, uid: str) -> bool:
    """Whether the claim is the pod's. One of the same name that was made anew is not."""
    return any(consumer.get("uid") == uid for consumer in (claim.get("status") or {}).get("reservedFor") or ())


def _all(pod: Object, claims: Claims, plugins: Mapping[str, Mapping[str, Iterable[str]]], extended: bool) -> Iterator[Holding]:
    spec, names = pod["spec"], claim_names(pod)
    referred = set()
    for container in [*(spec.get("initContainers") or ()), *spec["containers"]]:
        resources = container.get("resources") or {}
        yield from _of_plugins(container["name"], resources, plugins.get(container["name"]) or {})
        for reference in resources.get("claims") or ():
            referred.add(reference["name"])
            claim = claims(names.get(reference["name"], ""))
            request = reference.get("request") or ""
            name = f"{CLAIM}{reference['name']}/{request}" if request else f"{CLAIM}{reference['name']}"
            yield Holding(container["name"], name, _devices(claim, request))
        if extended:
            yield from _of_extended(container["name"], resources, pod, claims)
    for own, name in names.items():
        if own not in referred:
            yield Holding("", f"{CLAIM}{own}", _devices(claims(name), ""))


def _of_plugins(container: str, resources: Object, ids_by_resource: Mapping[str, Iterable[str]]) -> Iterator[Holding]:
    """A name must be one that the container requests, or the server refuses the whole status."""
    requests = resources.get("requests") or {}
    for resource, ids in ids_by_resource.items():
        if resource in requests:
            yield Holding(container, resource, tuple(HeldDevice(Device(resource, "", each)) for each in sorted(set(ids))))


def _of_extended(container: str, resources: Object, pod: Object, claims: Claims) -> Iterator[Holding]:
    if (name := extended_claim(pod)) is None:
        return
    requests = resources.get("requests") or {}
    for mapping in pod["status"]["extendedResourceClaimStatus"].get("requestMappings") or ():
        if mapping["containerName"] == container and mapping["resourceName"] in requests:
            request = mapping["requestName"]
            yield Holding(container, f"{CLAIM}{name}/{request}", _devices(claims(name), request))


def _devices(claim: Object | None, request: str) -> tuple[HeldDevice, ...]:
    """The claim's devices, or those of one request. A sub-request is its request's, on either side."""
    results = ((((claim or {}).get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or ()
    name = _base(request)
    devices = {
        Device(result["driver"], result["pool"], result["device"])
        for result in results
        if not name or _base(result["request"]) == name
    }
    return tuple(HeldDevice(device) for device in sorted(devices))


def _base(request: str) -> str:
    return request.partition("/")[0]
