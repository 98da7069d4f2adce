"""LimitRanger: containers get the default requests and limits of LimitRanges, and pods and claims stay within their bounds.

Upstream: the admission plugin LimitRanger
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from podstrat.strategy import resources
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.world import LIMIT_RANGE
from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import ZERO, Quantity

Object = dict[str, Any]
Amounts = Mapping[str, Quantity]
Texts = tuple[tuple[str, str], ...]
"""Amounts as they are written, by resource."""

ANNOTATION: Final = "kubernetes.io/limit-ranger"
CLAIMS: Final = "persistentvolumeclaims"
MAX_MILLI: Final = (2**63 - 1) // 1000
"""The largest whole number whose milli-units fit into an int64: up to there amounts are compared in milli-units."""


def is_idle(write: Write, world: Prepared, config: None) -> bool:
    return world.has_none(LIMIT_RANGE, write.namespace)


def _concerns(request: Attributes) -> bool:
    """Creates, resizes of pods and updates of claims, unless the object is being deleted.

    Upstream: SupportsAttributes, LimitRanger.runLimitFunc
    """
    if request.operation == "DELETE" or "deletionTimestamp" in ((request.old or {}).get("metadata") or {}):
        return False
    if request.resource == CLAIMS:
        return not request.subresource
    if request.operation == "CREATE":
        return not request.subresource
    return request.subresource == "resize"


# ---- defaults ----------------------------------------------------------------------------------------------


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: PodMutateLimitFunc"""
    if request.resource == CLAIMS or not _concerns(request):
        return
    for limit_range in request.every(LIMIT_RANGE, request.namespace):
        requests, limits = _defaults(limit_range)
        if requests or limits:
            yield from _fill(request.object, requests, limits)


def _defaults(limit_range: Object) -> tuple[dict[str, str], dict[str, str]]:
    """The requests and limits of containers that say nothing.

    Upstream: defaultContainerResourceRequirements
    """
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") == "Container":
            requests |= limit.get("defaultRequest") or {}
            limits |= limit.get("default") or {}
    return requests, limits


def _fill(pod: Object, requests: dict[str, str], limits: dict[str, str]) -> Iterator[str]:
    told: list[str] = []
    for key, what in (("containers", "container"), ("initContainers", "init container")):
        for index, container in enumerate(pod["spec"].get(key) or ()):
            for name, defaults in (("requests", requests), ("limits", limits)):
                own = container["resources"].get(name) or {}
                added = {resource: text for resource, text in defaults.items() if resource not in own}
                if added:
                    container["resources"] = {**container["resources"], name: {**own, **added}}
                    told.append(f"{', '.join(sorted(added))} {name[:-1]} for {what} {container['name']}")
                    yield from (f"spec.{key}[{index}].resources.{name}[{resource}]" for resource in sorted(added))
    if told:
        metadata = pod["metadata"]
        text = "LimitRanger plugin set: " + "; ".join(told)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}
        yield f"metadata.annotations[{ANNOTATION}]"


# ---- bounds ------------------------------------------------------------------------------------------------


class Usage(NamedTuple):
    """What a container, a pod or a claim asks for."""

    type: str
    requests: Amounts
    limits: Amounts


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: PodValidateLimitFunc, PersistentVolumeClaimValidateLimitFunc"""
    if not _concerns(request):
        return
    for limit_range in request.every(LIMIT_RANGE, request.namespace):
        faults = _claim_faults if request.resource == CLAIMS else _pod_faults
        texts = list(dict.fromkeys(faults(request, limit_range)))
        if texts:
            raise request.forbidden(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    yield from ()


def _pod_faults(request: Attributes, limit_range: Object) -> Iterator[str]:
    spec = request.object["spec"]
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") == "Container":
            bounds = _texts(limit.get("min")), _texts(limit.get("max")), _texts(limit.get("maxLimitRequestRatio"))
            for container in (*(spec["containers"] or ()), *(spec.get("initContainers") or ())):
                needs = container["resources"]
                yield from _container_faults(bounds, _texts(needs.get("requests")), _texts(needs.get("limits")))
        elif limit.get("type") == "Pod":
            yield from _faults(_bounds(limit), _of_pod(spec, "PodLevelResources" in request.ctx.gates))


@lru_cache(maxsize=4096)
def _container_faults(bounds: tuple[Texts, Texts, Texts], requests: Texts, limits: Texts) -> tuple[str, ...]:
    """What is wrong with the resources of a container. Replicas, and whole clusters, have few that differ."""
    amounts = _parsed(dict(bounds[0])), _parsed(dict(bounds[1])), _parsed(dict(bounds[2]))
    names = {name for each in amounts for name in each}
    return tuple(_faults(amounts, Usage("Container", _some(dict(requests), names), _some(dict(limits), names))))


def _texts(amounts: Mapping[str, str] | None) -> Texts:
    return tuple(amounts.items()) if amounts else ()


def _of_pod(spec: Object, pod_level: bool) -> Usage:
    """The sums over the containers; what the pod itself says replaces them."""
    requests, limits = resources.aggregate_requests(spec), resources.aggregate_limits(spec)
    own = (spec.get("resources") or {}) if pod_level else {}
    for name, totals in (("requests", requests), ("limits", limits)):
        totals.update({key: each for key, each in _parsed(own.get(name)).items() if key in resources.COMPUTE})
    return Usage("Pod", requests, limits)


def _parsed(amounts: Mapping[str, str] | None) -> Amounts:
    return {name: quantity.parse(text) for name, text in (amounts or {}).items()}


def _some(amounts: Mapping[str, str] | None, names: Collection[str]) -> Amounts:
    return {name: quantity.parse(amounts[name]) for name in names if name in amounts} if amounts else {}


def _bounds(limit: Object) -> tuple[Amounts, Amounts, Amounts]:
    """Minimum, maximum and ratio by resource."""
    return _parsed(limit.get("min")), _parsed(limit.get("max")), _parsed(limit.get("maxLimitRequestRatio"))


def _faults(bounds: tuple[Amounts, Amounts, Amounts], usage: Usage) -> Iterator[str]:
    for check, amounts in zip((_below, _above, _ratio), bounds, strict=True):
        for name, bound in amounts.items():
            yield from check(name, bound, usage)


def _below(name: str, bound: Quantity, usage: Usage) -> Iterator[str]:
    """Upstream: minConstraint"""
    request, limit, least = _values(name, bound, usage)
    words = f"minimum {name} usage per {usage.type} is {bound.text}"
    if name not in usage.requests:
        yield f"{words}.  No request is specified"
    elif request < least:
        yield f"{words}, but request is {usage.requests[name].text}"
    elif name in usage.limits and limit < least:
        yield f"{words}, but limit is {usage.limits[name].text}"


def _above(name: str, bound: Quantity, usage: Usage) -> Iterator[str]:
    """Upstream: maxConstraint"""
    request, limit, most = _values(name, bound, usage)
    words = f"maximum {name} usage per {usage.type} is {bound.text}"
    if name not in usage.limits:
        yield f"{words}.  No limit is specified"
    elif limit > most:
        yield f"{words}, but limit is {usage.limits[name].text}"
    elif name in usage.requests and request > most:
        yield f"{words}, but request is {usage.requests[name].text}"


def _ratio(name: str, bound: Quantity, usage: Usage) -> Iterator[str]:
    """Upstream: limitRequestRatioConstraint"""
    request, limit, _ = _values(name, bound, usage)
    words = f"{name} max limit to request ratio per {usage.type} is {bound.text}, but"
    if name not in usage.requests or request == 0:
        yield f"{words} no request is specified or request is 0"
    elif name not in usage.limits or limit == 0:
        yield f"{words} no limit is specified or limit is 0"
    else:
        ratio = limit / request
        fits = bound.value() <= MAX_MILLI
        if (ratio * 1000 > float(bound.milli())) if fits else (ratio > float(bound.value())):
            yield f"{words} provided ratio is {ratio:f}"


def _values(name: str, bound: Quantity, usage: Usage) -> tuple[int, int, int]:
    """Request, limit and bound as numbers: milli-units, or whole ones where these would not fit.

    Upstream: requestLimitEnforcedValues
    """
    every = usage.requests.get(name, ZERO), usage.limits.get(name, ZERO), bound
    request, limit, enforced = (each.value() for each in every)
    if max(request, limit, enforced) <= MAX_MILLI:
        request, limit, enforced = (each.milli() for each in every)
    return request, limit, enforced


def _claim_faults(request: Attributes, limit_range: Object) -> Iterator[str]:
    """Claims have requests only.

    Upstream: minRequestConstraint, maxRequestConstraint
    """
    requests = _parsed((request.object["spec"].get("resources") or {}).get("requests"))
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        usage = Usage("PersistentVolumeClaim", requests, {})
        for name, bound in _parsed(limit.get("min")).items():
            yield from _below(name, bound, usage)
        for name, bound in _parsed(limit.get("max")).items():
            asked, _, most = _values(name, bound, usage)
            words = f"maximum {name} usage per {usage.type} is {bound.text}"
            if name not in requests:
                yield f"{words}.  No request is specified"
            elif asked > most:
                yield f"{words}, but request is {requests[name].text}"
