"""Optional rules beyond the server: mistakes of status writers that every server accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules.pod_annotations import MIRROR

LISTS = (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"))


def known_containers(pod: Pod) -> Errors:
    """Device health is reported for containers that the pod has. The server lets statuses of others pass."""
    for key, containers in LISTS:
        names = {each["name"] for each in pod["spec"].get(containers) or ()}
        for i, status in enumerate(pod["status"].get(key) or ()):
            if status.get("allocatedResourcesStatus") and status["name"] not in names:
                yield field.not_found(f"status.{key}[{i}].name", status["name"])


def named_devices(pod: Pod) -> Errors:
    """A device whose health is reported has an id. The server takes an empty one."""
    for key, _ in LISTS:
        for i, status in enumerate(pod["status"].get(key) or ()):
            for j, resource in enumerate(status.get("allocatedResourcesStatus") or ()):
                at = f"status.{key}[{i}].allocatedResourcesStatus[{j}]"
                for k, device in enumerate(resource.get("resources") or ()):
                    if not device["resourceID"]:
                        yield field.required(f"{at}.resources[{k}].resourceID")


def seen_generation(pod: Pod) -> Errors:
    """observedGeneration does not exceed the pod's generation. The server takes any that is not negative.

    A static pod's generation is the kubelet's own affair, and a pod without one has nothing to compare.
    """
    metadata, status = pod["metadata"], pod["status"]
    reached = metadata.get("generation", 0)
    if not reached or MIRROR in (metadata.get("annotations") or ()):
        return
    holders = [("status", status)]
    holders += [(f"status.conditions[{i}]", each) for i, each in enumerate(status.get("conditions") or ())]
    for at, holder in holders:
        generation = holder.get("observedGeneration", 0)
        if generation > reached:
            yield field.invalid(
                f"{at}.observedGeneration", generation, f"must not be greater than metadata.generation ({reached})"
            )


RULES: Mapping[str, Callable[[Pod], Errors]] = MappingProxyType(
    {
        "known-containers": known_containers,
        "named-devices": named_devices,
        "seen-generation": seen_generation,
    }
)
