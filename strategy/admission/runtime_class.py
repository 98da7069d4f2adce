"""RuntimeClass: a pod gets the overhead, node selector and tolerations of its RuntimeClass.

Upstream: the admission plugin RuntimeClass
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.admission import tolerations
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.world import RUNTIME_CLASS
from podstrat.strategy.formats import quantity

Object = dict[str, Any]

MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
UNDEFINED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


def concerns(write: Write) -> bool:
    return write.operation == "CREATE" and not write.subresource


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: RuntimeClass.Admit"""
    found = _of(request)
    if found is None:
        return
    spec = request.object["spec"]
    overhead = (found.get("overhead") or {}).get("podFixed")
    if found.get("overhead") is not None:
        if spec.get("overhead") and not _is_equal(spec["overhead"], overhead):
            raise request.forbidden(MISMATCH)
        if overhead:
            spec["overhead"] = dict(overhead)
            yield "spec.overhead"
    if found.get("scheduling") is not None:
        yield from _scheduling(request, spec, found["scheduling"])


def _scheduling(request: Attributes, spec: Object, scheduling: Object) -> Iterator[str]:
    """Upstream: setScheduling"""
    wanted, own = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in wanted.items():
        if key in own and own[key] != value:
            raise request.forbidden(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own[key]}"
            )
    if wanted.keys() - own.keys():
        spec["nodeSelector"] = {**own, **wanted}
        yield "spec.nodeSelector"
    before = spec.get("tolerations") or []
    merged = tolerations.merge(before, scheduling.get("tolerations") or ())
    if merged != before:
        spec["tolerations"] = merged
        yield "spec.tolerations"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: validateOverhead"""
    found = _of(request)
    overhead = request.object["spec"].get("overhead")
    if found is not None and found.get("overhead") is not None:
        if not _is_equal(overhead or {}, found["overhead"].get("podFixed")):
            raise request.forbidden(MISMATCH)
    elif overhead is not None:
        raise request.forbidden(UNDEFINED)
    yield from ()


def _of(request: Attributes) -> Object | None:
    """The RuntimeClass of the pod; None if it names none."""
    name = request.object["spec"].get("runtimeClassName")
    if name is None:
        return None
    if not name:
        # The name is sent to the storage as it is, and that refuses.
        raise errors.ServerError("resource name may not be empty")
    found = request.find(RUNTIME_CLASS, name)
    if found is None:
        raise request.forbidden(f'pod rejected: RuntimeClass "{name}" not found')
    return found


def _is_equal(one: Mapping[str, str], other: Mapping[str, str] | None) -> bool:
    other = other or {}
    return one.keys() == other.keys() and all(quantity.compare(one[name], other[name]) == 0 for name in one)
