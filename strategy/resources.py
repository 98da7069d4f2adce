"""Aggregate pod resources: the containers' requests and limits, and pod-level resources."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import Quantity

Spec = dict[str, Any]
Totals = dict[str, Quantity]
Amounts = tuple[tuple[str, str], ...]
"""Amounts as they are written, by resource."""
Names = Collection[str] | None
"""The resources that count; None for all."""

COMPUTE = ("cpu", "memory")
HUGEPAGES = "hugepages-"
REMEMBERED = 512
"""Characters of a sum that is worth remembering."""


def is_pod_level(name: str) -> bool:
    """Whether spec.resources may name this resource: cpu, memory or huge pages.

    Upstream: IsSupportedPodLevelResource
    """
    return name in COMPUTE or name.startswith(HUGEPAGES)


def has_pod_level(spec: Spec) -> bool:
    """Whether spec.resources requests or limits anything that it may: an empty one does not.

    Upstream: IsPodLevelResourcesSet
    """
    resources = spec.get("resources") or {}
    return any(is_pod_level(name) for kind in ("requests", "limits") for name in resources.get(kind) or ())


def is_sidecar(container: dict[str, Any]) -> bool:
    """Whether an init container keeps running beside the containers.

    Upstream: IsRestartableInitContainer
    """
    return container.get("restartPolicy") == "Always"


def aggregate_requests(spec: Spec, names: Names = None) -> Totals:
    """What the containers request together: see aggregate_limits.

    Upstream: AggregateContainerRequests
    """
    return _aggregate(spec, "requests", names)


def aggregate_limits(spec: Spec, names: Names = None) -> Totals:
    """The sum over containers and sidecars, or what the largest step of the initialization needs if that is more.

    A step is one init container with the sidecars that were started before it. Ephemeral containers do not count.
    Upstream: AggregateContainerLimits
    """
    return _aggregate(spec, "limits", names)


def add(total: Totals, more: Totals) -> None:
    """Adds amounts by name to a running total.

    Upstream: addResourceList
    """
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _aggregate(spec: Spec, kind: str, names: Names) -> Totals:
    total = _sum(spec["containers"] or (), kind, names)
    if not spec.get("initContainers"):
        return total
    started: Totals = {}
    largest: Totals = {}
    for container in spec["initContainers"]:
        own = {name: quantity.parse(text) for name, text in _amounts(container, kind, names)}
        if is_sidecar(container):
            add(total, own)
            add(started, own)
            _raise(largest, started)
        else:
            # Its own amounts come first: they decide the family of suffixes in which the sum is printed.
            add(own, started)
            _raise(largest, own)
    _raise(total, largest)
    return total


def _sum(containers: Sequence[dict[str, Any]], kind: str, names: Names) -> Totals:
    """The sum over containers. Adding costs most, and replicas, and whole clusters, have few sums that differ."""
    amounts = tuple([_amounts(container, kind, names) for container in containers])
    size = sum([len(name) + len(text) for each in amounts for name, text in each])
    return _summed(amounts).copy() if size <= REMEMBERED else _summed.__wrapped__(amounts)


@lru_cache(maxsize=1024)
def _summed(amounts: tuple[Amounts, ...]) -> Totals:
    total: Totals = {}
    for each in amounts:
        add(total, {name: quantity.parse(text) for name, text in each})
    return total


def _amounts(container: dict[str, Any], kind: str, names: Names) -> Amounts:
    own = container["resources"].get(kind)
    if not own:
        return ()
    return tuple(own.items()) if names is None else tuple([(name, own[name]) for name in names if name in own])


def _raise(total: Totals, other: Totals) -> None:
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount
