"""What a node gives to a pod through resource claims (since 1.37, gate DRANodeAllocatableResources)."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy import resources as amounts
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity
from podstrat.strategy.rules import lists

AT = "status.nodeAllocatableResourceClaimStatuses"
ALLOCATABLE = ("cpu", "memory", "ephemeral-storage")
NOT_ALLOCATABLE = "must be a node allocatable resource name"
NEGATIVE = "must be non-negative"
NOT_COVERED = "pod level request for {} is insufficient to cover the aggregated container and node-allocatable DRA requests"


def each(claims: Sequence[Pod], status: Pod, spec: Pod) -> Errors:
    """Each entry is about one claim of the pod, and maps it to resources of the node.

    Upstream: validateNodeAllocatableResourceClaimStatus
    """
    claim_names = set(_claims(status, spec))
    seen: set[str] = set()
    for i, claim in enumerate(claims):
        at, name = f"{AT}[{i}]", claim["resourceClaimName"]
        if not name:
            yield field.required(f"{at}.resourceClaimName")
        elif name not in claim_names:
            yield field.invalid(f"{at}.resourceClaimName", name, "no mapping found in pod reference")
        elif name in seen:
            yield field.duplicate(f"{at}.resourceClaimName", name)
        seen.add(name)
        for j, mapped in enumerate(claim.get("mapping") or ()):
            yield from _name(mapped["name"], f"{at}.mapping[{j}].name")
            yield from _not_negative(mapped.get("quantity"), f"{at}.mapping[{j}].quantity")
        for j, more in enumerate(claim.get("overhead") or ()):
            yield from _overhead(more, f"{at}.overhead[{j}]")


def _claims(status: Pod, spec: Pod) -> list[str]:
    """The claims that a pod refers to or that were made for it."""
    extended = status.get("extendedResourceClaimStatus") or {}
    every = [*(spec.get("resourceClaims") or ()), *(status.get("resourceClaimStatuses") or ()), extended]
    return [claim["resourceClaimName"] for claim in every if claim.get("resourceClaimName")]


def _name(name: str, at: str) -> Errors:
    if name not in ALLOCATABLE and not name.startswith(amounts.HUGEPAGES):
        yield field.invalid(at, name, NOT_ALLOCATABLE, show=go.to_json(name))


def _not_negative(amount: str | None, at: str) -> Errors:
    if amount is not None and quantity.parse(amount) < quantity.parse("0"):
        yield field.invalid(at, amount, NEGATIVE)


def _overhead(more: Pod, at: str) -> Errors:
    yield from _name(more["name"], f"{at}.name")
    if more.get("perPod") is None and more.get("perContainer") is None:
        yield field.invalid(at, "", "at least one of perPod or perContainer must be set")
    yield from _not_negative(more.get("perPod"), f"{at}.perPod")
    yield from _not_negative(more.get("perContainer"), f"{at}.perContainer")


def declared(claims: Sequence[Pod]) -> Errors:
    """What the types declare; behind all other rules of the status.

    Upstream: the generated validation of NodeAllocatableResourceClaimStatus
    """
    for i, claim in enumerate(claims):
        at = f"{AT}[{i}]"
        for j, name in enumerate(claim.get("containers") or ()):
            if name in claim["containers"][:j]:
                yield field.duplicate(f"{at}.containers[{j}]", name)
        for kind in ("mapping", "overhead"):
            items = claim.get(kind) or ()
            yield from lists.unique(items, ("name",), f"{at}.{kind}")
            for j, item in enumerate(items):
                if not item["name"]:
                    yield field.required(f"{at}.{kind}[{j}].name")
                if kind == "mapping" and item.get("quantity") is None:
                    yield field.required(f"{at}.{kind}[{j}].quantity")


def covered(spec: Pod, status: Pod, ctx: Context) -> Errors:
    """A resize leaves enough for the containers and for what claims map to the node.

    Upstream: validatePodLevelResourcesCoverDRA
    """
    claims = status.get("nodeAllocatableResourceClaimStatuses") or ()
    if not claims:
        return
    requests = (spec.get("resources") or {}).get("requests") or {}
    needed = amounts.aggregate_requests(spec)
    for claim in claims:
        amounts.add(needed, _mapped(claim))
    for name in ("cpu", "memory"):
        if name in requests and name in needed and quantity.parse(requests[name]) < needed[name]:
            show = internal.text("ResourceRequirements", spec["resources"], ctx.version)
            yield field.invalid("spec.resources", spec["resources"], NOT_COVERED.format(name), show=show)


def _mapped(claim: Pod) -> amounts.Totals:
    """What one claim takes from the node: its mapping, and its overhead for the pod and for each container."""
    total: amounts.Totals = {}
    for mapped in claim.get("mapping") or ():
        amounts.add(total, {mapped["name"]: quantity.parse(mapped.get("quantity") or "0")})
    for more in claim.get("overhead") or ():
        amounts.add(total, {more["name"]: quantity.parse(more.get("perPod") or "0")})
        for _ in claim.get("containers") or ():
            amounts.add(total, {more["name"]: quantity.parse(more.get("perContainer") or "0")})
    return total
