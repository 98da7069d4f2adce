"""Simulated DRA driver and device plugin on real sockets, for tests and demos.

    async with DraDriver(root, "gpu.example.com", devices=8) as driver:
        driver.set("gpu-0", "Unhealthy", "XID 79: the GPU has fallen off the bus")

Behaviour can be changed at any time: devices that change, hang or vanish, calls that fail, hang or return garbage. Calls are
recorded. `podstrat.node.simulator.command` makes a command of it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from podstrat.node.drivers import discovery
from podstrat.node.drivers.generated import deviceplugin_pb2, dra_pb2, registration_pb2
from podstrat.node.drivers.protocols import calls, registration, serving, streams, wire
from podstrat.node.drivers.protocols.serving import CallRefused
from podstrat.node.drivers.protocols.streams import Stream
from podstrat.node.model import HEALTHY, Reading
from podstrat.node.runtime.clock import BootClock, Clock
from podstrat.node.server.client import ApiClient
from podstrat.node.simulator import cdi

REGISTRY = "plugins_registry"
PLUGINS = "plugins"
DEVICE_PLUGINS = "device-plugins"
CHECK = 1.0
"""Seconds between two checks whether the kubelet has restarted. Pods wait for their devices as long."""


class Failure(NamedTuple):
    """The error that a driver returns for a claim."""

    error: str
    permanent: bool = False


class Device(NamedTuple):
    """A device that a claim was given."""

    request: str
    pool: str
    name: str
    share: str | None = None


class Audience:
    """Open health streams. Every message goes to all of them, in order."""

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
    """Common base: servers, registration, devices, and calls that can be made to fail."""

    def __init__(self, devices: Iterable[Reading]) -> None:
        self.devices = {reading.name: reading for reading in devices}
        self.audience = Audience()
        self.asked: list[tuple[str, Any]] = []
        """Every call with its request, in order; by the call's last name."""
        self.notified: list[str | None] = []
        """Registration notifications: None, or the error."""
        self.trouble: dict[str, CallRefused | str] = {}
        """Calls that fail with an error, or that hang if the value is a text, by method name."""
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
        """Changes a device, and reports."""
        self.devices[name] = self.devices[name]._replace(health=health, message=message, timeout=timeout)
        self.tell()

    def remove(self, name: str) -> None:
        """Removes a device, and reports the others."""
        del self.devices[name]
        self.tell()

    def tell(self) -> None:
        """Reports all devices to every stream."""
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
        if isinstance(trouble, CallRefused):
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
        api: ApiClient | None = None,
        specs: cdi.Folder | None = None,
    ) -> None:
        """`api`: where to read claims from, as real drivers do. `specs`: where to write CDI specs of prepared claims."""
        if isinstance(devices, int):
            devices = [Reading(pool, f"gpu-{number}", HEALTHY) for number in range(devices)]
        super().__init__(devices)
        self.name = name
        self.pool = pool
        self.api, self.specs = api, specs
        suffix = f"-{instance}" if instance else ""
        self.socket = root / PLUGINS / name / f"dra{suffix}.sock"
        self.registration = root / REGISTRY / f"{name}{suffix}-reg.sock"
        self.prepares = tuple(prepares)
        self.health = tuple(health)
        self.announced = tuple(announced) if announced is not None else self._versions()
        self.allocated: dict[str, list[Device]] = {}
        """The devices of a claim, by its UID, for drivers without an API server."""
        self.failures: dict[str, Failure] = {}
        """Claims that cannot be prepared, by UID."""
        self.prepared: dict[str, list[Device]] = {}
        self.cdi_ids: Callable[[str, Device], Sequence[str]] = self._own_id
        """The CDI IDs of a device of a claim. Drivers may give one to several devices, or none."""

    def _own_id(self, uid: str, device: Device) -> Sequence[str]:
        return [f"{self.name}/gpu={uid}-{device.name}"]

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
                try:
                    devices = await self._devices_of(claim)
                    self._write_spec(claim.uid, devices)
                except (OSError, LookupError) as error:
                    answer.claims[claim.uid].error = str(error)
                    continue
                answer.claims[claim.uid].SetInParent()
                self.prepared[claim.uid] = devices
                for device in devices:
                    added = answer.claims[claim.uid].devices.add(pool_name=device.pool, device_name=device.name)
                    added.request_names.append(device.request)
                    added.cdi_device_ids.extend(self.cdi_ids(claim.uid, device))
                    if device.share is not None and version == "v1":
                        added.share_id = device.share
            return answer

        return prepare

    async def _unprepare(self, request: Any) -> Any:
        answer = dra_pb2.NodeUnprepareResourcesResponse()
        for claim in request.claims:
            answer.claims[claim.uid].SetInParent()
            self.prepared.pop(claim.uid, None)
            if self.specs is not None:
                self.specs.remove(self._kind, claim.uid)  # also of one that was prepared before a restart
        return answer

    @property
    def _kind(self) -> str:
        return f"{self.name}/gpu"

    async def _devices_of(self, claim: Any) -> list[Device]:
        """The devices that the claim was allocated from this driver, by the API server."""
        if self.api is None:
            return self.allocated.get(claim.uid, [])
        path = f"/apis/resource.k8s.io/v1/namespaces/{quote(claim.namespace)}/resourceclaims/{quote(claim.name)}"
        answer = await self.api.request("GET", path)
        if answer.code != 200:
            raise LookupError(answer.summary)
        if answer.body["metadata"]["uid"] != claim.uid:
            raise LookupError(f"claim {claim.namespace}/{claim.name} has another UID: {answer.body['metadata']['uid']}")
        allocation = (answer.body.get("status") or {}).get("allocation")
        if not allocation:
            raise LookupError(f"claim {claim.namespace}/{claim.name} is not allocated")
        results = [each for each in allocation["devices"].get("results") or () if each["driver"] == self.name]
        if missing := sorted(each["device"] for each in results if each["device"] not in self.devices):
            raise LookupError(f"no such device: {', '.join(missing)}")
        return [Device(each["request"], each["pool"], each["device"], each.get("shareID")) for each in results]

    def _write_spec(self, uid: str, devices: Iterable[Device]) -> None:
        if self.specs is None:
            return
        environments: dict[str, dict[str, str]] = {}
        for device in devices:
            for name in self.cdi_ids(uid, device):
                values = environments.setdefault(name.partition("=")[2], {})
                values[cdi.variable("DRA_DEVICE", device.name)] = f"{self.name}/{device.pool}/{device.name}"
        if environments:
            self.specs.write(self._kind, environments, uid)


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
        specs: cdi.Folder | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`specs`: where to write a CDI spec of the devices; without it containers get environment variables only."""
        if isinstance(devices, int):
            devices = [Reading("", f"gpu-{number}", HEALTHY) for number in range(devices)]
        super().__init__(devices)
        self.resource = resource
        self.version = version
        self.specs, self.clock = specs, clock or BootClock()
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
        self._write_spec()
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

    async def keep_registered(self) -> None:
        """Serves and registers again after a restart of the kubelet, forever.

        A kubelet that starts removes the sockets of its directory, and makes its own anew: either shows it.
        """
        kubelet = discovery.identity(str(self.kubelet))
        while True:
            await self.clock.sleep(CHECK)
            identity = discovery.identity(str(self.kubelet))
            if identity is None or (identity == kubelet and discovery.identity(str(self.socket)) is not None):
                continue
            try:
                await self.stop()
                await self.start()
                kubelet = identity
            except calls.CallFailed:
                kubelet = None  # it is not ready yet

    def _write_spec(self) -> None:
        if self.specs is not None:
            self.specs.write(self.resource, {each: {cdi.variable("DEVICE", each): each} for each in self.devices})

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
        """The required ones, then the last ones, which no allocator would pick by chance."""
        answer = deviceplugin_pb2.PreferredAllocationResponse()
        for container in request.container_requests:
            required = list(container.must_include_deviceIDs)
            others = [each for each in sorted(container.available_deviceIDs, reverse=True) if each not in required]
            answer.container_responses.add(deviceIDs=[*required, *others][: container.allocation_size])
        return answer

    async def _allocate(self, request: Any) -> Any:
        answer = deviceplugin_pb2.AllocateResponse()
        self._write_spec()  # devices may have come since
        for container in request.container_requests:
            self.allocated.append(tuple(container.devices_ids))
            response = answer.container_responses.add(envs={"DEVICES": ",".join(container.devices_ids)})
            for each in container.devices_ids:
                # A runtime refuses to start a container whose device nodes or CDI devices do not exist.
                if self.specs is not None:
                    response.cdi_devices.add(name=f"{self.resource}={each}")
                if Path(f"/dev/{each}").exists():
                    response.devices.add(container_path=f"/dev/{each}", host_path=f"/dev/{each}", permissions="rw")
        return answer

    async def _pre_start(self, _: Any) -> Any:
        return deviceplugin_pb2.PreStartContainerResponse()
