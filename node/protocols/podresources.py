"""podresources: what the kubelet beside us has given to its pods.

It has no watch, is limited to so many calls a second over all its clients, and goes away while the kubelet restarts: a call that
fails says nothing about the devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from node.generated import podresources_pb2
from node.protocols import calls, wire


class ClaimDevice(NamedTuple):
    """A device of a claim. The protocol does not say for which request."""

    namespace: str
    claim: str
    driver: str
    pool: str
    name: str


class PodDevices(NamedTuple):
    """What one pod has. The protocol does not say the pod's UID."""

    namespace: str
    name: str
    plugins: dict[str, dict[str, tuple[str, ...]]]
    """By container and resource: the IDs."""
    claims: dict[str, tuple[ClaimDevice, ...]]
    """By container."""


async def pods(socket: str, timeout: float) -> list[PodDevices]:
    """All active pods. (The call makes the kubelet forget the devices of pods that are not.)"""
    answer = await calls.call(socket, wire.LIST_PODS, podresources_pb2.ListPodResourcesRequest(), timeout)
    return [_pod(pod) for pod in answer.pod_resources]


async def pod(socket: str, namespace: str, name: str, timeout: float) -> PodDevices:
    """One pod, which may also be one that has ended."""
    request = podresources_pb2.GetPodResourcesRequest(pod_namespace=namespace, pod_name=name)
    answer = await calls.call(socket, wire.GET_POD, request, timeout)
    return _pod(answer.pod_resources)


async def allocatable(socket: str, timeout: float) -> dict[str, tuple[str, ...]]:
    """The IDs of the healthy devices of each resource, whether given to a pod or not."""
    answer = await calls.call(socket, wire.ALLOCATABLE, podresources_pb2.AllocatableResourcesRequest(), timeout)
    return _by_resource(answer.devices)


def _pod(pod: Any) -> PodDevices:
    return PodDevices(
        pod.namespace,
        pod.name,
        {container.name: devices for container in pod.containers if (devices := _by_resource(container.devices))},
        {container.name: claims for container in pod.containers if (claims := _of_claims(container.dynamic_resources))},
    )


def _by_resource(devices: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """One list for each resource. A device occurs once for each of its NUMA nodes, and once here."""
    merged: dict[str, dict[str, None]] = {}
    for each in devices:
        merged.setdefault(each.resource_name, {}).update(dict.fromkeys(each.device_ids))
    return {resource: tuple(ids) for resource, ids in merged.items()}


def _of_claims(resources: Iterable[Any]) -> tuple[ClaimDevice, ...]:
    return tuple(
        ClaimDevice(each.claim_namespace, each.claim_name, device.driver_name, device.pool_name, device.device_name)
        for each in resources
        for device in each.claim_resources
    )
