"""ExtendedResourceToleration: a pod that requests an extended resource tolerates nodes that are tainted for it.

Upstream: the admission plugin ExtendedResourceToleration
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.rules.resources import is_extended

NO_SCHEDULE, EXISTS = "NoSchedule", "Exists"


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: plugin.Admit"""
    if request.subresource or request.operation == "DELETE":
        return
    spec = request.object["spec"]
    containers = (*(spec["containers"] or ()), *(spec.get("initContainers") or ()))
    names = {name for each in containers for name in each["resources"].get("requests") or () if is_extended(name)}
    for name in sorted(names):
        wanted = {"key": name, "operator": EXISTS, "effect": NO_SCHEDULE}
        tolerations = list(spec.get("tolerations") or ())
        index = next((i for i, each in enumerate(tolerations) if _matches(each, wanted)), len(tolerations))
        if tolerations[index : index + 1] == [wanted]:
            continue
        tolerations[index : index + 1] = [wanted]
        spec["tolerations"] = tolerations
        yield f"spec.tolerations[{index}]"


def _matches(one: dict[str, str], other: dict[str, str]) -> bool:
    """Upstream: Toleration.MatchToleration"""
    return all(one.get(name, "") == other.get(name, "") for name in ("key", "effect", "operator", "value"))
