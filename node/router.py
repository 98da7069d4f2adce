"""Event router: each change (pods, claims, driver events, podresources) updates the state and wakes the pods it concerns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from random import Random
from typing import Any, NamedTuple

from podstrat.node import logs
from podstrat.node.drivers.podresources import PodResources
from podstrat.node.drivers.supervisor import Drivers
from podstrat.node.model import Device, Object, PodEvent, Registered, Report, Unregistered
from podstrat.node.owner.kubelet_stub import KubeletStub
from podstrat.node.owner.prepare import REASON, Preparer
from podstrat.node.planner import Planner
from podstrat.node.runtime.clock import Clock
from podstrat.node.server import informer, resources
from podstrat.node.server.events import Event, Recorder
from podstrat.node.server.informer import Collection
from podstrat.node.server.writer import StatusWriter
from podstrat.node.state import events, failures, published
from podstrat.node.state.allocations import Allocations
from podstrat.node.state.health import Health
from podstrat.node.state.inventory import Inventory
from podstrat.node.state.transitions import Transitions

OVERHEARD = 64
"""Events of podresources that wait: more than a node has resources."""


class Parts(NamedTuple):
    """What the router connects."""

    drivers: Drivers
    health: Health
    inventory: Inventory
    allocations: Allocations
    transitions: Transitions
    podresources: PodResources
    recorder: Recorder
    planner: Planner
    writer: StatusWriter
    preparer: Preparer | None
    """None: beside a kubelet."""
    stub: KubeletStub | None
    """None: the pods' life is not simulated."""


class Router:
    def __init__(
        self,
        clock: Clock,
        random: Random,
        transitioned: Callable[[Iterable[str]], None],
    ) -> None:
        self.clock = clock
        self._random = random
        self._transitioned = transitioned
        """Counts health transitions, by their new health."""
        self._sessions: dict[str, int] = {}
        self._transitions_due = asyncio.Event()
        self._overheard: asyncio.Queue[Any] = asyncio.Queue(OVERHEARD)

    def connect(self, parts: Parts) -> None:
        """The parts take the router's methods as callbacks, so they are made after it."""
        self.parts = parts

    # Sources of change

    async def follow_pods(self, pods: Collection) -> None:
        async with aclosing(informer.changes(pods, self.clock, self._random, logs.warn)) as changes:
            async for change in changes:
                if change.kind == "seen":
                    self.seen(change.object)
                elif change.kind == "gone":
                    self.gone(change.object["metadata"]["uid"])
                else:
                    self._listed("pods")

    async def follow_claims(self, claims: Collection) -> None:
        inventory = self.parts.inventory
        async with aclosing(informer.changes(claims, self.clock, self._random, logs.warn)) as changes:
            async for kind, claim in changes:
                now = self.clock.now()
                if kind == "seen":
                    touched = inventory.claim_seen(claim, now)
                    users = inventory.users(claim)
                elif kind == "gone":
                    meta = claim["metadata"]
                    touched = users = inventory.claim_gone(meta["namespace"], meta["name"], meta["uid"], now)
                else:
                    self._listed("claims")
                    continue
                if self.parts.preparer is not None:
                    self.parts.preparer.look(users)
                self.touch(touched)

    async def follow_drivers(self) -> None:
        parts = self.parts
        stream = self._noticed(parts.drivers.events() if parts.preparer is not None else self._merged())
        async with aclosing(events.wakes(stream, parts.health, parts.inventory, self.clock)) as wakes:
            async for wake in wakes:
                self._transitioned(self._healths(wake.changed))
                self.touch(wake.pods)
                for note in wake.notes:
                    logs.warn(note)

    async def follow_podresources(self) -> None:
        first = True
        async with aclosing(self.parts.podresources.run()) as listings:
            async for listing in listings:
                for event in listing.events:
                    await self._overheard.put(event)
                if listing.note:
                    logs.warn(listing.note)
                if first and self.parts.inventory.stale_since is None:
                    first = False
                    self._listed("plugins")
                self.touch(listing.pods)

    async def follow_prepare_failures(self, events: Collection) -> None:
        """Beside a kubelet: permanent errors of drivers, by the kubelet's events."""
        async with aclosing(informer.changes(events, self.clock, self._random, logs.warn)) as changes:
            async for change in changes:
                failure = failures.failure(change.object) if change.kind == "seen" else None
                if failure is None or self.parts.planner.failures.get(failure.uid) == failure.error:
                    continue
                self.parts.planner.failures[failure.uid] = failure.error
                self.record(
                    PodEvent(failure.uid, "Warning", REASON, f"Preparing dynamic resources failed permanently: {failure.error}")
                )
                self.touch([failure.uid])

    async def follow_transitions(self) -> None:
        """Records events about health transitions when their debounce period is over."""
        transitions = self.parts.transitions
        while True:
            self._transitions_due.clear()
            waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._transitions_due.wait())]
            if (due := transitions.next()) != float("inf"):
                waits.append(asyncio.ensure_future(self.clock.sleep(max(0.0, due - self.clock.now()))))
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            for event in transitions.due(self.clock.now()):
                self.record(event)

    # Effects

    def seen(self, pod: Object) -> None:
        """A pod's state, by the watch or by the response to a write, whichever comes first."""
        parts, uid, now = self.parts, pod["metadata"]["uid"], self.clock.now()
        before = parts.inventory.pod(uid)
        if before is not None and _version(pod) < _version(before):
            return
        touched = parts.inventory.pod_seen(resources.trim_pod(pod), now)
        if parts.preparer is not None:
            if devices := parts.allocations.of(uid):
                touched |= parts.inventory.plugins_given(uid, devices, now)
            parts.preparer.look(touched)
        elif before is None or published.rows(before) != published.rows(pod):
            parts.podresources.wake()  # the kubelet has shown something else: what it means is asked at once
        self.touch(touched)

    def gone(self, uid: str) -> None:
        """A pod was deleted."""
        self.parts.inventory.pod_gone(uid, self.clock.now())
        self.parts.writer.forget(uid)
        self.parts.transitions.forget(uid)
        self.parts.planner.forget(uid)
        if self.parts.preparer is not None:
            self.parts.preparer.look([uid])

    def touch(self, uids: Iterable[str]) -> None:
        """Reconciles these pods: their events now, their status when the writer comes to it."""
        uids, now, transitions = list(uids), self.clock.now(), self.parts.transitions
        self.parts.writer.wake(uids)
        before = transitions.next()
        for uid in uids:
            if (share := self.parts.planner.share(uid)) is not None and share.verdicts:
                transitions.see(uid, share.verdicts, now)
            if self.parts.stub is not None and (pod := self.parts.inventory.pod(uid)) is not None:
                self.parts.stub.consider(pod)
        if transitions.next() < before:
            self._transitions_due.set()

    def record(self, event: PodEvent) -> None:
        """Logs an event about a pod, and records it on the API server."""
        pod = self.parts.inventory.pod(event.uid)
        if pod is None:
            return
        meta = pod["metadata"]
        level = logging.WARNING if event.type == "Warning" else logging.INFO
        logs.say(event.message, level, reason=event.reason, pod=f"{meta['namespace']}/{meta['name']}")
        self.parts.recorder.record(Event(pod, event.type, event.reason, event.message))

    def _listed(self, source: str) -> None:
        touched = self.parts.inventory.listed(source)
        if source == "pods":
            self.parts.transitions.retain(self.parts.inventory.uids().values())
        if self.parts.inventory.ready and self.parts.preparer is not None:
            self.parts.preparer.look_at_all()
        self.touch(touched)

    def _healths(self, devices: Iterable[Device]) -> list[str]:
        now = self.clock.now()
        return [self.parts.health.look(device, now).health for device in devices]

    async def _noticed(self, stream: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """Driver events as they come. A driver that registers, leaves or first reports may be what a pod waits for."""
        async for event in stream:
            yield event
            if isinstance(event, Report):
                if self._sessions.get(event.session.endpoint) == event.session.number:
                    continue
                self._sessions[event.session.endpoint] = event.session.number
            elif isinstance(event, Unregistered):
                self._sessions.pop(event.endpoint, None)
            elif not isinstance(event, Registered):
                continue
            if self.parts.preparer is not None:
                self.parts.preparer.look_at_all()

    async def _merged(self) -> AsyncGenerator[Any, None]:
        """Beside a kubelet: driver events, merged with those that podresources yields for device plugins.

        One of each is taken at a time, so that the drivers' queue keeps its bound.
        """
        drivers = self.parts.drivers.events()
        coming: asyncio.Future[Any] = asyncio.ensure_future(_next(drivers))
        getting: asyncio.Future[Any] = asyncio.ensure_future(self._overheard.get())
        try:
            while True:
                await asyncio.wait({coming, getting}, return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    yield getting.result()
                    getting = asyncio.ensure_future(self._overheard.get())
                if coming.done():
                    yield coming.result()
                    coming = asyncio.ensure_future(_next(drivers))
        finally:
            for task in (coming, getting):
                task.cancel()
            await asyncio.wait({coming, getting})


async def _next(events: AsyncIterator[Any]) -> Any:
    return await anext(events)


def _version(pod: Object) -> int:
    """resourceVersions of one object grow; where they are not numbers, the later state wins."""
    text = str(pod["metadata"].get("resourceVersion") or "0")
    return int(text) if text.isdecimal() else 0
