"""Priority: a pod gets the priority and preemption policy of its PriorityClass; one class at most is the default.

Upstream: the admission plugin Priority
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import MUTATING, Write
from podstrat.strategy.admission.world import PRIORITY_CLASS

Object = dict[str, Any]

PREEMPT = "PreemptLowerPriority"
SYSTEM: dict[str, Object] = {
    "system-node-critical": {"value": 2000001000, "preemptionPolicy": PREEMPT},
    "system-cluster-critical": {"value": 2000000000, "preemptionPolicy": PREEMPT},
}
"""The classes that every server has."""
COMPUTED = "must not be provided in pod spec; priority admission controller computed"


def concerns(write: Write) -> bool:
    """Pods are changed, classes are validated."""
    return not write.subresource and write.operation != "DELETE" and (write.resource == "pods") == (write.phase == MUTATING)


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Admit"""
    if request.operation == "CREATE":
        yield from _on_create(request, request.object["spec"])
    elif request.operation == "UPDATE" and request.old is not None:
        spec, stored = request.object["spec"], request.old.get("spec") or {}
        for name in ("priority", "preemptionPolicy"):
            if spec.get(name) is None and name in stored:
                spec[name] = stored[name]
                yield f"spec.{name}"


def _on_create(request: Attributes, spec: Object) -> Iterator[str]:
    """Upstream: admitPod"""
    name = spec.get("priorityClassName", "")
    if name:
        chosen = SYSTEM.get(name) or request.find(PRIORITY_CLASS, name)
        if chosen is None:
            raise request.forbidden(f"no PriorityClass with name {name} was found")
    else:
        chosen = _default(request)
        if chosen is not None:
            spec["priorityClassName"] = chosen["metadata"]["name"]
            yield "spec.priorityClassName"
    value, policy = (0, PREEMPT) if chosen is None else (chosen.get("value", 0), chosen.get("preemptionPolicy", PREEMPT))
    given = spec.get("priority")
    if given is not None and given != value:
        raise request.forbidden(f"the integer value of priority ({given}) {COMPUTED} {value} from the given PriorityClass name")
    if given is None:
        spec["priority"] = value
        yield "spec.priority"
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        words = f"{COMPUTED} {policy} from the given PriorityClass name"
        raise request.forbidden(f"the string value of PreemptionPolicy ({given}) {words}")
    if given is None:
        spec["preemptionPolicy"] = policy
        yield "spec.preemptionPolicy"


def _default(request: Attributes) -> Object | None:
    """The default class; of several the one with the lowest value.

    Upstream: getDefaultPriorityClass
    """
    marked = [each for each in request.every(PRIORITY_CLASS) if each.get("globalDefault")]
    return min(marked, key=lambda each: each.get("value", 0), default=None)


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Only one class is the default.

    Upstream: validatePriorityClass
    """
    if request.object.get("globalDefault"):
        usual = _default(request)
        if usual is not None and (request.operation == "CREATE" or usual["metadata"]["name"] != request.name):
            name = usual["metadata"]["name"]
            words = f"PriorityClass {name} is already marked as default. Only one default can exist"
            raise request.forbidden(words)
    yield from ()
