"""The quality-of-service class of a pod."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import resources
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import ZERO

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"

Requirements = dict[str, Any]


def of(pod: Pod, ctx: Context) -> str:
    """Guaranteed: everything has cpu and memory limits and the requests equal them. BestEffort: nothing asks for either.

    Computed from the spec alone; what the status says is not looked at. Amounts of zero count as absent.
    Upstream: ComputePodQOS
    """
    spec = pod["spec"]
    if _pod_level_decides(spec, ctx):
        every = [spec["resources"]]
    else:
        every = [each["resources"] for each in (*(spec["containers"] or ()), *(spec.get("initContainers") or ()))]
    if every and all(map(_is_limited, every)):
        equal = _requests_equal_limits(every, "cpu") and _requests_equal_limits(every, "memory")
        return GUARANTEED if equal else BURSTABLE
    for each in every:
        if _asks(each, ctx):
            return BURSTABLE
    return BEST_EFFORT


def _pod_level_decides(spec: dict[str, Any], ctx: Context) -> bool:
    """Pod-level resources outweigh the containers'. Without the later fix an empty object does so too."""
    if "resources" not in spec or "PodLevelResources" not in ctx.gates:
        return False
    return "PodLevelResourcesFixKubeletQOSClass" not in ctx.gates or resources.has_pod_level(spec)


def _is_limited(each: Requirements) -> bool:
    limits = each.get("limits")
    if not limits or "cpu" not in limits or "memory" not in limits:
        return False
    return quantity.parse(limits["cpu"]).sign > 0 and quantity.parse(limits["memory"]).sign > 0


def _asks(each: Requirements, ctx: Context) -> bool:
    """Whether anything is asked for. Since 1.37 a negative amount, which is refused anyway, counts too."""
    least = -1 if ctx.version >= V1_37 else 1
    for kind in ("requests", "limits"):
        amounts = each.get(kind) or {}
        for name in resources.COMPUTE:
            if name in amounts and quantity.parse(amounts[name]).sign in (1, least):
                return True
    return False


def _requests_equal_limits(every: list[Requirements], name: str) -> bool:
    """Whether the requests for a resource add up to the same as the limits, each of which is positive."""
    orders = [quantity.compare(_request(each, name), each["limits"][name]) for each in every]
    if max(orders) <= 0:
        return not any(orders)
    # Only a pod that will be refused gets here: one container requests more than its limit.
    requests = [quantity.parse(_request(each, name)) for each in every]
    limits = [quantity.parse(each["limits"][name]) for each in every]
    return sum((request for request in requests if request.sign > 0), ZERO) == sum(limits, ZERO)


def _request(each: Requirements, name: str) -> str:
    requests: dict[str, str] = each.get("requests") or {}
    return requests.get(name, "0")
