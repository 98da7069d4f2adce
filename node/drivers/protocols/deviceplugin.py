"""The device plugin protocol: the server that plugins register with, and the calls that a plugin answers."""

from __future__ import annotations

import os
import socket as sockets
import stat
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.node.drivers.generated import deviceplugin_pb2 as messages
from podstrat.node.drivers.protocols import calls, serving, streams, wire
from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Reading

VERSION = "v1beta1"
KUBELET_SOCKET = "kubelet.sock"


class Registration(NamedTuple):
    """A plugin's request to be used."""

    version: str
    endpoint: str
    """A file in the directory of kubelet.sock."""
    resource: str


class Options(NamedTuple):
    pre_start: bool
    preferred_allocation: bool


class Allocation(NamedTuple):
    """What a container gets with its devices."""

    envs: Mapping[str, str]
    mounts: tuple[tuple[str, str, bool], ...]
    """In the container, on the host, read only."""
    nodes: tuple[tuple[str, str, str], ...]
    """In the container, on the host, permissions."""
    annotations: Mapping[str, str]
    cdi_devices: tuple[str, ...]


class Registry:
    """The server on kubelet.sock. `register` takes a registration, or raises ValueError with the reason for the plugin."""

    def __init__(self, directory: Path, register: Callable[[Registration], None]) -> None:
        self.directory = directory
        self.socket = directory / KUBELET_SOCKET
        self._register = register
        self._server = serving.Server(str(self.socket), {wire.REGISTER: self._answer})

    async def start(self) -> None:
        """Removes all sockets of the directory, as a kubelet does: the signal for plugins to register again."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if answers(self.socket):
            raise FileExistsError(f"{self.socket}: already in use; is a kubelet running on this node?")
        for path in self.directory.iterdir():
            if stat.S_ISSOCK(path.lstat().st_mode):
                path.unlink(missing_ok=True)
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()

    async def _answer(self, request: Any) -> Any:
        try:
            self._register(Registration(request.version, request.endpoint, request.resource_name))
        except ValueError as refusal:
            raise serving.CallRefused("INVALID_ARGUMENT", str(refusal)) from None
        return messages.Empty()


def answers(path: Path) -> bool:
    """Whether a process listens on a socket."""
    if len(os.fsencode(path)) > calls.LONGEST_PATH:
        return False
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


async def options(socket: str, timeout: float) -> Options:
    answer = await calls.call(socket, wire.OPTIONS, messages.Empty(), timeout)
    return Options(answer.pre_start_required, answer.get_preferred_allocation_available)


async def devices(socket: str, keeps: streams.Keeps = streams.EVERYTHING) -> AsyncGenerator[list[Reading], None]:
    """All devices, again whenever something about them changes."""
    async with aclosing(calls.stream(socket, wire.LIST_AND_WATCH, messages.Empty())) as answers:
        async for answer in answers:
            yield await streams.kept(_read(answer, keeps.admission()))
            del answer


def _read(message: Any, admits: streams.Admits) -> Iterator[Reading | None]:
    for device in message.devices:
        yield Reading("", device.ID, health_of(device.health)) if admits("", device.ID) else None


def health_of(text: str) -> str:
    """Only `Healthy` is healthy, as in the kubelet; unlike there, `Unknown` stays Unknown."""
    return text if text in (HEALTHY, UNKNOWN) else UNHEALTHY


async def preferred(
    socket: str, available: Sequence[str], required: Sequence[str], count: int, timeout: float
) -> tuple[str, ...]:
    """Which of the available devices the plugin would take for one container."""
    request = messages.PreferredAllocationRequest()
    request.container_requests.add(available_deviceIDs=available, must_include_deviceIDs=required, allocation_size=count)
    answer = await calls.call(socket, wire.PREFERRED, request, timeout)
    return tuple(answer.container_responses[0].deviceIDs) if answer.container_responses else ()


async def allocate(socket: str, containers: Sequence[Sequence[str]], timeout: float) -> tuple[Allocation, ...]:
    """Gives each of the containers its devices."""
    request = messages.AllocateRequest()
    for ids in containers:
        request.container_requests.add(devices_ids=ids)
    answer = await calls.call(socket, wire.ALLOCATE, request, timeout)
    if len(answer.container_responses) != len(containers):
        text = f"the plugin answered for {len(answer.container_responses)} containers, not for {len(containers)}"
        raise calls.CallFailed("INTERNAL", text)
    return tuple(_given(response) for response in answer.container_responses)


async def pre_start(socket: str, ids: Sequence[str], timeout: float = 30.0) -> None:
    """Lets the plugin make the devices ready, before the container starts."""
    await calls.call(socket, wire.PRE_START, messages.PreStartContainerRequest(devices_ids=ids), timeout)


def _given(response: Any) -> Allocation:
    return Allocation(
        envs=dict(response.envs),
        mounts=tuple((mount.container_path, mount.host_path, mount.read_only) for mount in response.mounts),
        nodes=tuple((node.container_path, node.host_path, node.permissions) for node in response.devices),
        annotations=dict(response.annotations),
        cdi_devices=tuple(device.name for device in response.cdi_devices),
    )
