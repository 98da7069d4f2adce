"""Admission of a pod to a simulated node, as a kubelet does it: node affinity, and room for what is requested. Pure.

A rejected pod is Failed at once, with the reason and a message that begins with "Pod was rejected: ".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from podstrat.node.model import Object
from podstrat.strategy.formats import quantity
from podstrat.strategy.resources import is_sidecar

COUNTED = ("cpu", "memory", "ephemeral-storage")
"""Resources that are compared. Devices are a matter of preparation: a pod waits for them."""
AFFINITY = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"


class Rejection(NamedTuple):
    reason: str
    message: str

    @property
    def text(self) -> str:
        return f"Pod was rejected: {self.message}"


def rejection(pod: Object, node: Object, others: Iterable[Object]) -> Rejection | None:
    """Why the pod cannot run on the node beside the others; None: it can."""
    if not _matches(pod["spec"], node):
        return Rejection("NodeAffinity", AFFINITY)
    allocatable: Object = (node.get("status") or {}).get("allocatable") or {}
    others = list(others)
    if "pods" in allocatable and len(others) + 1 > quantity.parse(str(allocatable["pods"])).value():
        count = quantity.parse(str(allocatable["pods"])).value()
        return Rejection("OutOfpods", _short("pods", 1, len(others), count))
    for resource in COUNTED:
        if resource not in allocatable:
            continue
        request, capacity = requested(pod, resource), _number(resource, allocatable[resource])
        usage = sum(requested(each, resource) for each in others)
        if request and usage + request > capacity:
            return Rejection(f"OutOf{resource}", _short(resource, request, usage, capacity))
    return None


def requested(pod: Object, resource: str) -> int:
    """What a pod requests: containers and sidecars together, or the largest init container. Millis of cpu, bytes of others."""
    spec = pod["spec"]
    running = sum(_request(each, resource) for each in spec["containers"])
    largest = 0
    for each in spec.get("initContainers") or ():
        if is_sidecar(dict(each)):
            running += _request(each, resource)
        else:
            largest = max(largest, _request(each, resource))
    overhead = spec.get("overhead") or {}
    return max(running, largest) + (_number(resource, overhead[resource]) if resource in overhead else 0)


def _request(container: Object, resource: str) -> int:
    requests = (container.get("resources") or {}).get("requests") or {}
    return _number(resource, requests[resource]) if resource in requests else 0


def _number(resource: str, text: Any) -> int:
    parsed = quantity.parse(str(text))
    return parsed.milli() if resource == "cpu" else parsed.value()


def _short(resource: str, request: int, usage: int, capacity: int) -> str:
    return f"Node didn't have enough resource: {resource}, requested: {request}, used: {usage}, capacity: {capacity}"


# Node affinity


def _matches(spec: Object, node: Object) -> bool:
    labels: Mapping[str, str] = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if affinity is None:
        return True
    fields = {"metadata.name": node["metadata"]["name"]}
    return any(
        (term.get("matchExpressions") or term.get("matchFields"))
        and all(_holds(each, labels) for each in term.get("matchExpressions") or ())
        and all(_holds(each, fields) for each in term.get("matchFields") or ())
        for term in affinity.get("nodeSelectorTerms") or ()
    )


def _holds(requirement: Object, values: Mapping[str, str]) -> bool:
    value, operands = values.get(requirement["key"]), requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value in operands
        case "NotIn":
            return value not in operands
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            try:
                number, limit = int(value or ""), int(operands[0])
            except (ValueError, IndexError):
                return False
            return number > limit if operator == "Gt" else number < limit
