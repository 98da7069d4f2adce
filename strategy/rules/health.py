"""Device health in a container's status: allocatedResourcesStatus (KEP-4680)."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity

HEALTHS = ("Healthy", "Unhealthy", "Unknown")
MESSAGE_LIMIT = 1024  # bytes, as the API reference says
CLAIM = "claim:"
NO_REQUEST = "must match one of the container's resource requests"
NO_CLAIM = (
    "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' "
    "when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
)
NO_CLAIM_BEFORE_1_37 = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
    "or 'claim:<claimName>' if request is empty"
)


def statuses(statuses: Sequence[Pod], containers: Sequence[Pod], pod: Pod, at: str, ctx: Context) -> Errors:
    """Each status names resources of its own container, with a health that is known.

    A status whose container is not in the spec skips only the look at the name.
    Upstream: validateContainerStatusAllocatedResourcesStatus
    """
    for i, status in enumerate(statuses):
        resources = status.get("allocatedResourcesStatus")
        if not resources:
            continue
        container = next((each for each in containers if each["name"] == status["name"]), None)
        here = f"{at}[{i}].allocatedResourcesStatus"
        for j, resource in enumerate(resources):
            if container is not None:
                yield from _name(resource["name"], container, pod, f"{here}[{j}].name", ctx)
            yield from _devices(resource.get("resources") or (), f"{here}[{j}].resources")
        yield from _unique_names(resources, here, ctx)


def of_pod(pod: Pod, ctx: Context) -> Errors:
    """The pod's own list: resources that belong to no container. Only with the switch PodLevelResourceHealth.

    A name is one of the pod's own requests, or ``claim:`` and one of its claims, with any request of it.
    """
    at, spec = "status.allocatedResourcesStatus", pod["spec"]
    resources = pod["status"].get("allocatedResourcesStatus") or ()
    requested = (spec.get("resources") or {}).get("requests") or {}
    claimed = {claim["name"] for claim in spec.get("resourceClaims") or ()}
    for i, resource in enumerate(resources):
        name = resource["name"]
        if not name.startswith(CLAIM) and name not in requested:
            yield field.invalid(f"{at}[{i}].name", name, "must match one of the pod's resource requests", show=go.to_json(name))
        elif name.startswith(CLAIM) and name.removeprefix(CLAIM).partition("/")[0] not in claimed:
            text = "must match one of the pod's resource claims as 'claim:<claimName>' or 'claim:<claimName>/<requestName>'"
            yield field.invalid(f"{at}[{i}].name", name, text, show=go.to_json(name))
        yield from _devices(resource.get("resources") or (), f"{at}[{i}].resources")
    yield from _unique_names(resources, at, ctx)


def _unique_names(resources: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """A name occurs once in a list. Only with the switch UniqueResourceHealthNames: the server does not ask for it."""
    if "UniqueResourceHealthNames" not in ctx.switches:
        return
    seen = set()
    for i, resource in enumerate(resources):
        if resource["name"] in seen:
            yield field.duplicate(f"{at}[{i}].name", resource["name"])
        seen.add(resource["name"])


def none_in(statuses: Sequence[Pod], at: str) -> Errors:
    """Ephemeral containers have no resources, and so no health of any."""
    for i, status in enumerate(statuses):
        if status.get("allocatedResourcesStatus"):
            yield field.forbidden(f"{at}[{i}].allocatedResourcesStatus", "must not be specified in container status")


def _name(name: str, container: Pod, pod: Pod, at: str, ctx: Context) -> Errors:
    """A resource that the container requests, or ``claim:`` and one of its claims, with the request if it names one."""
    resources = container["resources"]
    if not name.startswith(CLAIM):
        if name not in (resources.get("requests") or {}):
            yield field.invalid(at, name, NO_REQUEST, show=go.to_json(name))
        return
    names = {_claim_name(claim) for claim in resources.get("claims") or ()}
    if name in names or (ctx.version >= V1_37 and name in _extended(container, pod)):
        return
    text = NO_CLAIM if ctx.version >= V1_37 else NO_CLAIM_BEFORE_1_37
    yield field.invalid(at, name, text, show=go.to_json(name))


def _claim_name(claim: Pod) -> str:
    request = claim.get("request")
    return f"{CLAIM}{claim['name']}/{request}" if request else f"{CLAIM}{claim['name']}"


def _extended(container: Pod, pod: Pod) -> set[str]:
    """The names of this container's extended resources that a DRA driver serves."""
    extended = (pod.get("status") or {}).get("extendedResourceClaimStatus")
    if not extended:
        return set()
    requests = container["resources"].get("requests") or {}
    return {
        f"{CLAIM}{extended['resourceClaimName']}/{mapping['requestName']}"
        for mapping in extended.get("requestMappings") or ()
        if mapping["containerName"] == container["name"]
        and mapping["resourceName"] in requests
        and not quantity.parse(requests[mapping["resourceName"]]).is_zero
    }


def _devices(devices: Sequence[Pod], at: str) -> Errors:
    """A device has a known health, a message worth reading, and is named once."""
    seen = set()
    for i, device in enumerate(devices):
        health = device.get("health", "")
        if health not in HEALTHS:
            yield field.not_supported(f"{at}[{i}].health", health, HEALTHS)
        message = device.get("message")
        if message == "":
            yield field.required(f"{at}[{i}].message", "must be non-empty if specified")
        elif message is not None and len(message.encode()) > MESSAGE_LIMIT:
            yield field.too_long(f"{at}[{i}].message", MESSAGE_LIMIT)
        if device["resourceID"] in seen:
            yield field.duplicate(f"{at}[{i}].resourceID", device["resourceID"], show=go.to_json(device["resourceID"]))
        seen.add(device["resourceID"])
