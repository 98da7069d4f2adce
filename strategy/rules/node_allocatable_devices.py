"""Resources of the node that a device stands for or needs besides: cpu, memory, huge pages."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import quantity
from podstrat.strategy.rules.declarative import covered

NAMES = ("cpu", "memory", "ephemeral-storage")
HUGE_PAGES = "hugepages-"


def each(mapped: dict[str, Pod], capacity: dict[str, Pod], at: str) -> Errors:
    """Upstream: validateNodeAllocatableResources"""
    for name, resource in mapped.items():
        here = f"{at}[{name}]"
        if name not in NAMES and not name.startswith(HUGE_PAGES):
            yield field.invalid(here, name, "must be a node allocatable resource name")
        mapping, overhead = resource.get("mapping"), resource.get("overhead")
        if mapping is None and overhead is None:
            yield field.required(here, "at least one of mapping or overhead must be set")
        if mapping is not None:
            yield from _mapping(mapping, capacity, f"{here}.mapping")
        if overhead is not None:
            yield from _overhead(overhead, f"{here}.overhead")


def _mapping(mapping: Pod, capacity: dict[str, Pod], at: str) -> Errors:
    """Upstream: validateNodeAllocatableMapping"""
    key, multiplier = mapping.get("capacityKey"), mapping.get("capacityMultiplier")
    if key is not None:
        if not key:
            yield field.invalid(f"{at}.capacityKey", "", "capacityKey must not be an empty string")
        elif key not in capacity:
            yield field.not_found(f"{at}.capacityKey", key)
        if multiplier is None:
            text = "capacityMultiplier is required when capacityKey is set"
            yield from covered([field.required(f"{at}.capacityMultiplier", text)])
        elif quantity.parse(multiplier).sign <= 0:
            yield field.invalid(f"{at}.capacityMultiplier", quantity.parse(multiplier).text, "must be positive")
    of_device = mapping.get("deviceMultiplier")
    if of_device is not None and quantity.parse(of_device).sign <= 0:
        yield field.invalid(f"{at}.deviceMultiplier", quantity.parse(of_device).text, "must be positive")
    if multiplier is not None and key is None:
        yield from covered([field.required(f"{at}.capacityKey", "capacityKey is required when capacityMultiplier is set")])


def _overhead(overhead: Pod, at: str) -> Errors:
    """Upstream: validateNodeAllocatableOverheadMapping"""
    if "perPod" not in overhead and "perContainer" not in overhead:
        yield field.invalid(at, "", "at least one of perPod or perContainer must be set")
        return
    for name in ("perPod", "perContainer"):
        if name in overhead and quantity.parse(overhead[name]).sign < 0:
            yield field.invalid(f"{at}.{name}", quantity.parse(overhead[name]).text, "must be non-negative")
