"""Preparation: NodePrepareResources and Allocate for pods, and unprepare at their end, where no kubelet does it.

Each pod has a task of its own, so a driver that hangs delays no other pod. A claim is on record (and in the checkpoint) before a
driver is called, so that it can be unprepared after a crash.

    state of a pod   enters when                                         leaves when
    waiting          it is on this node, its claims are not complete     claims are allocated and reserved for it (preparing)
    preparing        claims complete, drivers registered                 every driver prepared (ready); a transient error (backing
                                                                         off); a permanent one (failed)
    backing off      a transient error                                   the back-off is over, or a driver registers (preparing)
    ready            everything is prepared and allocated                the pod ends or is deleted (releasing)
    stopping         deletionTimestamp is set: nothing is prepared       its containers have stopped, or it is gone (releasing)
    failed           a permanent error (KEP-5322), gate on               everything is unprepared: `failure` tells why
    releasing        the pod ended, was deleted, or failed               every driver has unprepared (released); errors back off
    released         no record of the pod is left                        never

KEP-5322: a permanent error is not retried. All claims of the pod are unprepared first; only then is the pod failed, so that no
other pod gets a device that is still in use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from podstrat.node.drivers.protocols import deviceplugin, dra
from podstrat.node.drivers.protocols.calls import CallFailed
from podstrat.node.drivers.supervisor import Drivers
from podstrat.node.model import TERMINAL, Device, Object, PodEvent
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock
from podstrat.node.state.allocations import Allocations, Shortage
from podstrat.node.state.health import Health
from podstrat.node.state.inventory import Inventory
from podstrat.strategy.formats import quantity
from podstrat.strategy.resources import is_sidecar
from podstrat.strategy.rules import resources

GATE = "DRAHandlePermanentDriverFailures"
REASON = "PermanentDriverFailure"
EVENT = "FailedPrepareDynamicResources"


@dataclass(frozen=True)
class Settings:
    permanent: bool = True
    """Our gate DRAHandlePermanentDriverFailures. Off: every error is retried."""
    first_retry: float = 0.5
    longest_retry: float = 60.0
    """Back-off in seconds. A minute at most: the kubelet retries every 60 to 90 s."""
    timeout: float = dra.TIMEOUT
    at_once: int = 32
    """Pods whose drivers are called concurrently: a full node of pods in a few rounds, without flooding one driver."""


class NotYet(Exception):
    """A transient error. The text says why; empty: only something to wait for."""


class Never(Exception):
    """A permanent error, as reported by the driver."""


@dataclass(eq=False)
class Record:
    """A claim that a driver was asked to prepare, not unprepared yet."""

    claim: dra.Claim
    drivers: set[str]
    """Drivers that have to unprepare it."""
    pods: set[str]
    done: set[str] = field(default_factory=set)
    """Drivers that have prepared it."""
    cdi: dict[Device, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Pod:
    task: asyncio.Task[None] | None = None
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: bool = False
    """A missing driver may have registered: end the back-off."""
    ready: bool = False
    failed: str = ""
    """The permanent error."""
    told: str = ""
    """The last error that was recorded as an event."""


class Preparer:
    def __init__(
        self,
        drivers: Drivers,
        inventory: Inventory,
        allocations: Allocations,
        health: Health,
        clock: Clock,
        random: Random,
        *,
        settings: Settings | None = None,
        save: Callable[[], Awaitable[object]],
        wake: Callable[[Iterable[str]], None],
        record: Callable[[PodEvent], None],
        count: Callable[[str], None] = lambda what: None,
    ) -> None:
        self.settings = settings or Settings()
        self.drivers, self.inventory, self.allocations, self.health = drivers, inventory, allocations, health
        self.clock = clock
        self.changes = 0
        """Counts changes that belong in the checkpoint."""
        self._random = random
        self._save, self._wake, self._record, self._count = save, wake, record, count
        self._pods: dict[str, _Pod] = {}
        self._records: dict[str, Record] = {}
        self._turn = asyncio.Semaphore(self.settings.at_once)
        self._stopped: set[str] = set()
        """Pods whose containers have stopped."""
        self._bug: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # Queries

    def ready(self, uid: str) -> bool:
        """Whether everything the pod holds is prepared: it may start."""
        return uid in self._pods and self._pods[uid].ready

    def released(self, uid: str) -> bool:
        """Whether no driver has to unprepare anything for the pod."""
        return not any(uid in record.pods for record in self._records.values())

    def failure(self, uid: str) -> str | None:
        """The permanent error, once everything is unprepared."""
        pod = self._pods.get(uid)
        return pod.failed if pod is not None and pod.failed and self.released(uid) else None

    def tasks(self) -> int:
        return sum(pod.task is not None for pod in self._pods.values())

    def tracked(self) -> int:
        """Pods with state of their own."""
        return len(self._pods)

    def records(self) -> int:
        return len(self._records)

    # Notifications

    def look(self, uids: Iterable[str]) -> None:
        """These pods have changed: starts or wakes their tasks."""
        for uid in uids:
            pod = self._pods.setdefault(uid, _Pod())
            pod.bell.set()
            if pod.task is None:
                goal = self._goal(uid)
                if goal is not None:
                    pod.task = asyncio.ensure_future(self._work(uid, pod))
                elif self.inventory.pod(uid) is None:
                    self._forget(uid)

    def look_at_all(self) -> None:
        """Drivers have changed, or all sources are listed: waiting pods retry."""
        uids = set(self.inventory.uids().values())
        owners = {uid for record in self._records.values() for uid in record.pods} | self.allocations.uids()
        for pod in self._pods.values():
            pod.hurry = True
        self.look([*uids, *sorted(owners - uids)])

    def stopped(self, uid: str) -> None:
        """The pod's containers have stopped, whatever its phase says."""
        if uid not in self._stopped:
            self._stopped.add(uid)
            self.look([uid])

    async def bugs(self) -> None:
        """Raises the first unexpected exception of a task."""
        await self._bug

    async def close(self) -> None:
        tasks = [pod.task for pod in self._pods.values() if pod.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._bug.cancel()

    def rows(self) -> list[Any]:
        """Rows for the checkpoint."""
        return [
            [list(each.claim), sorted(each.drivers), sorted(each.pods), sorted(each.done), [[*d, c] for d, c in each.cdi.items()]]
            for each in self._records.values()
        ]

    def restore(self, rows: Iterable[Any]) -> None:
        for claim, drivers, pods, drivers_done, cdi in rows:
            record = Record(dra.Claim(*claim), set(drivers), set(pods), set(drivers_done), {Device(*d): c for *d, c in cdi})
            self._records[record.claim.uid] = record

    # Tasks

    def _goal(self, uid: str) -> str | None:
        if not self.inventory.ready:
            return None
        pod = self.inventory.pod(uid)
        mine = self._pods.get(uid) or _Pod()
        over = pod is None or (pod.get("status") or {}).get("phase") in TERMINAL or uid in self._stopped
        if over or mine.failed:
            return None if self.released(uid) and not self.allocations.of(uid) else "release"
        assert pod is not None
        if pod["metadata"].get("deletionTimestamp"):
            return None  # its containers have yet to stop; nothing is prepared for it
        return None if mine.ready else "prepare"

    async def _work(self, uid: str, pod: _Pod) -> None:
        backoff = Backoff(self.settings.first_retry, self.settings.longest_retry, self._random)
        try:
            while (goal := self._goal(uid)) is not None:
                pod.bell.clear()
                waits = True
                try:
                    async with self._turn:
                        waits = not await (self._prepare(uid, pod) if goal == "prepare" else self._release(uid, pod))
                except NotYet as why:
                    if str(why):
                        self._count("transient")
                        self._complain(uid, pod, f"Failed to prepare dynamic resources: {why}")
                        await self._pause(uid, pod, goal, backoff.next())
                        continue
                except Never as why:
                    self._count("permanent")
                    pod.failed = str(why)
                    backoff.reset()
                    self._complain(uid, pod, f"Failed to prepare dynamic resources permanently, not retried: {why}")
                    continue
                if waits:
                    await pod.bell.wait()
        except Exception as error:
            if not self._bug.done():
                self._bug.set_exception(error)
        finally:
            pod.task = None
            if self.inventory.pod(uid) is None and self.released(uid):
                self._forget(uid)
            self._wake([uid])

    async def _pause(self, uid: str, pod: _Pod, goal: str, seconds: float) -> None:
        """Back-off, ended early only by another goal or by a change of drivers."""
        sleeping = asyncio.ensure_future(self.clock.sleep(seconds))
        pod.hurry = False
        try:
            while not sleeping.done() and not pod.hurry and self._goal(uid) == goal:
                pod.bell.clear()
                ringing = asyncio.ensure_future(pod.bell.wait())
                try:
                    await asyncio.wait({sleeping, ringing}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    ringing.cancel()
        finally:
            sleeping.cancel()

    # Preparing

    async def _prepare(self, uid: str, mine: _Pod) -> bool:
        """Whether it is done; otherwise the claims are incomplete."""
        pod = self.inventory.pod(uid)
        assert pod is not None
        claims = self.inventory.claims_of(uid)
        if claims is None:
            return False
        await self._allocate(uid, pod)
        await self._prepare_claims(uid, pod, claims)
        mine.ready, mine.told = True, ""
        self._wake([uid])
        return True

    async def _prepare_claims(self, uid: str, pod: Object, claims: list[Object]) -> None:
        by_driver: dict[str, list[Record]] = {}
        fresh = False
        for claim in claims:
            record = self._records.get(claim["metadata"]["uid"])
            if record is None:
                record = Record(_claim(claim), set(), set())
            for driver in _drivers(claim) - record.done:
                by_driver.setdefault(driver, []).append(record)
            fresh = fresh or uid not in record.pods
        endpoints = {driver: self.drivers.newest(driver) for driver in by_driver}
        if missing := sorted(driver for driver, plugin in endpoints.items() if plugin is None):
            raise NotYet(f"DRA driver {missing[0]} is not registered")
        for claim in claims:
            record = self._records.setdefault(claim["metadata"]["uid"], Record(_claim(claim), set(), set()))
            record.pods.add(uid)
            record.drivers |= _drivers(claim)
        by_driver = {driver: [self._records[each.claim.uid] for each in records] for driver, records in by_driver.items()}
        if fresh:
            self.changes += 1
            await self._save()
        outcomes = await asyncio.gather(*(self._ask(driver, records) for driver, records in by_driver.items()))
        errors = [error for faults in outcomes for error in faults]
        for error in errors:
            if isinstance(error, Never) and (pod.get("status") or {}).get("phase") != "Running":
                raise error  # a permanent error outweighs transient ones
        if errors:
            raise NotYet("; ".join(map(str, errors)))
        self._wake(self._prepared(claims))

    async def _ask(self, driver: str, records: list[Record]) -> list[NotYet | Never]:
        """One call to one driver; returns the errors."""
        plugin = self.drivers.newest(driver)
        if plugin is None or plugin.prepares is None:
            return [NotYet(f"DRA driver {driver} is not registered")]
        claims = [record.claim for record in records]
        try:
            results = await dra.prepare(plugin.endpoint, plugin.prepares, claims, self.settings.timeout)
        except CallFailed as failure:
            return [NotYet(f"claim {', '.join(map(str, claims))}: driver {driver}: {failure}")]
        errors: list[NotYet | Never] = []
        for record in records:
            result = results[record.claim.uid]
            if result.error is None:
                record.done.add(driver)
                record.cdi |= {
                    Device(driver, each.pool, each.name): each.cdi_devices[0] for each in result.devices if each.cdi_devices
                }
                continue
            kind = Never if result.permanent and self.settings.permanent else NotYet
            errors.append(kind(f"claim {record.claim}: driver {driver}: {result.error}"))
        return errors

    def _prepared(self, claims: list[Object]) -> set[str]:
        self.changes += 1
        touched = set()
        for claim in claims:
            if cdi := self._records[claim["metadata"]["uid"]].cdi:
                touched |= self.inventory.claim_prepared(claim, cdi, self.clock.now())
        return touched

    # Device plugins

    async def _allocate(self, uid: str, pod: Object) -> None:
        """Allocates device-plugin devices to the pod's containers."""
        requests = list(_extended(pod))
        if not requests:
            return
        reusable: dict[str, set[str]] = {}
        for container, resource, count, lends in requests:
            if self.allocations.of(uid).get(container, {}).get(resource):
                continue
            plugin = self.drivers.newest(resource)
            if plugin is None:
                raise NotYet(f"no device plugin for {resource} is registered")
            usable = self.health.healthy(resource, self.clock.now())
            if not usable and not self.health.knows(resource):
                raise NotYet("")  # it has just registered and not listed its devices yet
            preferred = await self._preferred(plugin.endpoint, self.allocations.free(resource, usable), count)
            try:
                ids = self.allocations.give(uid, container, resource, count, usable, preferred, reusable.get(resource, ()))
            except Shortage as shortage:
                raise NotYet(str(shortage)) from None
            if lends:
                reusable.setdefault(resource, set()).update(ids)
            try:
                await deviceplugin.allocate(plugin.endpoint, [ids], self.settings.timeout)
            except CallFailed as failure:
                self.allocations.release(uid)
                raise NotYet(f"{resource}: {failure}") from None
        self._wake(self.inventory.plugins_given(uid, self.allocations.of(uid), self.clock.now()))

    async def _preferred(self, endpoint: str, free: list[str], count: int) -> tuple[str, ...]:
        try:
            options = await deviceplugin.options(endpoint, self.settings.timeout)
            if not options.preferred_allocation or len(free) < count:
                return ()
            return await deviceplugin.preferred(endpoint, free, (), count, self.settings.timeout)
        except CallFailed as failure:
            raise NotYet(str(failure)) from None

    # Unprepare

    async def _release(self, uid: str, mine: _Pod) -> bool:
        """Unprepares claims that no other pod uses. Errors are retried."""
        mine.ready = False
        self.allocations.release(uid)
        errors = []
        for record in [record for record in self._records.values() if uid in record.pods]:
            if record.pods == {uid}:
                for driver in sorted(record.drivers):
                    if error := await self._unprepare(driver, record):
                        errors.append(error)
            if not record.drivers or record.pods != {uid}:
                record.pods.discard(uid)
                self.changes += 1
                if not record.pods:
                    self._records.pop(record.claim.uid, None)
        if errors:
            raise NotYet("; ".join(errors))
        self._wake([uid])
        return True

    async def _unprepare(self, driver: str, record: Record) -> str | None:
        plugin = self.drivers.newest(driver)
        if plugin is None or plugin.prepares is None:
            return f"claim {record.claim}: cannot unprepare: DRA driver {driver} is not registered"
        try:
            results = await dra.unprepare(plugin.endpoint, plugin.prepares, [record.claim], self.settings.timeout)
        except CallFailed as failure:
            return f"claim {record.claim}: cannot unprepare: driver {driver}: {failure}"
        if error := results[record.claim.uid]:
            return f"claim {record.claim}: cannot unprepare: driver {driver}: {error}"
        record.drivers.discard(driver)
        record.done.discard(driver)
        return None

    def _forget(self, uid: str) -> None:
        self._pods.pop(uid, None)
        self._stopped.discard(uid)

    def _complain(self, uid: str, pod: _Pod, text: str) -> None:
        if pod.told != text:
            pod.told = text
            self._record(PodEvent(uid, "Warning", EVENT, text))


def _claim(claim: Object) -> dra.Claim:
    meta = claim["metadata"]
    return dra.Claim(meta["namespace"], meta["name"], meta["uid"])


def _drivers(claim: Object) -> set[str]:
    return {result["driver"] for result in claim["status"]["allocation"]["devices"].get("results") or ()}


def _extended(pod: Object) -> Iterable[tuple[str, str, int, bool]]:
    """Container, resource, count, and whether later containers may reuse the devices (init containers)."""
    spec = pod["spec"]
    status: Object = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    by_claim = {(each["containerName"], each["resourceName"]) for each in status.get("requestMappings") or ()}
    inits = spec.get("initContainers") or ()
    for i, container in enumerate([*inits, *spec["containers"]]):
        for resource, text in ((container.get("resources") or {}).get("requests") or {}).items():
            if resources.is_extended(resource) and (container["name"], resource) not in by_claim:
                count = quantity.parse(str(text)).value()
                if count > 0:
                    yield container["name"], resource, count, i < len(inits) and not is_sidecar(dict(container))
