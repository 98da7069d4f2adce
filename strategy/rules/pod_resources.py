"""Pod-level resources: requests and limits against those of the containers."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy import resources as amounts
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import quantity
from podstrat.strategy.rules import resources

SUPPORTED = ("cpu", "hugepages-", "memory")

NOT_ON_WINDOWS = "may not be set for a windows pod"
NO_CLAIMS = "claims may not be set for Resources at pod-level"


def pod_level(spec: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Resources of the pod are cpu, memory and huge pages, and enough for its containers.

    Upstream: validatePodResources
    """
    requirements = spec.get("resources")
    if requirements is None:
        return
    if (spec.get("os") or {}).get("name") == "windows":
        yield field.forbidden(f"{at}.resources", NOT_ON_WINDOWS)
        return
    if "claims" in requirements:
        yield field.forbidden(f"{at}.resources.claims", NO_CLAIMS)
    yield from resources.requirements(requirements, f"{at}.resources", spec, ctx, _name)
    yield from _enough(requirements, spec, f"{at}.resources")


def _name(name: str, path: str, ctx: Context) -> Errors:
    """Upstream: validatePodResourceName"""
    faults = list(resources.qualified_name(name, path, ctx))
    yield from faults
    if not faults and not amounts.is_pod_level(name):
        yield field.not_supported(path, name, SUPPORTED)


def _enough(requirements: dict[str, Any], spec: dict[str, Any], at: str) -> Errors:
    """The pod requests at least what its containers request together, and no container may use more than the pod.

    Upstream: validatePodResourceConsistency
    """
    limits, requests = requirements.get("limits") or {}, requirements.get("requests") or {}
    if requests:
        yield from _at_least(requests, amounts.aggregate_requests(spec), f"{at}.requests", "requests")
    pages = {name: text for name, text in limits.items() if name.startswith(resources.HUGEPAGES)}
    if pages:
        yield from _at_least(pages, amounts.aggregate_limits(spec), f"{at}.limits", "limits")
    for i, container in enumerate(spec["containers"] or () if limits else ()):
        for name, text in (container["resources"].get("limits") or {}).items():
            most = limits.get(name)
            if most is not None and quantity.parse(text) > quantity.parse(most):
                place = (*field.place_of(at)[:-1], "containers", i, "resources", "limits", name)
                detail = f"must be less than or equal to pod limits of {most}"
                yield field.invalid(f"{at}.containers[{i}][{name}].limits", text, detail, place)


def _at_least(pod_amounts: dict[str, str], needed: dict[str, quantity.Quantity], at: str, what: str) -> Errors:
    for name, text in pod_amounts.items():
        least = needed.get(name)
        if least is not None and quantity.parse(text) < least:
            detail = f"must be greater than or equal to aggregate container {what} of {least.text}"
            yield field.invalid(f"{at}[{name}]", text, detail)
