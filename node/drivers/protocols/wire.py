"""gRPC methods: paths on the wire, and their message classes.

The paths are written out, because our messages have package names of their own: see node/drivers/protos/README.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from podstrat.node.drivers.generated import (
    deviceplugin_pb2,
    documents_pb2,
    dra_pb2,
    health_pb2,
    podresources_pb2,
    registration_pb2,
)


class Method(NamedTuple):
    path: str
    request: Any
    response: Any
    streams: bool = False
    """The server answers with any number of messages."""


GET_INFO = Method("/pluginregistration.Registration/GetInfo", registration_pb2.InfoRequest, registration_pb2.PluginInfo)
NOTIFY = Method(
    "/pluginregistration.Registration/NotifyRegistrationStatus",
    registration_pb2.RegistrationStatus,
    registration_pb2.RegistrationStatusResponse,
)

REGISTER = Method("/v1beta1.Registration/Register", deviceplugin_pb2.RegisterRequest, deviceplugin_pb2.Empty)
OPTIONS = Method("/v1beta1.DevicePlugin/GetDevicePluginOptions", deviceplugin_pb2.Empty, deviceplugin_pb2.DevicePluginOptions)
LIST_AND_WATCH = Method(
    "/v1beta1.DevicePlugin/ListAndWatch", deviceplugin_pb2.Empty, deviceplugin_pb2.ListAndWatchResponse, streams=True
)
PREFERRED = Method(
    "/v1beta1.DevicePlugin/GetPreferredAllocation",
    deviceplugin_pb2.PreferredAllocationRequest,
    deviceplugin_pb2.PreferredAllocationResponse,
)
ALLOCATE = Method("/v1beta1.DevicePlugin/Allocate", deviceplugin_pb2.AllocateRequest, deviceplugin_pb2.AllocateResponse)
PRE_START = Method(
    "/v1beta1.DevicePlugin/PreStartContainer",
    deviceplugin_pb2.PreStartContainerRequest,
    deviceplugin_pb2.PreStartContainerResponse,
)


def prepare(version: str) -> Method:
    """NodePrepareResources of `v1` or `v1beta1`."""
    path = f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/NodePrepareResources"
    return Method(path, dra_pb2.NodePrepareResourcesRequest, dra_pb2.NodePrepareResourcesResponse)


def unprepare(version: str) -> Method:
    """NodeUnprepareResources of `v1` or `v1beta1`."""
    path = f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/NodeUnprepareResources"
    return Method(path, dra_pb2.NodeUnprepareResourcesRequest, dra_pb2.NodeUnprepareResourcesResponse)


def node_watch_resources(version: str) -> Method:
    """The released health service, of `v1` or `v1alpha1`."""
    path = f"/{version}.DRAResourceHealth/NodeWatchResources"
    return Method(path, health_pb2.NodeWatchResourcesRequest, health_pb2.NodeWatchResourcesResponse, streams=True)


WATCH_RESOURCES = Method(
    "/v1alpha1.NodeHealth/WatchResources",
    documents_pb2.WatchResourcesRequest,
    documents_pb2.WatchResourcesResponse,
    streams=True,
)
WATCH_DEVICES_STATUS = Method(
    "/v1alpha1.NodeHealth/WatchDevicesStatus", documents_pb2.Empty, documents_pb2.DevicesStatusResponse, streams=True
)

LIST_PODS = Method(
    "/v1.PodResourcesLister/List", podresources_pb2.ListPodResourcesRequest, podresources_pb2.ListPodResourcesResponse
)
GET_POD = Method("/v1.PodResourcesLister/Get", podresources_pb2.GetPodResourcesRequest, podresources_pb2.GetPodResourcesResponse)
ALLOCATABLE = Method(
    "/v1.PodResourcesLister/GetAllocatableResources",
    podresources_pb2.AllocatableResourcesRequest,
    podresources_pb2.AllocatableResourcesResponse,
)
