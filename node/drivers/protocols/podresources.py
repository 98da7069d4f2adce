"""podresources: the devices that the kubelet has allocated to its pods.

It has no watch, is rate limited over all clients, and is unavailable while the kubelet restarts: a failed call says nothing about
devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.node.drivers.generated import podresources_pb2
from podstrat.node.drivers.protocols import calls, wire
from podstrat.node.model import ClaimDevice, PodDevices


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
    """Devices of claims, in the kubelet's order.

    `cdi_devices` is cumulative per driver within a claim: the list of device k holds the IDs of devices 1 to k. So a device's own
    first ID stands behind those of the device before it.
    """
    devices = []
    for each in resources:
        lengths: dict[str, int] = {}
        for device in each.claim_resources:
            before = lengths.get(device.driver_name, 0)
            names = [cdi.name for cdi in device.cdi_devices]
            lengths[device.driver_name] = len(names)
            own = names[before] if len(names) > before else ""
            where = (each.claim_namespace, each.claim_name)
            devices.append(ClaimDevice(*where, device.driver_name, device.pool_name, device.device_name, own))
    return tuple(devices)
