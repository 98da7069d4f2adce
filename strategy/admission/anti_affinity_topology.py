"""LimitPodHardAntiAffinityTopology: required anti-affinity of pods is about host names only.

Upstream: the admission plugin LimitPodHardAntiAffinityTopology
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes

HOSTNAME = "kubernetes.io/hostname"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Validate"""
    if request.subresource or request.operation == "DELETE":
        return
    anti = (request.object["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    for term in anti.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term.get("topologyKey", "")
        if key != HOSTNAME:
            words = "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey"
            raise request.forbidden(f"{words} {key} but only key {HOSTNAME} is allowed")
    yield from ()
