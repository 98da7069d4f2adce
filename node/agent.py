"""The node writer, all of it: drivers, health, pods and claims, what is prepared, and what is written.

    agent = Agent(Settings(node="node-1", root=..., state=...), credentials.load(kubeconfig, os.environ))
    await agent.run()            # until agent.stop() is called

It is the library behind `podstrat node`, for whoever wants to have one in a process of their own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from random import Random
from typing import Any

from certs import files
from node import conditions, duties, feed, lifecycle, logs, pages, preparing, roles, sources, status, watch
from node.allocations import Allocations
from node.api import Api
from node.backoff import Backoff
from node.checkpoint import Checkpoint
from node.claims import Claims, Share
from node.claims import Settings as ClaimSettings
from node.clock import BootClock, Clock, boot_id
from node.credentials import Credentials
from node.drivers import Drivers
from node.drivers import Settings as DriverSettings
from node.health import Health
from node.health import Settings as HealthSettings
from node.holdings import Object
from node.kubelet import Kubelet
from node.lock import Lock
from node.measures import CONTENT_TYPE, Measures
from node.recorder import Event, Recorder
from node.reports import HEALTHY, UNHEALTHY, UNKNOWN, Registered, Report, Unregistered
from node.settings import GATES, BadSettings, Settings
from node.standin import StandIn
from node.tables import Tables
from node.transitions import Transitions
from node.watch import Unavailable
from node.writer import Plan, Writer


class Agent:
    def __init__(
        self,
        settings: Settings,
        credentials: Credentials,
        *,
        clock: Clock | None = None,
        wall: Callable[[], float] = time.time,
        random: Random | None = None,
    ) -> None:
        if unknown := sorted(settings.gates.keys() - GATES.keys()):
            raise BadSettings(f"unknown feature gate {unknown[0]} (there is: {', '.join(sorted(GATES))})")
        self.settings = settings
        self.clock = clock or BootClock()
        self.wall = wall
        self.random = random or Random()
        self.api = Api(credentials, self.clock)
        self.measures = Measures()
        self.health = Health(HealthSettings(grace=settings.grace, quiet=settings.quiet))
        self.allocations = Allocations()
        self.transitions = Transitions()
        self.role = roles.Role("", "")
        self.running = False
        self._stopped = asyncio.Event()
        self._sessions: dict[str, int] = {}
        self._bell = asyncio.Event()
        self._overheard: asyncio.Queue[Any] = asyncio.Queue(64)

    def stop(self) -> None:
        """Ends `run`, in good order. The pods' status stays as it is: that we stop is not their devices' fault."""
        self._stopped.set()

    async def run(self) -> None:
        with Lock(self.settings.state / "lock", self.settings.node, self.api.credentials.address):
            async with AsyncExitStack() as stack:
                stack.push_async_callback(self.api.close)
                served = pages.Pages({"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics})
                stack.push_async_callback(served.close)
                port = await served.listen(*self.settings.metrics) if self.settings.metrics else 0
                if not await self._unless_stopped(self._settle_role()):
                    return
                await self._assemble(stack)
                own = pages.Pages({**served.pages, **self.tables.pages()})
                stack.push_async_callback(own.close)
                await own.listen_on(self.settings.admin)
                await self._work(stack, port)

    # Putting it together

    async def _settle_role(self) -> None:
        """Finds out whose node it is. Without the API server that cannot be known, so it is waited for."""
        backoff, asked = Backoff(0.2, 10.0, self.random), self.settings.role
        while True:
            kubelet = roles.on_this_machine(self.settings.root)
            try:
                kubelet = kubelet or await roles.on_the_server(self.api, self.settings.node, self.wall())
                version = await self._version()
                break
            except Unavailable as why:
                logs.say("waiting for the API server", logging.WARNING, reason=str(why))
                await self.clock.sleep(backoff.next())
        self.role = roles.decide(asked, kubelet, simulate=self.settings.simulate_lifecycle)
        logs.say(
            "role", role=self.role.name, reason=self.role.reason, node=self.settings.node, server=self.api.credentials.address
        )
        self.version = version

    async def _version(self) -> tuple[int, int]:
        answer = await self.api.request("GET", "/version")
        if answer.code != 200:
            raise Unavailable(answer.text)
        digits = "".join(each for each in str(answer.body.get("minor") or "0") if each.isdecimal())
        return int(answer.body.get("major") or 0), int(digits or 0)

    async def _assemble(self, stack: AsyncExitStack) -> None:
        settings = self.settings
        self.owner = self.role.name == roles.OWNER
        needed = frozenset({"pods", "claims"} if self.owner else {"pods", "claims", "plugins"})
        about_claims = ClaimSettings(settings.node, extended=self.version >= (1, 37), sources=needed)
        self.claims = Claims(about_claims, self.health.look, self.health.is_remembered)
        self.duties = _duties(settings, self.owner)
        self.drivers = Drivers(_about_drivers(settings, self.owner), self.clock, self.random)
        self.pods_source = sources.pods(self.api, settings.node)
        self.claims_source = sources.claims(self.api)
        self.kubelet = Kubelet(str(settings.root / "pod-resources" / "kubelet.sock"), self.claims, self.clock)
        self.recorder = Recorder(self.api, settings.node, self.clock, self._now, self.random, self.measures)
        self.writer = Writer(
            self.api, self._plan, self, self.clock, self.random, settings=settings.writing, measures=self.measures, note=logs.warn
        )
        self.preparing = self._preparing()
        stack.push_async_callback(self.preparing.close)
        self.stand_in = StandIn(self.api, self.claims, self.preparing, self.clock, self.random)
        checkpoint = Checkpoint(settings.state / "health", boot_id())
        prepared = self.preparing if self.owner else None
        self.keeper = feed.Keeper(checkpoint, self.health, self.allocations, self.clock, self.wall, prepared=prepared)
        for note in self.keeper.load():
            logs.warn(note)
        self.tables = Tables(self)

    def _preparing(self) -> preparing.Preparing:
        return preparing.Preparing(
            self.drivers,
            self.claims,
            self.allocations,
            self.health,
            self.clock,
            self.random,
            settings=replace(self.settings.preparing, permanent=self.settings.gate(preparing.GATE)),
            save=lambda: self.keeper.save(),
            wake=self._touch,
            tell=self._complain,
            count=lambda what: self.measures.prepares.update([what]),
        )

    async def _work(self, stack: AsyncExitStack, port: int) -> None:
        """Everything at once, until one of it fails, which is a bug, or we are told to stop."""
        await stack.enter_async_context(self.drivers)
        work: list[Coroutine[Any, Any, None]] = [
            self._follow_pods(),
            self._follow_claims(),
            self._follow_drivers(),
            self._keep(),
            self._record_transitions(),
            self.recorder.run(),
            self.writer.run(),
        ]
        if self.owner:
            work += [self.preparing.bugs(), self._beware_of_kubelets()]
        else:
            work += [self._follow_kubelet()]
        if self.settings.simulate_lifecycle:
            work += [self.stand_in.remove(), self.stand_in.make_node(self.settings.node)]
        tasks = [asyncio.ensure_future(each) for each in work]
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
            if note := await self.keeper.save():
                logs.warn(note)
        finally:
            self.running = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        logs.say("stopped")

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether the work has ended before we were told to stop."""
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

    async def _beware_of_kubelets(self) -> None:
        """A kubelet that comes later takes over: we end, and say why. (The socket for device plugins is our own by now.)"""
        while True:
            await self.clock.sleep(self.settings.recheck)
            if kubelet := roles.on_this_machine(self.settings.root, roles.SOCKETS[:1]):
                raise roles.Conflict(f"a kubelet has come, and the status of its pods is its own: {kubelet}")

    # What is heard

    async def _follow_pods(self) -> None:
        async with aclosing(watch.changes(self.pods_source, self.clock, self.random, logs.warn)) as changes:
            async for change in changes:
                if change.kind == "seen":
                    self.seen(change.object)
                elif change.kind == "gone":
                    self.gone(change.object["metadata"]["uid"])
                else:
                    self._listed("pods")

    async def _follow_claims(self) -> None:
        async with aclosing(watch.changes(self.claims_source, self.clock, self.random, logs.warn)) as changes:
            async for kind, claim in changes:
                now = self.clock.now()
                if kind == "seen":
                    touched = self.claims.claim_seen(claim, now)
                    users = self.claims.users(claim)
                elif kind == "gone":
                    meta = claim["metadata"]
                    touched = users = self.claims.claim_gone(meta["namespace"], meta["name"], meta["uid"], now)
                else:
                    self._listed("claims")
                    continue
                if self.owner:
                    self.preparing.look(users)
                self._touch(touched)

    async def _follow_drivers(self) -> None:
        events = self._noticed(self.drivers.events() if self.owner else self._merged())
        async with aclosing(feed.wakes(events, self.health, self.claims, self.clock)) as wakes:
            async for wake in wakes:
                now = self.clock.now()
                self.measures.transitions.update(self.health.look(device, now).health for device in wake.changed)
                self._touch(wake.pods)
                for note in wake.notes:
                    logs.warn(note)

    async def _noticed(self, events: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """The events as they come. A driver that comes, goes or first speaks may be what a pod waits for."""
        async for event in events:
            yield event
            if isinstance(event, Report):
                if self._sessions.get(event.session.endpoint) == event.session.number:
                    continue
                self._sessions[event.session.endpoint] = event.session.number
            elif isinstance(event, Unregistered):
                self._sessions.pop(event.endpoint, None)
            elif not isinstance(event, Registered):
                continue
            if self.owner:
                self.preparing.look_at_all()

    async def _merged(self) -> AsyncGenerator[Any, None]:
        """Beside a kubelet: what drivers say, and what the kubelet says of device plugins."""
        queue = self._overheard

        async def forward() -> None:
            async for event in self.drivers.events():
                await queue.put(event)

        task = asyncio.ensure_future(forward())
        try:
            while True:
                getting = asyncio.ensure_future(queue.get())
                await asyncio.wait({getting, task}, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    task.result()
                yield await getting
        finally:
            task.cancel()

    async def _follow_kubelet(self) -> None:
        first = True
        async with aclosing(self.kubelet.run()) as answers:
            async for told in answers:
                for event in told.events:
                    await self._overheard.put(event)
                if told.note:
                    logs.warn(told.note)
                if first and self.claims.stale_since is None:
                    first = False
                    self._listed("plugins")
                self._touch(told.pods)

    def seen(self, pod: Object) -> None:
        """A pod is so, by the watch or by the answer to a write, whichever comes first."""
        uid, now = pod["metadata"]["uid"], self.clock.now()
        known = self.claims.pod(uid)
        if known is not None and _version(pod) < _version(known):
            return
        touched = self.claims.pod_seen(sources.pod_kept(pod), now)
        if self.owner:
            if given := self.allocations.of(uid):
                touched |= self.claims.plugins_given(uid, given, now)
            self.preparing.look(touched)
        elif known is None:
            self.kubelet.wake()
        self._touch(touched)

    def gone(self, uid: str) -> None:
        self.claims.pod_gone(uid, self.clock.now())
        self.writer.forget(uid)
        self.transitions.forget(uid)
        if self.owner:
            self.preparing.look([uid])

    def _listed(self, source: str) -> None:
        touched = self.claims.listed(source)
        if self.claims.ready and self.owner:
            self.preparing.look_at_all()
        self._touch(touched)

    def _touch(self, uids: Iterable[str]) -> None:
        """These pods have to be looked at: for events now, for their status when the writer comes to it."""
        uids, now = list(uids), self.clock.now()
        self.writer.wake(uids)
        before = self.transitions.next()
        for uid in uids:
            if (share := self._share(uid)) is not None and share.verdicts:
                self.transitions.see(uid, share.verdicts, now)
            if self.settings.simulate_lifecycle and (pod := self.claims.pod(uid)) is not None:
                self.stand_in.consider(pod)
        if self.transitions.next() < before:
            self._bell.set()

    # What is written

    def _share(self, uid: str) -> Share | None:
        share = self.claims.share(uid, self.clock.now())
        if share is None or self.owner:
            return share
        return conditions.with_the_kubelets_word(share)

    def _plan(self, uid: str, without: status.Without) -> Plan | None:
        share = self._share(uid)
        if share is None:
            return None
        life: Mapping[str, Any] = {}
        if self.owner:
            failure = self.preparing.failure(uid)
            if failure:
                life = duties.failed(share.pod, failure, self._now())
            elif self.settings.simulate_lifecycle:
                life = self._life(uid, share.pod)
        return duties.plan(share, self.duties, without, self._now(), life)

    def _life(self, uid: str, pod: Object) -> Mapping[str, Any]:
        wall = self.wall()
        step = lifecycle.step(pod, wall, ready=self.preparing.ready(uid), released=self.preparing.released(uid))
        if step.stopped:
            self.preparing.stopped(uid)
        if step.next != float("inf"):
            self.writer.wake_at(uid, self.clock.now() + max(0.05, step.next - wall))
        return step.status

    async def _record_transitions(self) -> None:
        while True:
            self._bell.clear()
            waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._bell.wait())]
            if (due := self.transitions.next()) != float("inf"):
                waits.append(asyncio.ensure_future(self.clock.sleep(max(0.0, due - self.clock.now()))))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            for event in self.transitions.due(self.clock.now()):
                self._complain(preparing.Fault(*event))

    def _complain(self, fault: preparing.Fault) -> None:
        pod = self.claims.pod(fault.uid)
        if pod is None:
            return
        meta = pod["metadata"]
        level = logging.WARNING if fault.type == "Warning" else logging.INFO
        logs.say(fault.message, level, reason=fault.reason, pod=f"{meta['namespace']}/{meta['name']}")
        self.recorder.record(Event(pod, fault.type, fault.reason, fault.message))

    async def _keep(self) -> None:
        async for note in self.keeper.run():
            logs.warn(note)

    # What is asked

    def _healthz(self) -> tuple[int, str, str]:
        return 200, pages.TEXT, "ok\n"

    def _readyz(self) -> tuple[int, str, str]:
        ready = self.running and self.claims.ready
        return (200, pages.TEXT, "ok\n") if ready else (503, pages.TEXT, "the pods and claims are not all known yet\n")

    def _metrics(self) -> tuple[int, str, str]:
        return 200, CONTENT_TYPE, self.measures.text(self._gauges() if self.running else ())

    def _gauges(self) -> Iterable[tuple[str, str, list[tuple[dict[str, str], float]]]]:
        counts: dict[tuple[str, str], int] = {}
        for device, verdict in self.health.all(self.clock.now()):
            for health in (HEALTHY, UNHEALTHY, UNKNOWN):
                counts.setdefault((device.driver, health), 0)
            counts[device.driver, verdict.health] += 1
        devices = [({"driver": driver, "health": health}, float(n)) for (driver, health), n in sorted(counts.items())]
        yield "devices", "Devices by driver and health.", devices
        yield "drivers", "Endpoints of drivers that are registered.", [({}, float(len(self.drivers.registered())))]
        yield "streams", "Health streams that are open.", [({}, float(self.drivers.open_streams()))]
        yield "pods", "Pods of this node.", [({}, float(len(self.claims.uids())))]
        yield "backlog", "Pods that wait for their status to be written.", [({}, float(self.writer.backlog()))]
        yield "holding", "1 while nothing can be written.", [({}, float(bool(self.writer.holding)))]
        silence = [
            ({"kind": kind}, self.clock.now() - source.heard)
            for kind, source in (("pods", self.pods_source), ("claims", self.claims_source))
            if source.heard is not None
        ]
        yield "silence_seconds", "Since the API server last said something about objects of a kind.", silence
        yield "role", "Which role it has.", [({"role": self.role.name}, 1.0)]

    def names(self, uids: Iterable[str]) -> list[str]:
        pods = [pod["metadata"] for uid in uids if (pod := self.claims.pod(uid)) is not None]
        return sorted(f"{meta['namespace']}/{meta['name']}" for meta in pods)

    def state_of(self, uid: str) -> str:
        """One word about what is going on with a pod."""
        if not self.owner:
            return ""
        if self.preparing.failure(uid):
            return "failing"
        if self.preparing.ready(uid):
            return "prepared"
        return "released" if self.preparing.released(uid) else "preparing"

    def _now(self) -> str:
        return lifecycle.text(self.wall())


def _duties(settings: Settings, owner: bool) -> duties.Settings:
    about = status.Settings(
        cdi=settings.gate("CDIResourceID"),
        messages=settings.gate("ResourceHealthStatusMessage"),
        pod_level=settings.gate("PodLevelResourceHealth"),
        observed_generation=settings.gate("PodObservedGenerationTracking"),
    )
    return duties.Settings(owner=owner, health=settings.gate("ResourceHealthStatus"), status=about)


def _about_drivers(settings: Settings, owner: bool) -> DriverSettings:
    return DriverSettings(
        registry=settings.root / "plugins_registry",
        device_plugins=settings.root / "device-plugins" if owner else None,
        bystander=None if owner else settings.listen_to,
        documents=settings.gate("NodeHealth"),
    )


def _version(pod: Object) -> int:
    """Versions of one object are numbers that grow, and where they are not, the later word counts."""
    text = str(pod["metadata"].get("resourceVersion") or "0")
    return int(text) if text.isdecimal() else 0
