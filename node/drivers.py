"""Every driver of the node: found, registered and watched, for as long as it is there. What they say comes out as plain tuples.

    async with Drivers(settings, clock) as drivers:
        async for event in drivers.events():
            changed, notes = health.take(event, clock.now())

There is one task for each plugin. It ends with the plugin's socket; nothing that one plugin does or fails to do holds up another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from node import plugins, registry
from node.backoff import Backoff
from node.clock import Clock
from node.plugins import Plugin, Refusal
from node.protocols import deviceplugin, registration, streams
from node.protocols.calls import CallFailed
from node.reports import Closed, Event, Note, Reading, Registered, Report, Session, Silent, Unregistered


@dataclass(frozen=True)
class Settings:
    registry: Path | None = Path("/var/lib/kubelet/plugins_registry")
    """Where plugins put their registration sockets; None: do not look."""
    device_plugins: Path | None = None
    """Where to serve kubelet.sock, for device plugins to register with; None: do not. A kubelet on this node does it itself."""
    bystander: frozenset[str] | None = None
    """A kubelet is here, and plugins are its own: then only these DRA drivers are listened to, and nobody is told anything.
    A second listener is harmless only where the driver's author says so."""
    documents: bool = False
    """Try the health services that only the documents have, with drivers that announce no released one."""
    period: float = 1.0
    """Seconds between two looks into the directories."""
    get_info: float = 1.0
    """Seconds that a plugin has to say what it is."""
    notify: float = 5.0
    """Seconds that a plugin has to take note of being registered."""
    dial: float = 10.0
    """Seconds that a device plugin has, after it has called, until its socket is there and it says its options."""
    first_retry: float = 0.5
    longest_retry: float = 122.0
    """Seconds between two attempts to register or to open a stream: these are the kubelet's for registration."""
    settled: float = 60.0
    """A stream that was open for so many seconds was a success: the next failure counts as the first."""
    queue: int = 64
    """Events that wait to be taken. When there are more, the streams are not read, and the drivers have to wait."""


class _Watched(NamedTuple):
    """A socket, and the task that takes care of it."""

    identity: registry.Identity | None
    """None: it is still to come."""
    since: float
    task: asyncio.Task[None]


class Drivers:
    def __init__(self, settings: Settings, clock: Clock, random: Random | None = None) -> None:
        self.settings = settings
        self.clock = clock
        self._random = random or Random()
        self._queue: asyncio.Queue[Event | Exception] = asyncio.Queue(settings.queue)
        self._registered: list[Plugin] = []
        self._live: set[str] = set()
        """Endpoints whose stream is open and has said something."""
        self._sockets: dict[str, _Watched] = {}
        """Registration sockets of the registry."""
        self._callers: dict[str, _Watched] = {}
        """Sockets of the device plugins that have called kubelet.sock."""
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
        """Ends all streams. It says nothing about the devices: that we stop is not their fault."""
        self._closing = True
        if self._server is not None:
            await self._server.stop()
        while self._tasks:
            await _end(*self._tasks)

    async def events(self) -> AsyncIterator[Event]:
        """What drivers say, in the order in which they said it."""
        while True:
            event = await self._queue.get()
            if isinstance(event, Exception):
                raise event
            yield event

    def newest(self, driver: str) -> Plugin | None:
        """The endpoint to prepare claims or allocate devices with."""
        return next((plugin for plugin in reversed(self._registered) if plugin.driver == driver), None)

    def open_streams(self) -> int:
        """How many endpoints are saying something about health."""
        return len(self._live)

    def registered(self) -> list[Plugin]:
        """All endpoints, the newest last."""
        return list(self._registered)

    # Finding

    async def _look(self) -> None:
        """Looks after the directories, for ever: what has gone first, then what is new."""
        while True:
            try:
                await self._look_once()
            except OSError as error:
                await self._note(error.filename or "sockets", f"cannot look for sockets: {error.strerror}")
            await self.clock.sleep(self.settings.period)

    async def _look_once(self) -> None:
        if self.settings.device_plugins is not None:
            await self._end_missing(self._callers, registry.scan(self.settings.device_plugins))
        if self.settings.registry is not None:
            found = registry.scan(self.settings.registry)
            await self._end_missing(self._sockets, found)
            for socket, identity in found.items():
                if socket not in self._sockets:
                    self._sockets[socket] = _Watched(identity, self.clock.now(), self._start(self._registration(socket)))

    async def _end_missing(self, watched: dict[str, _Watched], found: dict[str, registry.Identity]) -> None:
        """Ends the tasks of sockets that have gone, or in whose place there is another one."""
        for socket, each in list(watched.items()):
            if each.identity is None and (socket in found or self.clock.now() < each.since + self.settings.dial):
                watched[socket] = each._replace(identity=found.get(socket))
            elif found.get(socket) != each.identity or each.identity is None:
                del watched[socket]
                self._noted.pop(socket, None)
                await _end(each.task)

    def _called(self, asked: deviceplugin.Registration) -> None:
        """A device plugin has called kubelet.sock."""
        assert self.settings.device_plugins is not None
        plugin = plugins.from_registration(asked, self.settings.device_plugins)
        socket, identity = plugin.endpoint, registry.identity(plugin.endpoint)
        before = self._callers.get(socket)
        if before is not None and before.identity == identity and socket in self._live:
            raise Refusal(f"{socket} is registered already")
        work = self._device_plugin(plugin, before.task if before else None)
        self._callers[socket] = _Watched(identity, self.clock.now(), self._start(work))

    # Registering

    async def _registration(self, socket: str) -> None:
        """Takes care of a socket of the registry."""
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
        """The same beside a kubelet: asks what it is, which is harmless, and listens if we may."""
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
        """Asks a socket what it is, and registers it if that is something we know."""
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
        """Takes care of a device plugin that has called kubelet.sock."""
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
            raise Refusal(f"{plugin.driver} is registered already with the endpoint {plugin.endpoint}")
        self._registered.append(plugin)

    async def _leave(self, plugin: Plugin) -> None:
        self._registered.remove(plugin)
        await self._emit(Unregistered(plugin.driver, plugin.endpoint))

    # Watching

    async def _watch(self, plugin: Plugin) -> None:
        """Listens to what the plugin says about health, again and again, until the task is ended."""
        ways = list(plugin.streams)
        backoff = self._backoff()
        while ways or plugin.prepares is None:
            opened = self.clock.now()
            try:
                if plugin.prepares is None:
                    await deviceplugin.options(plugin.endpoint, self.settings.dial)
                    await self._listen(plugin, deviceplugin.devices(plugin.endpoint), complete=True)
                else:
                    await self._listen(plugin, streams.reports(plugin.endpoint, ways[0]), ways[0].complete)
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
        """The driver does not have the service. It is not asked again before it registers anew."""
        service = ways.pop(0)
        if not ways:
            await self._note(plugin.endpoint, f"{plugin.driver} does not implement {service.name}: its devices stay Unknown")
            await self._emit(Silent(plugin.driver, plugin.endpoint))

    async def _listen(self, plugin: Plugin, messages: AsyncGenerator[list[Reading], None], complete: bool) -> None:
        self._streams += 1
        session = Session(plugin.driver, plugin.endpoint, self._streams)
        reason = "the driver has ended the stream"
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

    # Ground

    async def _emit(self, event: Event) -> None:
        if not self._closing:
            await self._queue.put(event)

    async def _note(self, subject: str, text: str) -> None:
        """Once, until something else is to be said about the same thing."""
        if self._noted.get(subject) != text:
            self._noted[subject] = text
            await self._emit(Note(subject, text))

    def _backoff(self) -> Backoff:
        return Backoff(self.settings.first_retry, self.settings.longest_retry, self._random)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # it may have been cancelled before its first step
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """A bug in one of our tasks ends the program, and not only the task."""
        try:
            await work
        except Exception as error:
            await self._queue.put(error)


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
