"""The node writer: assembles its parts and runs them.

    agent = Agent(Settings(node="node-1", root=..., state=...), kubeconfig.load(path))
    await agent.run()            # until agent.stop() is called

It is the library behind `podstrat node`, and can be embedded in another process.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from random import Random
from typing import Any

from podstrat.certs import files
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.errors import Unavailable
from podstrat.node import logs, roles
from podstrat.node.admin import http
from podstrat.node.admin.introspection import Introspection, Subject
from podstrat.node.admin.metrics import CONTENT_TYPE, Metrics
from podstrat.node.drivers.podresources import PodResources
from podstrat.node.drivers.supervisor import Drivers
from podstrat.node.lock import Lock
from podstrat.node.owner import prepare
from podstrat.node.owner.kubelet_stub import KubeletStub
from podstrat.node.owner.prepare import Preparer
from podstrat.node.owner.simulated_node import SimulatedNode
from podstrat.node.planner import Planner
from podstrat.node.router import Parts, Router
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import BootClock, Clock, boot_id
from podstrat.node.server import resources
from podstrat.node.server.client import ApiClient
from podstrat.node.server.events import Recorder
from podstrat.node.server.writer import StatusWriter
from podstrat.node.settings import GATES, BadSettings, Settings
from podstrat.node.state import health, inventory
from podstrat.node.state.allocations import Allocations
from podstrat.node.state.checkpoint import Checkpoint
from podstrat.node.state.health import Health
from podstrat.node.state.inventory import Inventory
from podstrat.node.state.persistence import Persistence
from podstrat.node.state.transitions import Transitions
from podstrat.node.status import lifecycle


class Agent:
    def __init__(
        self,
        settings: Settings,
        config: ClientConfig,
        *,
        clock: Clock | None = None,
        wall: Callable[[], float] = time.time,
        random: Random | None = None,
    ) -> None:
        if unknown := sorted(settings.gates.keys() - GATES.keys()):
            raise BadSettings(f"unknown feature gate {unknown[0]} (known: {', '.join(sorted(GATES))})")
        self.settings = settings
        self.clock = clock or BootClock()
        self.wall = wall
        self.random = random or Random()
        self.api = ApiClient(config, self.clock)
        self.metrics = Metrics()
        self.health = Health(health.Settings(grace=settings.grace, quiet=settings.quiet))
        self.allocations = Allocations()
        self.transitions = Transitions()
        self.role = roles.Role("", "")
        self.running = False
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Ends `run` gracefully. Pod status stays as it is: a stopped writer says nothing about devices."""
        self._stopped.set()

    async def run(self) -> None:
        with Lock(self.settings.state / "lock", self.settings.node, self.api.config.address):
            async with AsyncExitStack() as stack:
                stack.push_async_callback(self.api.close)
                probes = http.Pages({"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics})
                stack.push_async_callback(probes.close)
                port = await probes.listen(*self.settings.metrics) if self.settings.metrics else 0
                if not await self._unless_stopped(self._settle_role()):
                    return
                self._assemble()
                stack.push_async_callback(self.preparer.close)
                admin = http.Pages({**probes.pages, **self.introspection.pages()})
                stack.push_async_callback(admin.close)
                await admin.listen_on(self.settings.admin)
                await self._work(stack, port)

    # Assembly

    async def _settle_role(self) -> None:
        """Determines the role. That needs the API server, so it is waited for."""
        backoff = Backoff(0.2, 10.0, self.random)
        while True:
            kubelet = roles.on_this_machine(self.settings.root)
            try:
                kubelet = kubelet or await roles.on_the_server(self.api, self.settings.node, self.wall())
                self.version = await self._server_version()
                break
            except Unavailable as error:
                logs.say("waiting for the API server", logging.WARNING, reason=str(error))
                await self.clock.sleep(backoff.next())
        self.role = role = roles.decide(self.settings.role, kubelet, simulate=self.settings.simulate_lifecycle)
        logs.say("role", role=role.name, reason=role.reason, node=self.settings.node, server=self.api.config.address)

    async def _server_version(self) -> tuple[int, int]:
        answer = await self.api.request("GET", "/version")
        if answer.code != 200:
            raise Unavailable(answer.summary)
        digits = "".join(each for each in str(answer.body.get("minor") or "0") if each.isdecimal())
        return int(answer.body.get("major") or 0), int(digits or 0)

    def _assemble(self) -> None:
        settings, api, clock = self.settings, self.api, self.clock
        owner = self.role.name == roles.OWNER
        self.collections = {"pods": resources.pods(api, settings.node), "claims": resources.claims(api)}
        self.inventory = self._inventory(owner)
        self.drivers = Drivers(settings.drivers(owner), clock, self.random, self.health.tables)
        self.podresources = PodResources(str(settings.root / "pod-resources" / "kubelet.sock"), self.inventory, clock)
        self.router = Router(clock, self.random, self.metrics.transitions.update)
        self.preparer = self._preparer()
        self.simulated_node = SimulatedNode(api, settings.node, clock, self.wall, self.random, self.health.plugin_devices)
        node = self.simulated_node if settings.simulate_lifecycle else None
        about = (settings.planning(owner), self.inventory, self.preparer, clock, self.wall, self._wake_at)
        self.planner = Planner(*about, node, self.router.record)
        self.writer = StatusWriter(
            api,
            self.planner.plan,
            self.router,
            clock,
            self.random,
            settings=settings.writing,
            metrics=self.metrics,
            note=logs.warn,
        )
        self.stub = KubeletStub(api, self.inventory, self.preparer, clock, self.random)
        parts = Parts(
            drivers=self.drivers,
            health=self.health,
            inventory=self.inventory,
            allocations=self.allocations,
            transitions=self.transitions,
            podresources=self.podresources,
            recorder=Recorder(api, settings.node, clock, self._now, self.random, self._count_event),
            planner=self.planner,
            writer=self.writer,
            preparer=self.preparer if owner else None,
            stub=self.stub if settings.simulate_lifecycle else None,
        )
        self.router.connect(parts)
        self.persistence = self._persistence(parts.preparer)
        for note in self.persistence.load():
            logs.warn(note)
        # A driver that is not listened to any more is not lost by that.
        self.health.heard = {name for name in self.health.heard if owner or "/" in name or name in settings.listen_to}
        address = api.config.address
        subject = Subject(settings.node, address, self.role, parts, self.preparer, self.collections, self._counters)
        self.introspection = Introspection(subject, clock)

    def _inventory(self, owner: bool) -> Inventory:
        settings = inventory.Settings(
            self.settings.node,
            extended=self.version >= (1, 37),
            beside=not owner,
            settled=self.clock.now() + self.settings.settle,
            sources=frozenset({"pods", "claims"} if owner else {"pods", "claims", "plugins"}),
        )
        return Inventory(settings, self.health.look, self.health.is_remembered, self.health.was_heard, self.health.has_spoken)

    def _preparer(self) -> Preparer:
        return Preparer(
            self.drivers,
            self.inventory,
            self.allocations,
            self.health,
            self.clock,
            self.random,
            settings=replace(self.settings.preparing, permanent=self.settings.gate(prepare.GATE)),
            save=lambda: self.persistence.save(),
            wake=self.router.touch,
            record=self.router.record,
            count=lambda kind: self.metrics.prepares.update([kind]),
        )

    def _persistence(self, prepared: Preparer | None) -> Persistence:
        checkpoint = Checkpoint(self.settings.state / "health", boot_id())
        state = (self.health, self.allocations, self.clock, self.wall)
        return Persistence(checkpoint, *state, prepared=prepared, transitions=self.transitions)

    # Running

    def _tasks(self) -> list[Coroutine[Any, Any, None]]:
        router, parts = self.router, self.router.parts
        tasks = [
            router.follow_pods(self.collections["pods"]),
            router.follow_claims(self.collections["claims"]),
            router.follow_drivers(),
            router.follow_transitions(),
            parts.recorder.run(),
            self.writer.run(),
            self._checkpoint(),
        ]
        if parts.preparer is not None:
            tasks += [parts.preparer.bugs(), self._watch_for_kubelet()]
        else:
            tasks += [router.follow_podresources()]
            if self.settings.gate(prepare.GATE):
                tasks += [router.follow_prepare_failures(resources.prepare_failures(self.api))]
        if parts.stub is not None:
            tasks += [parts.stub.remove(), self.simulated_node.run()]
        return tasks

    async def _work(self, stack: AsyncExitStack, port: int) -> None:
        """Runs all tasks until `stop` is called, or one of them fails, which is a bug."""
        await stack.enter_async_context(self.drivers)
        tasks = [asyncio.ensure_future(each) for each in self._tasks()]
        try:
            self.running = True
            if self.settings.ready_file is not None:
                files.write(self.settings.ready_file, f"{self.role.name} {port}\n".encode())
            stopping = asyncio.ensure_future(self._stopped.wait())
            await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            for task in tasks:
                if task.done():
                    task.result()
            await self.writer.drain(self.settings.shutdown)
            if note := await self.persistence.save():
                logs.warn(note)
        finally:
            self.running = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        logs.say("stopped")

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether the work has ended before `stop` was called."""
        task, stopping = asyncio.ensure_future(work), asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            return task.done()
        finally:
            for each in (task, stopping):
                each.cancel()
            await asyncio.gather(task, stopping, return_exceptions=True)

    async def _watch_for_kubelet(self) -> None:
        """Exits when a kubelet appears later. (The socket for device plugins is our own by now.)"""
        while True:
            await self.clock.sleep(self.settings.recheck)
            if kubelet := roles.on_this_machine(self.settings.root, roles.SOCKETS[:1]):
                raise roles.Conflict(f"a kubelet appeared on this node; it owns pod status, exiting: {kubelet}")

    async def _checkpoint(self) -> None:
        async for note in self.persistence.run():
            logs.warn(note)

    # Probes and metrics

    def _healthz(self) -> tuple[int, str, str]:
        return 200, http.TEXT, "ok\n"

    def _readyz(self) -> tuple[int, str, str]:
        ready = self.running and self.introspection.ready
        return (200, http.TEXT, "ok\n") if ready else (503, http.TEXT, "pods and claims are not listed yet\n")

    def _metrics(self) -> tuple[int, str, str]:
        return 200, CONTENT_TYPE, self.metrics.text(self.introspection.gauges() if self.running else ())

    def _counters(self) -> dict[str, dict[str, int]]:
        return {"writes": dict(self.metrics.writes), "events": dict(self.metrics.events)}

    def _count_event(self, result: str) -> None:
        self.metrics.events[result] += 1

    def _wake_at(self, uid: str, when: float) -> None:
        self.writer.wake_at(uid, when)

    def _now(self) -> str:
        return lifecycle.text(self.wall())
