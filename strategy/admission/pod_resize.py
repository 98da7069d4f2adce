"""PodResizeValidator: a pod is resized only on a Linux node that has room for it.

Upstream: the admission plugin PodResizeValidator
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.admission import node_declared_features, pod_totals
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write

Object = dict[str, Any]

OS = "kubernetes.io/os"


def concerns(write: Write) -> bool:
    return write.operation == "UPDATE" and write.subresource == "resize"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Validate"""
    if not node_declared_features.changes_spec(request):
        return
    node = node_declared_features.node_of(request)
    system = ((node.get("metadata") or {}).get("labels") or {}).get(OS)
    if system is not None and system != "linux":
        words = f'pod resize is only supported on linux nodes, node "{node["metadata"]["name"]}" is "{system}"'
        raise _refusal(request, words, "UnsupportedPlatform")
    if lacking := list(_lacking(request, node)):
        raise _refusal(request, f"node didn't have enough allocatable resources: {'; '.join(lacking)}", "NodeCapacity")
    yield from ()


def _lacking(request: Attributes, node: Object) -> Iterator[str]:
    """What the pod requests beyond what the node can give: cpu in milli-units, memory in bytes."""
    wanted = pod_totals.requests(request.object, request.ctx, with_status=False)
    allocatable = pod_totals.parsed((node.get("status") or {}).get("allocatable"))
    cpu, room = (each["cpu"].milli() if "cpu" in each else 0 for each in (wanted, allocatable))
    if cpu > room:
        yield f"cpu, requested: {cpu}, allocatable: {room}"
    memory, room = (each["memory"].value() if "memory" in each else 0 for each in (wanted, allocatable))
    if memory > room:
        yield f"memory, requested: {memory}, allocatable: {room}"


def _refusal(request: Attributes, cause: str, reason: str) -> errors.Forbidden:
    error = request.forbidden(cause)
    error.details = {**(error.details or {}), "causes": [{"reason": reason}]}
    return error
