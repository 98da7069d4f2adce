"""The other end: a DRA driver and a device plugin that do as they are told, on real sockets.

    async with DraDriver(root, "gpu.example.com", devices=8) as driver:
        driver.set("gpu-0", "Unhealthy", "XID 79: the GPU has fallen off the bus")

All there is to tell them can be told at any time: devices that change, hang or vanish, calls that fail, hang or answer nonsense.
What they were asked is on record. `node.simulation` makes a command of it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple, Self

from node.generated import deviceplugin_pb2, dra_pb2, registration_pb2
from node.protocols import calls, registration, serving, streams, wire
from node.protocols.serving import Refused
from node.protocols.streams import Stream
from node.reports import HEALTHY, Reading

REGISTRY = "plugins_registry"
PLUGINS = "plugins"
DEVICE_PLUGINS = "device-plugins"


class Failure(NamedTuple):
    """What a driver answers instead of preparing a claim."""

    error: str
    permanent: bool = False


class Device(NamedTuple):
    """A device that a claim was given."""

    request: str
    pool: str
    name: str
    share: str | None = None


class Audience:
    """The streams that are open. What is sent goes to all of them, and stays in order."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[Any]] = []
        self._moved = asyncio.Event()
        self.opened = 0
        """How many there were, all in all."""
        self.taken = 0
        """How many messages have gone out, over all streams."""

    def __len__(self) -> int:
        return len(self._queues)

    def send(self, item: Any) -> None:
        for queue in self._queues:
            queue.put_nowait(item)

    async def stream(self, first: Any) -> AsyncGenerator[Any, None]:
        """What is sent from now on, after `first`. None ends the stream, an exception fails it."""
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._queues.append(queue)
        self.opened += 1
        self._stir()
        try:
            item = first
            while item is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
                self.taken += 1
                item = await queue.get()
        finally:
            self._queues.remove(queue)
            self._stir()

    async def until(self, streams: int) -> None:
        """Waits until so many are open."""
        while len(self) != streams:
            await self._moved.wait()

    def _stir(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


class Simulated(ABC):
    """What the two have in common: servers, a way to register, devices, and calls that can be made to fail."""

    def __init__(self, devices: Iterable[Reading]) -> None:
        self.devices = {reading.name: reading for reading in devices}
        self.audience = Audience()
        self.asked: list[tuple[str, Any]] = []
        """Every call with its request, in order; by the call's last name."""
        self.notified: list[str | None] = []
        """What we were told about our registration: None, or the error."""
        self.trouble: dict[str, Refused | str] = {}
        """Calls that fail, by their last name; or that hang, if it is the word."""
        self._servers: list[serving.Server] = []
        self._asked = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @abstractmethod
    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends cleanly: registration first, then the service; the sockets are removed."""
        while self._servers:
            await self._servers.pop().stop()

    def set(self, name: str, health: str, message: str = "", timeout: int | None = None) -> None:
        """One device is so from now on, and everybody is told."""
        self.devices[name] = self.devices[name]._replace(health=health, message=message, timeout=timeout)
        self.tell()

    def remove(self, name: str) -> None:
        """One device is there no more, and everybody is told, by not mentioning it."""
        del self.devices[name]
        self.tell()

    def tell(self) -> None:
        """Tells everybody about all devices."""
        self.audience.send(list(self.devices.values()))

    def end_streams(self, failure: Exception | None = None) -> None:
        """Ends all streams that are open now, with an error if there is one."""
        self.audience.send(failure)

    async def until_asked(self, call: str, times: int = 1) -> None:
        """Waits until a call has come so many times, since the beginning."""
        while sum(name == call for name, _ in self.asked) < times:
            await self._asked.wait()

    async def _serve(self, socket: Path, handlers: Mapping[wire.Method, serving.Handler]) -> None:
        socket.parent.mkdir(parents=True, exist_ok=True)
        server = serving.Server(str(socket), {method: self._recorded(method, handler) for method, handler in handlers.items()})
        await server.start()
        self._servers.append(server)

    def _recorded(self, method: wire.Method, handler: Any) -> serving.Handler:
        name = method.path.rpartition("/")[2]

        async def one(request: Any) -> Any:
            await self._before(name, request)
            return await handler(request)

        async def many(request: Any) -> AsyncGenerator[Any, None]:
            await self._before(name, request)
            async with aclosing(handler(request)) as answers:
                async for answer in answers:
                    yield answer

        return many if method.streams else one

    async def _before(self, call: str, request: Any) -> None:
        self.asked.append((call, request))
        self._asked.set()
        self._asked = asyncio.Event()
        trouble = self.trouble.get(call)
        if isinstance(trouble, Refused):
            raise trouble
        if trouble is not None:
            await asyncio.Event().wait()

    def _registration(self, kind: str, name: str, endpoint: Path, versions: Iterable[str]) -> dict[wire.Method, serving.Handler]:
        info = registration_pb2.PluginInfo(type=kind, name=name, endpoint=str(endpoint), supported_versions=versions)

        async def get_info(_: Any) -> Any:
            return info

        async def notify(status: Any) -> Any:
            self.notified.append(None if status.plugin_registered else status.error)
            return registration_pb2.RegistrationStatusResponse()

        return {wire.GET_INFO: get_info, wire.NOTIFY: notify}


class DraDriver(Simulated):
    """A DRA driver. With an instance name, several of one driver can run side by side, as in a rolling update."""

    def __init__(
        self,
        root: Path,
        name: str = "gpu.example.com",
        devices: int | Iterable[Reading] = 8,
        *,
        pool: str = "node-1",
        instance: str = "",
        prepares: Iterable[str] = ("v1",),
        health: Iterable[Stream] = (streams.V1,),
        announced: Iterable[str] | None = None,
    ) -> None:
        if isinstance(devices, int):
            devices = [Reading(pool, f"gpu-{number}", HEALTHY) for number in range(devices)]
        super().__init__(devices)
        self.name = name
        self.pool = pool
        suffix = f"-{instance}" if instance else ""
        self.socket = root / PLUGINS / name / f"dra{suffix}.sock"
        self.registration = root / REGISTRY / f"{name}{suffix}-reg.sock"
        self.prepares = tuple(prepares)
        self.health = tuple(health)
        self.announced = tuple(announced) if announced is not None else self._versions()
        self.allocated: dict[str, list[Device]] = {}
        """The devices of a claim, by its UID. A real driver reads them from the claim."""
        self.failures: dict[str, Failure] = {}
        """Claims that cannot be prepared, by UID."""
        self.prepared: dict[str, list[Device]] = {}

    async def start(self) -> None:
        handlers: dict[wire.Method, serving.Handler] = {stream.method: self._watch(stream) for stream in self.health}
        for version in self.prepares:
            handlers[wire.prepare(version)] = self._prepare(version)
            handlers[wire.unprepare(version)] = self._unprepare
        await self._serve(self.socket, handlers)
        await self._serve(self.registration, self._registration(registration.DRA_PLUGIN, self.name, self.socket, self.announced))

    def send(self, *readings: Reading) -> None:
        """Sends a report about these devices only, whatever we think of them ourselves."""
        self.audience.send(list(readings))

    def _versions(self) -> tuple[str, ...]:
        released = [stream.name for stream in self.health if stream in streams.RELEASED]
        return (*(f"{version}.DRAPlugin" for version in self.prepares), *released)

    def _watch(self, stream: Stream) -> Callable[[Any], AsyncGenerator[Any, None]]:
        async def watch(_: Any) -> AsyncGenerator[Any, None]:
            async with aclosing(self.audience.stream(list(self.devices.values()))) as items:
                async for item in items:
                    yield stream.write(item) if isinstance(item, list) else item

        return watch

    def _prepare(self, version: str) -> Callable[[Any], Awaitable[Any]]:
        async def prepare(request: Any) -> Any:
            answer = dra_pb2.NodePrepareResourcesResponse()
            for claim in request.claims:
                failure = self.failures.get(claim.uid)
                if failure is not None:
                    answer.claims[claim.uid].error, answer.claims[claim.uid].permanent_error = failure
                    continue
                answer.claims[claim.uid].SetInParent()
                self.prepared[claim.uid] = self.allocated.get(claim.uid, [])
                for device in self.prepared[claim.uid]:
                    added = answer.claims[claim.uid].devices.add(pool_name=device.pool, device_name=device.name)
                    added.request_names.append(device.request)
                    added.cdi_device_ids.append(f"{self.name}/gpu={claim.uid}-{device.name}")
                    if device.share is not None and version == "v1":
                        added.share_id = device.share
            return answer

        return prepare

    async def _unprepare(self, request: Any) -> Any:
        answer = dra_pb2.NodeUnprepareResourcesResponse()
        for claim in request.claims:
            answer.claims[claim.uid].SetInParent()
            self.prepared.pop(claim.uid, None)
        return answer


class DevicePlugin(Simulated):
    """A device plugin. It registers by calling kubelet.sock, or waits in the registry to be found."""

    def __init__(
        self,
        root: Path,
        resource: str = "example.com/gpu",
        devices: int | Iterable[Reading] = 8,
        *,
        instance: str = "",
        in_registry: bool = False,
        version: str = "v1beta1",
    ) -> None:
        if isinstance(devices, int):
            devices = [Reading("", f"gpu-{number}", HEALTHY) for number in range(devices)]
        super().__init__(devices)
        self.resource = resource
        self.version = version
        self.in_registry = in_registry
        name = resource.replace("/", "_") + (f"-{instance}" if instance else "")
        self.socket = root / DEVICE_PLUGINS / f"{name}.sock"
        self.kubelet = root / DEVICE_PLUGINS / "kubelet.sock"
        self.registration = root / REGISTRY / f"{name}-reg.sock"
        self.numa: dict[str, tuple[int, ...]] = {}
        """The NUMA nodes of a device, by its ID."""
        self.allocated: list[tuple[str, ...]] = []

    async def start(self) -> None:
        """Serves, and registers. CallFailed says why that was refused."""
        await self.serve()
        if self.in_registry:
            offer = self._registration(registration.DEVICE_PLUGIN, self.resource, self.socket, (self.version,))
            await self._serve(self.registration, offer)
        else:
            await self.register()

    async def serve(self) -> None:
        handlers: dict[wire.Method, serving.Handler] = {
            wire.OPTIONS: self._options,
            wire.LIST_AND_WATCH: self._list_and_watch,
            wire.PREFERRED: self._preferred,
            wire.ALLOCATE: self._allocate,
            wire.PRE_START: self._pre_start,
        }
        await self._serve(self.socket, handlers)

    async def register(self) -> None:
        request = deviceplugin_pb2.RegisterRequest(version=self.version, endpoint=self.socket.name, resource_name=self.resource)
        await calls.call(str(self.kubelet), wire.REGISTER, request, timeout=30.0)

    async def _options(self, _: Any) -> Any:
        return deviceplugin_pb2.DevicePluginOptions(get_preferred_allocation_available=True)

    async def _list_and_watch(self, _: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(self.audience.stream(list(self.devices.values()))) as items:
            async for item in items:
                yield self._list(item) if isinstance(item, list) else item

    def _list(self, readings: Iterable[Reading]) -> Any:
        answer = deviceplugin_pb2.ListAndWatchResponse()
        for reading in readings:
            device = answer.devices.add(ID=reading.name, health=reading.health)
            for node in self.numa.get(reading.name, ()):
                device.topology.nodes.add(ID=node)
        return answer

    async def _preferred(self, request: Any) -> Any:
        """The required ones, then the last ones: nobody would take these by chance."""
        answer = deviceplugin_pb2.PreferredAllocationResponse()
        for asked in request.container_requests:
            required = list(asked.must_include_deviceIDs)
            others = [each for each in sorted(asked.available_deviceIDs, reverse=True) if each not in required]
            answer.container_responses.add(deviceIDs=[*required, *others][: asked.allocation_size])
        return answer

    async def _allocate(self, request: Any) -> Any:
        answer = deviceplugin_pb2.AllocateResponse()
        for asked in request.container_requests:
            self.allocated.append(tuple(asked.devices_ids))
            response = answer.container_responses.add(envs={"DEVICES": ",".join(asked.devices_ids)})
            for each in asked.devices_ids:
                response.cdi_devices.add(name=f"{self.resource}={each}")
                response.devices.add(container_path=f"/dev/{each}", host_path=f"/dev/{each}", permissions="rw")
        return answer

    async def _pre_start(self, _: Any) -> Any:
        return deviceplugin_pb2.PreStartContainerResponse()
