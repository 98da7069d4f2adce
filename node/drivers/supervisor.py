"""Driver supervisor: discovers, registers and watches every driver of the node. Their events come out as plain tuples.

    async with Drivers(settings, clock) as drivers:
        async for event in drivers.events():
            changed, notes = health.take(event, clock.now())

One task per plugin, for the life of its socket: a plugin that hangs delays no other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from podstrat.node.drivers import discovery, plugins
from podstrat.node.drivers.plugins import Plugin, Refusal
from podstrat.node.drivers.protocols import deviceplugin, registration, streams
from podstrat.node.drivers.protocols.calls import CallFailed
from podstrat.node.model import Closed, Event, Note, Reading, Registered, Report, Session, Silent, Unregistered
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.bounded import BoundedQueue
from podstrat.node.runtime.clock import Clock


@dataclass(frozen=True)
class Settings:
    registry: Path | None = Path("/var/lib/kubelet/plugins_registry")
    """Directory of registration sockets; None: not scanned."""
    device_plugins: Path | None = None
    """Where to serve kubelet.sock, for device plugins to register with; None: a kubelet on this node does it."""
    bystander: frozenset[str] | None = None
    """Beside a kubelet: only these DRA drivers get a second health stream, and none is notified of its registration.
    A second stream is safe only where the driver's author says so."""
    documents: bool = False
    """Try the health services of the KEP texts with drivers that announce no released one."""
    period: float = 1.0
    """Seconds between two scans of the directories: the kubelet's reconcile period."""
    get_info: float = 1.0
    """Timeout of GetInfo: the kubelet's."""
    notify: float = 5.0
    """Timeout of NotifyRegistrationStatus: the kubelet's."""
    dial: float = 10.0
    """Timeout from Register until the plugin's socket exists and answers GetDevicePluginOptions: the kubelet's."""
    first_retry: float = 0.5
    longest_retry: float = 122.0
    """Back-off in seconds of registration and of health streams: the kubelet's for registration."""
    settled: float = 60.0
    """Seconds after which an open stream resets the back-off: a minute is twice the default health timeout."""
    queue: int = 16 * 1024 * 1024
    """Bytes of the event queue, estimated. When it is full, streams are not read: backpressure on the drivers. Room for two or
    three reports of the largest size with messages."""
    devices: int = 16384
    """Devices of one report that are kept, besides known ones: the limit of the health table."""


READING = 280
"""Bytes of a reading without its message, as measured for names of usual length."""


class _Watched(NamedTuple):
    """A socket and its task."""

    identity: discovery.Identity | None
    """None: the socket does not exist yet."""
    since: float
    task: asyncio.Task[None]


class Drivers:
    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        random: Random | None = None,
        known: Callable[[str], Sequence[Collection[Any]]] = lambda driver: (),
    ) -> None:
        """`known`: the tables that hold a driver's known devices, which are not subject to the cap."""
        self.settings = settings
        self._tables = known
        self.clock = clock
        self._random = random or Random()
        self._queue: BoundedQueue[Event | Exception] = BoundedQueue(settings.queue)
        self._registered: list[Plugin] = []
        self._live: set[str] = set()
        """Endpoints whose stream is open and has reported."""
        self._sockets: dict[str, _Watched] = {}
        """Sockets of plugins_registry."""
        self._callers: dict[str, _Watched] = {}
        """Sockets of device plugins that called Register."""
        self._noted: dict[str, str] = {}
        self._streams = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: deviceplugin.Registry | None = None
        self._closing = False

    async def __aenter__(self) -> Drivers:
        if self.settings.registry is not None:
            self.settings.registry.mkdir(mode=0o755, parents=True, exist_ok=True)
        if self.settings.device_plugins is not None:
            self._server = deviceplugin.Registry(self.settings.device_plugins, self._called)
            await self._server.start()
        self._start(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends all streams, without events: a stopped writer says nothing about devices."""
        self._closing = True
        if self._server is not None:
            await self._server.stop()
        while self._tasks:
            await _end(*self._tasks)

    async def events(self) -> AsyncIterator[Event]:
        """Driver events in order."""
        while True:
            event = await self._queue.get()
            if isinstance(event, Exception):
                raise event
            yield event

    def newest(self, driver: str) -> Plugin | None:
        """The endpoint to prepare claims or allocate devices with."""
        return next((plugin for plugin in reversed(self._registered) if plugin.driver == driver), None)

    def open_streams(self) -> int:
        """Number of endpoints with an open health stream."""
        return len(self._live)

    def registered(self) -> list[Plugin]:
        """All endpoints, the newest last."""
        return list(self._registered)

    # Discovery

    async def _look(self) -> None:
        """Scans the directories, forever: removals first, then additions."""
        while True:
            try:
                await self._look_once()
            except OSError as error:
                await self._note(error.filename or "sockets", f"cannot scan for sockets: {error.strerror}")
            await self.clock.sleep(self.settings.period)

    async def _look_once(self) -> None:
        if self.settings.device_plugins is not None:
            await self._end_missing(self._callers, discovery.scan(self.settings.device_plugins))
        if self.settings.registry is not None:
            sockets = discovery.scan(self.settings.registry)
            await self._end_missing(self._sockets, sockets)
            for socket, identity in sockets.items():
                if socket not in self._sockets:
                    self._sockets[socket] = _Watched(identity, self.clock.now(), self._start(self._registration(socket)))

    async def _end_missing(self, watched: dict[str, _Watched], sockets: dict[str, discovery.Identity]) -> None:
        """Ends the tasks of sockets that were removed or replaced."""
        for socket, each in list(watched.items()):
            if each.identity is None and (socket in sockets or self.clock.now() < each.since + self.settings.dial):
                watched[socket] = each._replace(identity=sockets.get(socket))
            elif sockets.get(socket) != each.identity or each.identity is None:
                del watched[socket]
                self._noted.pop(socket, None)
                await _end(each.task)

    def _called(self, request: deviceplugin.Registration) -> None:
        """A device plugin called Register."""
        assert self.settings.device_plugins is not None
        plugin = plugins.from_registration(request, self.settings.device_plugins)
        socket, identity = plugin.endpoint, discovery.identity(plugin.endpoint)
        before = self._callers.get(socket)
        if before is not None and before.identity == identity and socket in self._live:
            raise Refusal(f"{socket} is already registered")
        work = self._device_plugin(plugin, before.task if before else None)
        self._callers[socket] = _Watched(identity, self.clock.now(), self._start(work))

    # Registration

    async def _registration(self, socket: str) -> None:
        """The task of a socket of plugins_registry."""
        if self.settings.bystander is not None:
            await self._overhear(socket, self.settings.bystander)
        backoff = self._backoff()
        while True:
            try:
                plugin = await self._introduce(socket)
                try:
                    await self._emit(Registered(plugin.driver, plugin.endpoint, plugin.reports))
                    await registration.notify(socket, None, self.settings.notify)
                    self._noted.pop(socket, None)
                    await self._watch(plugin)
                finally:
                    await self._leave(plugin)
            except (Refusal, CallFailed) as failure:
                await self._note(socket, str(failure))
            await self.clock.sleep(backoff.next())

    async def _overhear(self, socket: str, welcome: frozenset[str]) -> None:
        """The same beside a kubelet: GetInfo, which has no side effects, then the health stream if it is allowed."""
        backoff = self._backoff()
        while True:
            try:
                plugin = plugins.from_info(await registration.get_info(socket, self.settings.get_info), self.settings.documents)
                if plugin.prepares is None or plugin.driver not in welcome:
                    await asyncio.Event().wait()
                self._enter(plugin)
                try:
                    await self._emit(Registered(plugin.driver, plugin.endpoint, plugin.reports))
                    await self._watch(plugin)
                finally:
                    await self._leave(plugin)
            except (Refusal, CallFailed) as failure:
                await self._note(socket, str(failure))
            await self.clock.sleep(backoff.next())

    async def _introduce(self, socket: str) -> Plugin:
        """GetInfo, validation and registration."""
        info = await registration.get_info(socket, self.settings.get_info)
        try:
            plugin = plugins.from_info(info, self.settings.documents)
            self._enter(plugin)
        except Refusal as refusal:
            with suppress(CallFailed):
                await registration.notify(socket, str(refusal), self.settings.notify)
            raise
        return plugin

    async def _device_plugin(self, plugin: Plugin, before: asyncio.Task[None] | None) -> None:
        """The task of a device plugin that called Register."""
        if before is not None:
            await _end(before)
        try:
            self._enter(plugin)
        except Refusal as refusal:
            await self._note(plugin.endpoint, str(refusal))
            return
        try:
            await self._emit(Registered(plugin.driver, plugin.endpoint, plugin.reports))
            await self._watch(plugin)
        finally:
            await self._leave(plugin)

    def _enter(self, plugin: Plugin) -> None:
        if any(plugin.endpoint == other.endpoint and plugin.driver == other.driver for other in self._registered):
            raise Refusal(f"{plugin.driver} is already registered with endpoint {plugin.endpoint}")
        self._registered.append(plugin)

    async def _leave(self, plugin: Plugin) -> None:
        self._registered.remove(plugin)
        await self._emit(Unregistered(plugin.driver, plugin.endpoint))

    # Health streams

    async def _watch(self, plugin: Plugin) -> None:
        """Keeps a health stream open, with back-off, until the task is cancelled."""
        ways = list(plugin.streams)
        backoff = self._backoff()
        while ways or plugin.prepares is None:
            opened = self.clock.now()
            try:
                if plugin.prepares is None:
                    await deviceplugin.options(plugin.endpoint, self.settings.dial)
                    await self._listen(plugin, deviceplugin.devices(plugin.endpoint, self._keeps(plugin)), complete=True)
                else:
                    reports = streams.reports(plugin.endpoint, ways[0], self._keeps(plugin))
                    await self._listen(plugin, reports, ways[0].complete)
            except CallFailed as failure:
                if failure.unimplemented and ways:
                    await self._skip(plugin, ways)
                    continue
                await self._note(plugin.endpoint, str(failure))
            if self.clock.now() - opened >= self.settings.settled:
                backoff.reset()
                self._noted.pop(plugin.endpoint, None)
            await self.clock.sleep(backoff.next())
        await asyncio.Event().wait()

    async def _skip(self, plugin: Plugin, ways: list[streams.Stream]) -> None:
        """The driver does not implement the service: not retried before it registers again."""
        service = ways.pop(0)
        if not ways:
            await self._note(plugin.endpoint, f"{plugin.driver} does not implement {service.name}: its devices stay Unknown")
            await self._emit(Silent(plugin.driver, plugin.endpoint))

    async def _listen(self, plugin: Plugin, messages: AsyncGenerator[list[Reading], None], complete: bool) -> None:
        self._streams += 1
        session = Session(plugin.driver, plugin.endpoint, self._streams)
        reason = "the driver ended the stream"
        try:
            async with aclosing(messages):
                async for readings in messages:
                    self._live.add(plugin.endpoint)
                    await self._emit(Report(session, readings, complete))
        except CallFailed as failure:
            reason = str(failure)
            raise
        finally:
            self._live.discard(plugin.endpoint)
            await self._emit(Closed(session, reason))

    # Helpers

    def _keeps(self, plugin: Plugin) -> streams.Keeps:
        return streams.Keeps(lambda: self._tables(plugin.driver), plugin.driver, self.settings.devices)

    async def _emit(self, event: Event) -> None:
        if not self._closing:
            await self._queue.put(event, _size(event))

    async def _note(self, subject: str, text: str) -> None:
        """Logs a line once, until the text about the subject changes."""
        if self._noted.get(subject) != text:
            self._noted[subject] = text
            await self._emit(Note(subject, text))

    def _backoff(self) -> Backoff:
        return Backoff(self.settings.first_retry, self.settings.longest_retry, self._random)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # it may be cancelled before its first step
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """An unexpected exception ends the program, not only the task."""
        try:
            await work
        except Exception as error:
            await self._queue.put(error)


def _size(event: Event) -> int:
    """Bytes that an event takes up, roughly: a reading is a tuple and two short strings."""
    if not isinstance(event, Report):
        return 0
    return sum(READING + len(each.message) for each in event.readings)


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
