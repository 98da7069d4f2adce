"""Total requests and limits of a pod, as the scheduler and quotas count them: with pod-level resources, overhead and status.

Upstream: k8s.io/component-helpers/resource
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from podstrat.strategy import resources
from podstrat.strategy.context import Context
from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import Quantity

Object = dict[str, Any]
Totals = dict[str, Quantity]

INFEASIBLE = "Infeasible"


def requests(pod: Object, ctx: Context, *, with_status: bool = True, names: resources.Names = None) -> Totals:
    """What the pod requests of all resources, or of those that are named.

    Upstream: PodRequests
    """
    spec = _counted(pod, "requests", with_status)
    totals = resources.aggregate_requests(spec, names)
    totals.update(_pod_level(pod, ctx, "requests", with_status))
    if spec.get("overhead"):
        resources.add(totals, parsed(spec["overhead"]))
    return totals


def limits(pod: Object, ctx: Context, *, with_status: bool = True, names: resources.Names = None) -> Totals:
    """Overhead is added to limits that there are.

    Upstream: PodLimits
    """
    spec = _counted(pod, "limits", with_status)
    totals = resources.aggregate_limits(spec, names)
    totals.update(_pod_level(pod, ctx, "limits", with_status))
    if spec.get("overhead"):
        for name, amount in parsed(spec["overhead"]).items():
            if name in totals:
                totals[name] = totals[name] + amount
    return totals


def parsed(amounts: Mapping[str, str] | None) -> Totals:
    return {name: quantity.parse(text) for name, text in (amounts or {}).items()}


def _pod_level(pod: Object, ctx: Context, key: str, with_status: bool) -> Totals:
    """What the pod itself asks for, which replaces the sums."""
    own = (pod["spec"].get("resources") or {}).get(key)
    if not own or "PodLevelResources" not in ctx.gates:
        return {}
    every = [own]
    if with_status and "InPlacePodLevelResourcesVerticalScaling" in ctx.gates:
        status = pod.get("status") or {}
        every += [(status.get("resources") or {}).get(key), *([status.get("allocatedResources")] if key == "requests" else [])]
    return {name: amount for name, amount in _greatest(every).items() if resources.is_pod_level(name)}


def _counted(pod: Object, key: str, with_status: bool) -> Object:
    """The spec with the resources of each container that count: the greater of what it asks for and what it has.

    Upstream: determineContainerReqs, determineContainerLimits
    """
    spec: Object = pod["spec"]
    status = pod.get("status") or {}
    if not with_status or not (status.get("containerStatuses") or status.get("initContainerStatuses")):
        return spec
    infeasible = any(
        each.get("type") == "PodResizePending" and each.get("reason") == INFEASIBLE for each in status.get("conditions") or ()
    )
    made = dict(spec)
    for name, statuses in (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")):
        known = {each.get("name"): each for each in status.get(statuses) or ()}
        made[name] = [
            _with_status(container, known.get(container["name"]), key, infeasible)
            if name == "containers" or resources.is_sidecar(container)
            else container
            for container in spec.get(name) or ()
        ]
    return made


def _with_status(container: Object, status: Object | None, key: str, infeasible: bool) -> Object:
    if status is None or status.get("resources") is None:
        return container
    every = [] if infeasible else [container["resources"].get(key)]
    every += [status["resources"].get(key), *([status.get("allocatedResources")] if key == "requests" else [])]
    amounts = {name: amount.text for name, amount in _greatest(every).items()}
    return {**container, "resources": {**container["resources"], key: amounts}}


def _greatest(every: Iterable[Mapping[str, str] | None]) -> Totals:
    totals: Totals = {}
    for each in every:
        for name, amount in parsed(each).items():
            if name not in totals or amount > totals[name]:
                totals[name] = amount
    return totals
