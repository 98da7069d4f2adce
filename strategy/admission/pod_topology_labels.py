"""PodTopologyLabels: a pod gets the zone and region of its node as labels.

Upstream: the admission plugin PodTopologyLabels
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.world import NODE

GATE = "PodTopologyLabelsAdmission"
LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def concerns(write: Write) -> bool:
    return write.operation == "CREATE" and write.subresource in ("", "binding")


def is_idle(write: Write, world: Prepared, config: None) -> bool:
    return world.has_none(NODE)


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """On create with a node name, and when a pod is bound: then the Binding carries the labels to the pod.

    Upstream: Plugin.Admit
    """
    if GATE not in request.ctx.gates:
        return
    obj = request.object
    if request.subresource == "binding":
        target = obj.get("target") or {}
        name = target.get("name", "") if target.get("kind") == "Node" else ""
    else:
        name = obj["spec"].get("nodeName", "")
    node = request.find(NODE, name) if name else None
    if node is None:
        return
    found = (node.get("metadata") or {}).get("labels") or {}
    labels = {key: found[key] for key in LABELS if key in found}
    if labels:
        obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), **labels}
        yield from (f"metadata.labels[{key}]" for key in labels)
