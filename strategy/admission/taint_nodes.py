"""TaintNodesByCondition: a new node is tainted as not ready until its kubelet says otherwise.

Upstream: the admission plugin TaintNodesByCondition
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes

NOT_READY = "node.kubernetes.io/not-ready"
NO_SCHEDULE = "NoSchedule"


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Admit"""
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.object.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any(taint.get("key") == NOT_READY and taint.get("effect") == NO_SCHEDULE for taint in taints):
        spec["taints"] = [*taints, {"key": NOT_READY, "effect": NO_SCHEDULE}]
        yield f"spec.taints[{len(taints)}]"
