"""LimitRanger: containers get the default requests and limits of LimitRanges, and pods and claims stay within their bounds.

Upstream: the admission plugin LimitRanger
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from podstrat.strategy import resources
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import VALIDATING, Write
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


def concerns(write: Write) -> bool:
    """Creates, resizes of pods and updates of claims.

    Upstream: SupportsAttributes
    """
    if write.resource == CLAIMS:
        return not write.subresource and write.operation != "DELETE" and write.phase == VALIDATING
    return not write.subresource if write.operation == "CREATE" else write.operation == "UPDATE" and write.subresource == "resize"


def _is_deleted(old: Object | None) -> bool:
    """Whether the object is being deleted: then it is let be.

    Upstream: LimitRanger.runLimitFunc
    """
    return old is not None and "deletionTimestamp" in (old.get("metadata") or {})


# ---- defaults ----------------------------------------------------------------------------------------------


class Defaults(NamedTuple):
    """The requests, or the limits, that containers get which say nothing."""

    field: str
    noun: str
    amounts: dict[str, str]
    places: dict[str, str]
    """By resource: where it stands in a container."""


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: PodMutateLimitFunc"""
    if _is_deleted(request.old):
        return
    for limit_range in request.every(LIMIT_RANGE, request.namespace):
        if defaults := request.derived(limit_range, _defaults):
            yield from _fill(request.object, defaults)


def _defaults(limit_range: Object) -> tuple[Defaults, ...]:
    """Upstream: defaultContainerResourceRequirements"""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for limit in (limit_range.get("spec") or {}).get("limits") or ():
        if limit.get("type") == "Container":
            requests |= limit.get("defaultRequest") or {}
            limits |= limit.get("default") or {}
    return tuple(
        Defaults(field, noun, amounts, {name: f".resources.{field}[{name}]" for name in amounts})
        for field, noun, amounts in (("requests", "request", requests), ("limits", "limit", limits))
        if amounts
    )


def _fill(pod: Object, defaults: tuple[Defaults, ...]) -> list[str]:
    """Sets the requests and limits of containers that say nothing; the fields that are set."""
    told: list[str] = []
    changed: list[str] = []
    for key, what in (("containers", "container"), ("initContainers", "init container")):
        for index, container in enumerate(pod["spec"].get(key) or ()):
            resources = container["resources"]
            at = f"spec.{key}[{index}]"
            for field, noun, amounts, places in defaults:
                own = resources.get(field) or {}
                added = sorted(amounts.keys() - own)
                if added:
                    filled = own.copy()
                    for name in added:
                        filled[name] = amounts[name]
                        changed.append(at + places[name])
                    resources = container["resources"] = {**resources, field: filled}
                    told.append(f"{', '.join(added)} {noun} for {what} {container['name']}")
    if told:
        metadata = pod["metadata"]
        text = "LimitRanger plugin set: " + "; ".join(told)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}
        changed.append(f"metadata.annotations[{ANNOTATION}]")
    return changed


# ---- bounds ------------------------------------------------------------------------------------------------


class Usage(NamedTuple):
    """What a container, a pod or a claim asks for."""

    type: str
    requests: Amounts
    limits: Amounts


class Bounds(NamedTuple):
    """What a LimitRange wants of objects of a type."""

    type: str
    least: Texts
    most: Texts
    ratio: Texts


def _bounds(limit_range: Object) -> tuple[Bounds, ...]:
    limits = (limit_range.get("spec") or {}).get("limits") or ()
    kinds = ("min", "max", "maxLimitRequestRatio")
    every = (Bounds(limit.get("type", ""), *(_texts(limit.get(kind)) for kind in kinds)) for limit in limits)
    return tuple(bounds for bounds in every if any(bounds[1:]))


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: PodValidateLimitFunc, PersistentVolumeClaimValidateLimitFunc"""
    if _is_deleted(request.old):
        return
    faults = _claim_faults if request.resource == CLAIMS else _pod_faults
    for limit_range in request.every(LIMIT_RANGE, request.namespace):
        texts = list(dict.fromkeys(faults(request, request.derived(limit_range, _bounds))))
        if texts:
            raise request.forbidden(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    yield from ()


def _pod_faults(request: Attributes, every: tuple[Bounds, ...]) -> Iterator[str]:
    spec = request.object["spec"]
    for bounds in every:
        if bounds.type == "Container":
            for container in (*(spec["containers"] or ()), *(spec.get("initContainers") or ())):
                needs = container["resources"]
                yield from _container_faults(bounds, _texts(needs.get("requests")), _texts(needs.get("limits")))
        elif bounds.type == "Pod":
            yield from _faults(bounds, _of_pod(spec, "PodLevelResources" in request.ctx.gates))


@lru_cache(maxsize=4096)
def _container_faults(bounds: Bounds, requests: Texts, limits: Texts) -> tuple[str, ...]:
    """What is wrong with the resources of a container. Replicas, and whole clusters, have few that differ."""
    names = {name for amounts in (bounds.least, bounds.most, bounds.ratio) for name, _ in amounts}
    return tuple(_faults(bounds, Usage("Container", _some(dict(requests), names), _some(dict(limits), names))))


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


def _faults(bounds: Bounds, usage: Usage) -> Iterator[str]:
    for check, amounts in ((_below, bounds.least), (_above, bounds.most), (_ratio, bounds.ratio)):
        for name, text in amounts:
            yield from check(name, quantity.parse(text), usage)


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


def _claim_faults(request: Attributes, every: tuple[Bounds, ...]) -> Iterator[str]:
    """Claims have requests only.

    Upstream: minRequestConstraint, maxRequestConstraint
    """
    requests = _parsed((request.object["spec"].get("resources") or {}).get("requests"))
    usage = Usage("PersistentVolumeClaim", requests, {})
    for bounds in every:
        if bounds.type != "PersistentVolumeClaim":
            continue
        for name, text in bounds.least:
            yield from _below(name, quantity.parse(text), usage)
        for name, text in bounds.most:
            bound = quantity.parse(text)
            asked, _, most = _values(name, bound, usage)
            words = f"maximum {name} usage per {usage.type} is {bound.text}"
            if name not in requests:
                yield f"{words}.  No request is specified"
            elif asked > most:
                yield f"{words}, but request is {requests[name].text}"
