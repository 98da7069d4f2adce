"""Iterators over the objects of a pod that hold gated fields, with the path to each.

A Holders names the types of its objects, as the API reference does, and walks a pod for them. They are built from each other:
``each`` goes into a list, ``inside`` into an object, ``joined`` takes several together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod

Found = Iterator[tuple[str, dict[str, Any]]]


class Holders(NamedTuple):
    """All objects of one kind in a pod."""

    types: tuple[str, ...]
    walk: Callable[[Pod], Found]


def _whole(key: str, type_name: str) -> Holders:
    def walk(pod: Pod) -> Found:
        if key in pod:
            yield key, pod[key]

    return Holders((type_name,), walk)


def inside(holders: Holders, key: str, type_name: str) -> Holders:
    def walk(pod: Pod) -> Found:
        for path, holder in holders.walk(pod):
            if key in holder:
                yield f"{path}.{key}", holder[key]

    return Holders((type_name,), walk)


def each(holders: Holders, key: str, type_name: str) -> Holders:
    def walk(pod: Pod) -> Found:
        for path, holder in holders.walk(pod):
            for i, item in enumerate(holder.get(key) or ()):
                yield f"{path}.{key}[{i}]", item

    return Holders((type_name,), walk)


def joined(*several: Holders) -> Holders:
    def walk(pod: Pod) -> Found:
        for holders in several:
            yield from holders.walk(pod)

    types = dict.fromkeys(name for holders in several for name in holders.types)
    return Holders(tuple(types), walk)


SPEC = _whole("spec", "PodSpec")
POD_SECURITY_CONTEXT = inside(SPEC, "securityContext", "PodSecurityContext")
TOLERATIONS = each(SPEC, "tolerations", "Toleration")
TOPOLOGY_SPREAD_CONSTRAINTS = each(SPEC, "topologySpreadConstraints", "TopologySpreadConstraint")

INIT_CONTAINERS = each(SPEC, "initContainers", "Container")
MAIN_CONTAINERS = each(SPEC, "containers", "Container")
EPHEMERAL_CONTAINERS = each(SPEC, "ephemeralContainers", "EphemeralContainer")
CONTAINERS = joined(INIT_CONTAINERS, MAIN_CONTAINERS, EPHEMERAL_CONTAINERS)
ENV_SOURCES = inside(each(CONTAINERS, "env", "EnvVar"), "valueFrom", "EnvVarSource")
LIFECYCLES = inside(CONTAINERS, "lifecycle", "Lifecycle")
HANDLERS = joined(inside(LIFECYCLES, "postStart", "LifecycleHandler"), inside(LIFECYCLES, "preStop", "LifecycleHandler"))
PROBES = joined(
    inside(CONTAINERS, "livenessProbe", "Probe"),
    inside(CONTAINERS, "readinessProbe", "Probe"),
    inside(CONTAINERS, "startupProbe", "Probe"),
)
HTTP_GETS = inside(joined(PROBES, HANDLERS), "httpGet", "HTTPGetAction")
GRPC_PROBES = inside(PROBES, "grpc", "GRPCAction")
RESOURCES = inside(CONTAINERS, "resources", "ResourceRequirements")
SECURITY_CONTEXTS = inside(CONTAINERS, "securityContext", "SecurityContext")
VOLUME_MOUNTS = each(CONTAINERS, "volumeMounts", "VolumeMount")

VOLUMES = each(SPEC, "volumes", "Volume")
EMPTY_DIRS = inside(VOLUMES, "emptyDir", "EmptyDirVolumeSource")
PROJECTIONS = each(inside(VOLUMES, "projected", "ProjectedVolumeSource"), "sources", "VolumeProjection")

STATUS = _whole("status", "PodStatus")
CONDITIONS = each(STATUS, "conditions", "PodCondition")
CONTAINER_STATUSES = joined(
    each(STATUS, "containerStatuses", "ContainerStatus"),
    each(STATUS, "initContainerStatuses", "ContainerStatus"),
    each(STATUS, "ephemeralContainerStatuses", "ContainerStatus"),
)
MOUNT_STATUSES = each(CONTAINER_STATUSES, "volumeMounts", "VolumeMountStatus")
RESOURCE_HEALTHS = each(each(CONTAINER_STATUSES, "allocatedResourcesStatus", "ResourceStatus"), "resources", "ResourceHealth")
