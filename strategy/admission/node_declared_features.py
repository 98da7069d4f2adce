"""NodeDeclaredFeatureValidator: a change of a pod that needs a feature of its node is refused where the node does not declare it.

Upstream: the admission plugin NodeDeclaredFeatureValidator
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from podstrat.strategy import kinds, qos, resources
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.world import NODE
from podstrat.strategy.context import V1_36, V1_37
from podstrat.strategy.formats import quantity
from podstrat.strategy.verbs import incoming

Object = dict[str, Any]

POD_LEVEL = "InPlacePodLevelResourcesVerticalScaling"
INIT = "InPlacePodVerticalScalingInitContainers"
VOLUMES = "InPlacePodVerticalScalingMemoryBackedVolumes"
GUARANTEED_CPU = "GuaranteedQoSPodCPUResize"


def concerns(write: Write) -> bool:
    return write.operation == "UPDATE" and write.subresource in ("", "resize")


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Only changes of the spec of a pod on a node are looked at.

    Upstream: Plugin.Validate
    """
    if request.old is None or "NodeDeclaredFeatures" not in request.ctx.gates or not changes_spec(request):
        return
    needed = sorted(_needed(request, request.object["spec"], request.old["spec"]))
    if not needed:
        return
    node = node_of(request)
    missing = [name for name in needed if name not in ((node.get("status") or {}).get("declaredFeatures") or ())]
    if missing:
        words = f"pod update requires features {', '.join(missing)} which are not available on node"
        raise request.forbidden(f'{words} "{node["metadata"]["name"]}"')
    yield from ()


def changes_spec(request: Attributes) -> bool:
    """Whether the pod is on a node, and the request raises its generation."""
    old = request.old or {}
    if not request.object["spec"].get("nodeName"):
        return False
    after, before = (each["metadata"].get("generation", 0) for each in (request.object, old))
    return bool(after > before)


def node_of(request: Attributes) -> Object:
    """The node of the pod; Forbidden if there is none."""
    name = request.object["spec"]["nodeName"]
    node = request.find(NODE, name)
    if node is None:
        raise request.forbidden(f'node "{name}" not found')
    return node


def _needed(request: Attributes, new: Object, old: Object) -> Iterator[str]:
    """Upstream: Feature.InferForUpdate"""
    version = request.ctx.version
    if not _same_resources(new.get("resources"), old.get("resources")):
        yield POD_LEVEL
    if version < V1_36:
        if qos.of(request.object, request.ctx) == qos.GUARANTEED and _cpus(new) != _cpus(old):
            yield GUARANTEED_CPU
        return
    if _respelled(request, old):
        yield INIT
    if version >= V1_37 and _memory_volumes(new) != _memory_volumes(old):
        yield VOLUMES


def _same_resources(one: Object | None, other: Object | None) -> bool:
    lists = ("requests", "limits")
    return all(_amounts((one or {}).get(name)) == _amounts((other or {}).get(name)) for name in lists)


def _amounts(amounts: Mapping[str, str] | None) -> dict[str, quantity.Quantity]:
    return {name: quantity.parse(text) for name, text in (amounts or {}).items()}


def _cpus(spec: Object) -> list[Any]:
    return [_amounts(each["resources"].get("requests")).get("cpu") for each in spec.get("containers") or ()]


def _memory_volumes(spec: Object) -> dict[str, quantity.Quantity | None]:
    volumes = [each for each in spec.get("volumes") or () if (each.get("emptyDir") or {}).get("medium") == "Memory"]
    limits = {each["name"]: each["emptyDir"].get("sizeLimit") for each in volumes}
    return {name: None if text is None else quantity.parse(text) for name, text in limits.items()}


def _respelled(request: Attributes, old: Object) -> bool:
    """Whether the resources of an init container that ends are written otherwise: the server compares them unparsed."""
    sent = incoming.as_written(request.request, request.old, kinds.POD, request.ctx)
    spec = sent.get("spec") if isinstance(sent, Mapping) else None
    written = {each.get("name"): each for each in (spec or {}).get("initContainers") or () if isinstance(each, Mapping)}
    for container in request.object["spec"].get("initContainers") or ():
        before = next((each for each in old.get("initContainers") or () if each["name"] == container["name"]), None)
        if before is None or resources.is_sidecar(container):
            continue
        if not _same_resources(container["resources"], before["resources"]):
            return True
        as_sent = (written.get(container["name"]) or {}).get("resources") or {}
        for name in ("requests", "limits"):
            stored = before["resources"].get(name) or {}
            if any(str(text) != stored.get(key) for key, text in (as_sent.get(name) or {}).items()):
                return True
    return False
