"""The messages, byte for byte: worked out by hand from the numbers of the fields.

A field begins with its number times eight plus its wire type: 0 for numbers, 2 for what has a length. So field 1 is 08 or 0a,
field 2 is 10 or 12, field 3 is 18 or 1a, field 4 is 20 or 22, field 5 is 28 or 2a. Zeros and empty texts are left out.
"""

from __future__ import annotations

import asyncio
import filecmp
import socket
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool
from grpc_tools import protoc

from podstrat.node.drivers.generated import (
    deviceplugin_pb2,
    documents_pb2,
    dra_pb2,
    health_pb2,
    podresources_pb2,
    registration_pb2,
)
from podstrat.node.drivers.protocols import calls, dra, podresources, streams, wire
from podstrat.node.drivers.protocols.serving import Server
from podstrat.node.model import Reading

ROOT = Path(__file__).parents[3]

MESSAGES = [
    pytest.param(
        registration_pb2.PluginInfo(type="DRAPlugin", name="g", endpoint="/e", supported_versions=["v1", "v2"]),
        "0a 09 445241506c7567696e  12 01 67  1a 02 2f65  22 02 7631  22 02 7632",
        id="PluginInfo",
    ),
    pytest.param(
        registration_pb2.RegistrationStatus(plugin_registered=True, error="e"), "08 01  12 01 65", id="RegistrationStatus"
    ),
    pytest.param(
        deviceplugin_pb2.RegisterRequest(
            version="v1beta1",
            endpoint="e",
            resource_name="r",
            options={"pre_start_required": True, "get_preferred_allocation_available": True},
        ),
        "0a 07 76316265746131  12 01 65  1a 01 72  22 04 08 01 10 01",
        id="RegisterRequest",
    ),
    pytest.param(
        deviceplugin_pb2.ListAndWatchResponse(devices=[{"ID": "a", "health": "H", "topology": {"nodes": [{"ID": 1}]}}]),
        "0a 0c  0a 01 61  12 01 48  1a 04 0a 02 08 01",
        id="ListAndWatchResponse",
    ),
    pytest.param(
        deviceplugin_pb2.AllocateRequest(container_requests=[{"devices_ids": ["a", "b"]}]),
        "0a 06  0a 01 61  0a 01 62",
        id="AllocateRequest",
    ),
    pytest.param(
        deviceplugin_pb2.ContainerAllocateResponse(
            envs={"k": "v"},
            mounts=[{"container_path": "c", "host_path": "h", "read_only": True}],
            devices=[{"container_path": "c", "host_path": "h", "permissions": "r"}],
            annotations={"k": "v"},
            cdi_devices=[{"name": "n"}],
        ),
        "0a 06 0a 01 6b 12 01 76  12 08 0a 01 63 12 01 68 18 01  1a 09 0a 01 63 12 01 68 1a 01 72"
        "  22 06 0a 01 6b 12 01 76  2a 03 0a 01 6e",
        id="ContainerAllocateResponse",
    ),
    pytest.param(
        deviceplugin_pb2.PreferredAllocationRequest(
            container_requests=[{"available_deviceIDs": ["a"], "must_include_deviceIDs": ["b"], "allocation_size": 2}]
        ),
        "0a 08  0a 01 61  12 01 62  18 02",
        id="PreferredAllocationRequest",
    ),
    pytest.param(
        deviceplugin_pb2.PreferredAllocationResponse(container_responses=[{"deviceIDs": ["a"]}]),
        "0a 03 0a 01 61",
        id="PreferredAllocationResponse",
    ),
    pytest.param(deviceplugin_pb2.PreStartContainerRequest(devices_ids=["a"]), "0a 01 61", id="PreStartContainerRequest"),
    pytest.param(
        dra_pb2.NodePrepareResourcesRequest(claims=[{"namespace": "n", "uid": "u", "name": "c"}]),
        "0a 09  0a 01 6e  12 01 75  1a 01 63",
        id="NodePrepareResourcesRequest",
    ),
    pytest.param(
        dra_pb2.NodePrepareResourcesResponse(
            claims={
                "u": dra_pb2.NodePrepareResourceResponse(
                    devices=[
                        {"request_names": ["r"], "pool_name": "p", "device_name": "d", "cdi_device_ids": ["c"], "share_id": ""}
                    ],
                    error="e",
                    permanent_error=True,
                )
            }
        ),
        # A map is a list of entries with the key in field 1 and the value in field 2. An optional text may be empty and there.
        "0a 1a  0a 01 75  12 15  0a 0e  0a 01 72  12 01 70  1a 01 64  22 01 63  2a 00  12 01 65  18 01",
        id="NodePrepareResourcesResponse",
    ),
    pytest.param(
        dra_pb2.NodeUnprepareResourcesResponse(claims={"u": dra_pb2.NodeUnprepareResourceResponse(error="e")}),
        "0a 08  0a 01 75  12 03 0a 01 65",
        id="NodeUnprepareResourcesResponse",
    ),
    pytest.param(
        health_pb2.NodeWatchResourcesResponse(
            devices=[
                {
                    "device": {"pool_name": b"p", "device_name": b"d"},
                    "health": health_pb2.UNHEALTHY,
                    "last_updated_time": 300,
                    "health_check_timeout_seconds": -1,
                    "message": b"m",
                }
            ]
        ),
        # 300 is ac 02; -1 is ten bytes, as every negative number.
        "0a 1b  0a 06 0a 01 70 12 01 64  10 02  18 ac 02  20 ff ff ff ff ff ff ff ff ff 01  2a 01 6d",
        id="NodeWatchResourcesResponse",
    ),
    pytest.param(
        documents_pb2.WatchResourcesResponse(
            devices=[
                {
                    "pool_name": b"p",
                    "device_name": b"d",
                    "health_status": b"H",
                    "last_updated_timestamp": 1,
                    "health_check_timeout_seconds": 2,
                }
            ]
        ),
        "0a 0d  0a 01 70  12 01 64  1a 01 48  20 01  28 02",
        id="WatchResourcesResponse",
    ),
    pytest.param(
        documents_pb2.DevicesStatusResponse(
            devices=[{"request_names": [b"r"], "pool_name": b"p", "device_name": b"d", "cdi_device_ids": [b"c"], "health": b"H"}]
        ),
        "0a 0f  0a 01 72  12 01 70  1a 01 64  22 01 63  2a 01 48",
        id="DevicesStatusResponse",
    ),
    pytest.param(
        podresources_pb2.ListPodResourcesResponse(
            pod_resources=[
                {
                    "name": "p",
                    "namespace": "n",
                    "containers": [
                        {
                            "name": "c",
                            "devices": [{"resource_name": "r", "device_ids": ["a"], "topology": {"nodes": [{"ID": 1}]}}],
                            "cpu_ids": [1, 2],
                            "memory": [{"memory_type": "m", "size": 1}],
                            "dynamic_resources": [
                                {
                                    "claim_name": "c",
                                    "claim_namespace": "n",
                                    "claim_resources": [
                                        {
                                            "cdi_devices": [{"name": "x"}],
                                            "driver_name": "d",
                                            "pool_name": "p",
                                            "device_name": "v",
                                            "share_id": "s",
                                        }
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ]
        ),
        "0a 3f  0a 01 70  12 01 6e  1a 37"
        "  0a 01 63"
        "  12 0c  0a 01 72  12 01 61  1a 04 0a 02 08 01"
        "  1a 02 01 02"
        "  22 05  0a 01 6d  10 01"
        "  2a 19  12 01 63  1a 01 6e  22 11"
        "  0a 03 0a 01 78  12 01 64  1a 01 70  22 01 76  2a 01 73",
        id="ListPodResourcesResponse",
    ),
    pytest.param(
        podresources_pb2.GetPodResourcesRequest(pod_name="p", pod_namespace="n"),
        "0a 01 70  12 01 6e",
        id="GetPodResourcesRequest",
    ),
    pytest.param(
        podresources_pb2.AllocatableResourcesResponse(devices=[{"resource_name": "r", "device_ids": ["a"]}], cpu_ids=[3]),
        "0a 06 0a 01 72 12 01 61  12 01 03",
        id="AllocatableResourcesResponse",
    ),
]


@pytest.mark.parametrize("message, text", MESSAGES)
def test_a_message_is_these_bytes(message, text):
    assert message.SerializeToString(deterministic=True).hex(" ") == bytes.fromhex(text).hex(" ")
    assert type(message).FromString(bytes.fromhex(text)) == message


def test_the_documents_two_revisions_of_one_field_do_not_disturb_each_other():
    with_name = bytes.fromhex("0a 0e  0a 01 70  12 01 64  1a 01 48  2a 03") + b"p/d"
    (device,) = documents_pb2.WatchResourcesResponse.FromString(with_name).devices
    assert device.health_check_timeout_seconds == 0
    assert device.health_status == b"H"


def admits(pool, name):
    return True


def test_text_that_is_none_does_not_spoil_the_rest_of_a_message():
    message = health_pb2.NodeWatchResourcesResponse.FromString(bytes.fromhex("0a 0b  0a 06 0a 01 70 12 01 64  2a 01 ff"))
    assert list(streams.V1.read(message, admits)) == [Reading("p", "d", "Unknown", "\ufffd", 0)]


@pytest.mark.parametrize("stream", [*streams.RELEASED, *streams.DOCUMENTS], ids=lambda stream: stream.name)
def test_what_one_end_writes_the_other_reads(stream):
    said = [Reading("pool", "gpu-0", "Unhealthy", "broken", 60), Reading("a/b", "gpu-1", "Unknown", "", 0)]
    read = list(stream.read(stream.write(said), admits))
    assert [each[:3] for each in read] == [each[:3] for each in said]
    if stream in streams.RELEASED:
        assert read == said


PATHS = [
    (wire.GET_INFO, "/pluginregistration.Registration/GetInfo"),
    (wire.NOTIFY, "/pluginregistration.Registration/NotifyRegistrationStatus"),
    (wire.REGISTER, "/v1beta1.Registration/Register"),
    (wire.OPTIONS, "/v1beta1.DevicePlugin/GetDevicePluginOptions"),
    (wire.LIST_AND_WATCH, "/v1beta1.DevicePlugin/ListAndWatch"),
    (wire.PREFERRED, "/v1beta1.DevicePlugin/GetPreferredAllocation"),
    (wire.ALLOCATE, "/v1beta1.DevicePlugin/Allocate"),
    (wire.PRE_START, "/v1beta1.DevicePlugin/PreStartContainer"),
    (wire.prepare("v1"), "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"),
    (wire.prepare("v1beta1"), "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources"),
    (wire.unprepare("v1"), "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources"),
    (wire.unprepare("v1beta1"), "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodeUnprepareResources"),
    (streams.V1.method, "/v1.DRAResourceHealth/NodeWatchResources"),
    (streams.V1ALPHA1.method, "/v1alpha1.DRAResourceHealth/NodeWatchResources"),
    (streams.NEWER.method, "/v1alpha1.NodeHealth/WatchResources"),
    (streams.OLDER.method, "/v1alpha1.NodeHealth/WatchDevicesStatus"),
    (wire.LIST_PODS, "/v1.PodResourcesLister/List"),
    (wire.GET_POD, "/v1.PodResourcesLister/Get"),
    (wire.ALLOCATABLE, "/v1.PodResourcesLister/GetAllocatableResources"),
]


@pytest.mark.parametrize("method, path", PATHS, ids=[path for _, path in PATHS])
def test_a_call_has_this_path(method, path):
    assert method.path == path


def test_none_of_the_generic_names_is_taken_in_the_pool_that_all_libraries_share():
    pool = descriptor_pool.Default()
    for name in (
        "v1.DeviceHealth",
        "v1.PodResources",
        "v1beta1.Device",
        "v1alpha1.DeviceHealth",
        "pluginregistration.PluginInfo",
    ):
        with pytest.raises(KeyError):
            pool.FindMessageTypeByName(name)
    assert pool.FindMessageTypeByName("podstrat.node.state.health.DeviceHealth")


def test_the_generated_code_is_what_the_protos_make(tmp_path):
    """`make protos`, elsewhere."""
    protos, generated = ROOT / "node" / "drivers" / "protos", ROOT / "node" / "drivers" / "generated"
    files = sorted(path.name for path in protos.glob("*.proto"))
    arguments = [
        f"-Ipodstrat/node/drivers/generated={ROOT / 'node' / 'drivers' / 'protos'}",
        f"--python_out={tmp_path}",
        f"--pyi_out={tmp_path}",
    ]
    assert protoc.main(["protoc", *arguments, *(f"podstrat/node/drivers/generated/{name}" for name in files)]) == 0
    folder = tmp_path / "podstrat" / "node" / "drivers" / "generated"
    made = sorted(path.name for path in folder.iterdir())
    kept = sorted(path.name for path in generated.iterdir() if path.suffix in (".py", ".pyi") and path.stem != "__init__")
    assert made == kept
    _, different, missing = filecmp.cmpfiles(folder, generated, made, shallow=False)
    assert (different, missing) == ([], [])


async def test_the_authority_is_localhost(root):
    """Strict servers refuse the percent-encoded path, which gRPC would send otherwise."""
    got = asyncio.get_running_loop().create_future()

    async def talk(reader, writer):
        writer.write(bytes.fromhex("000000 04 00 00000000"))  # empty settings: enough for the client to begin
        text = b""
        while b"GetInfo" not in text:
            text += await reader.read(4096)
        got.set_result(text)
        writer.close()

    async with await asyncio.start_unix_server(talk, root / "x.sock"):
        with pytest.raises(calls.CallFailed):
            await calls.call(str(root / "x.sock"), wire.GET_INFO, registration_pb2.InfoRequest(), 30.0)
        text = await got
        assert b"localhost" in text
        assert b"x.sock" not in text


async def test_a_socket_that_nobody_serves_is_an_error_at_once(root):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(root / "x.sock"))
    for path in ("x.sock", "y.sock"):
        with pytest.raises(calls.CallFailed) as failure:
            await calls.call(str(root / path), wire.GET_INFO, registration_pb2.InfoRequest(), 600.0)
        assert failure.value.code == "UNAVAILABLE"


async def test_the_kubelets_list_of_devices(root):
    numa = {"resource_name": "example.com/gpu", "topology": {"nodes": [{"ID": 0}]}}
    claim = {
        "claim_name": "train-gpu",
        "claim_namespace": "default",
        "claim_resources": [{"driver_name": "gpu.example.com", "pool_name": "node-1", "device_name": "gpu-3"}],
    }
    pod = {
        "name": "train",
        "namespace": "default",
        "containers": [
            {
                "name": "main",
                "devices": [{**numa, "device_ids": ["b", "a"]}, {**numa, "device_ids": ["a"]}],
                "dynamic_resources": [claim],
            },
            {"name": "side"},
        ],
    }

    async def pods(_):
        return podresources_pb2.ListPodResourcesResponse(pod_resources=[pod])

    async def one(request):
        assert (request.pod_namespace, request.pod_name) == ("default", "train")
        return podresources_pb2.GetPodResourcesResponse(pod_resources=pod)

    async def allocatable(_):
        return podresources_pb2.AllocatableResourcesResponse(devices=[{**numa, "device_ids": ["a", "c"]}])

    path = str(root / "kubelet.sock")
    async with Server(path, {wire.LIST_PODS: pods, wire.GET_POD: one, wire.ALLOCATABLE: allocatable}):
        wanted = podresources.PodDevices(
            "default",
            "train",
            {"main": {"example.com/gpu": ("b", "a")}},
            {"main": (podresources.ClaimDevice("default", "train-gpu", "gpu.example.com", "node-1", "gpu-3"),)},
        )
        assert await podresources.pods(path, 30.0) == [wanted]
        assert await podresources.pod(path, "default", "train", 30.0) == wanted
        assert await podresources.allocatable(path, 30.0) == {"example.com/gpu": ("a", "c")}


def field(number, data):
    """A length-delimited protobuf field."""
    return bytes([number << 3 | 2, len(data)]) + data


@pytest.mark.parametrize(
    "appended, permanent",
    [pytest.param(b"\x18\x01", True, id="interceptor"), pytest.param(b"", False, id="plain")],
)
async def test_the_bytes_that_a_go_interceptor_appends_are_a_permanent_error(root, appended, permanent):
    """KEP-5322 from Go: field 3 is unknown to upstream's messages, and goes out behind the known ones."""
    upstream = field(2, b"no firmware")  # a NodePrepareResourceResponse with its error
    answer = field(1, field(1, b"uid-1") + field(2, upstream + appended))  # the map of claims

    async def prepare(_):
        return answer

    path = str(root / "dra.sock")
    async with Server(path, {wire.prepare("v1"): prepare}):
        result = await dra.prepare(path, "v1", [dra.Claim("default", "claim", "uid-1")])
    assert result == {"uid-1": dra.Result(error="no firmware", permanent=permanent)}
