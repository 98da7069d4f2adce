"""Making ready what pods hold, and giving it back, where that is ours to do: where there is no kubelet.

Each pod that needs something has a task of its own; a driver that hangs holds up nobody else. What was asked of a driver is on
record (and in the checkpoint) before it is asked, so that after a crash it can be given back.

KEP-5322: an error that its driver calls permanent is not tried again. What the pod holds is given back first, all of it; only
then is the pod Failed, so that nobody gets a device that is still taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from node.allocations import Allocations, Shortage
from node.backoff import Backoff
from node.claims import ENDED, Claims
from node.clock import Clock
from node.drivers import Drivers
from node.health import Health
from node.holdings import Object
from node.protocols import deviceplugin, dra
from node.protocols.calls import CallFailed
from node.reports import Device
from strategy import quantity
from strategy.resources import is_sidecar
from strategy.rules import resources

GATE = "DRAHandlePermanentDriverFailures"
REASON = "PermanentDriverFailure"
EVENT = "FailedPrepareDynamicResources"


@dataclass(frozen=True)
class Settings:
    permanent: bool = True
    """Our gate DRAHandlePermanentDriverFailures. Off: every error is tried again."""
    first_retry: float = 0.5
    longest_retry: float = 60.0
    """Seconds between two tries."""
    timeout: float = dra.TIMEOUT
    at_once: int = 32
    """Pods whose drivers are being called at the same time."""


class NotYet(Exception):
    """It cannot be prepared now, and may be later. The text says why; it is empty for what is only to be waited for."""


class Never(Exception):
    """It can never be prepared: its driver says so."""


@dataclass(eq=False)
class Record:
    """A claim that a driver was asked to prepare, and not yet to give back."""

    claim: dra.Claim
    drivers: set[str]
    """Those that have to be asked to give it back."""
    pods: set[str]
    done: set[str] = field(default_factory=set)
    """Those that have prepared it."""
    cdi: dict[Device, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Pod:
    task: asyncio.Task[None] | None = None
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: bool = False
    """There may be a driver now that was missing."""
    ready: bool = False
    failed: str = ""
    """Why it can never be prepared."""
    told: str = ""
    """The last error that was made an event of."""


class Fault(NamedTuple):
    """An event about a pod."""

    uid: str
    type: str
    reason: str
    message: str


class Preparing:
    def __init__(
        self,
        drivers: Drivers,
        claims: Claims,
        allocations: Allocations,
        health: Health,
        clock: Clock,
        random: Random,
        *,
        settings: Settings | None = None,
        save: Callable[[], Awaitable[object]],
        wake: Callable[[Iterable[str]], None],
        tell: Callable[[Fault], None],
        count: Callable[[str], None] = lambda what: None,
    ) -> None:
        self.settings = settings or Settings()
        self.drivers, self.claims, self.allocations, self.health = drivers, claims, allocations, health
        self.clock = clock
        self.changes = 0
        """Grows when there is something new to remember over a restart."""
        self._random = random
        self._save, self._wake, self._tell, self._count = save, wake, tell, count
        self._pods: dict[str, _Pod] = {}
        self._records: dict[str, Record] = {}
        self._turn = asyncio.Semaphore(self.settings.at_once)
        self._stopped: set[str] = set()
        """Pods whose containers run no more."""
        self._bug: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # What is asked

    def ready(self, uid: str) -> bool:
        """Whether all that the pod holds is prepared: it may start."""
        return uid in self._pods and self._pods[uid].ready

    def released(self, uid: str) -> bool:
        """Whether the pod holds nothing that a driver would have to be asked to give back."""
        return not any(uid in record.pods for record in self._records.values())

    def failure(self, uid: str) -> str | None:
        """Why the pod has to be failed, once everything is given back."""
        pod = self._pods.get(uid)
        return pod.failed if pod is not None and pod.failed and self.released(uid) else None

    def tasks(self) -> int:
        return sum(pod.task is not None for pod in self._pods.values())

    def records(self) -> int:
        return len(self._records)

    # What is told

    def look(self, uids: Iterable[str]) -> None:
        """Something about these pods has changed: whatever is to be done is begun, and what waits does not wait any longer."""
        for uid in uids:
            pod = self._pods.setdefault(uid, _Pod())
            pod.bell.set()
            if pod.task is None:
                goal = self._goal(uid)
                if goal is not None:
                    pod.task = asyncio.ensure_future(self._work(uid, pod))
                elif self.claims.pod(uid) is None:
                    self._forget(uid)

    def look_at_all(self) -> None:
        """Drivers have come or gone, or all sources were listed: those that wait for something try again."""
        known = set(self.claims.uids().values())
        held = {uid for record in self._records.values() for uid in record.pods} | self.allocations.uids()
        for pod in self._pods.values():
            pod.hurry = True
        self.look([*known, *sorted(held - known)])

    def stopped(self, uid: str) -> None:
        """The pod's containers run no more, whatever its phase says."""
        if uid not in self._stopped:
            self._stopped.add(uid)
            self.look([uid])

    async def bugs(self) -> None:
        """Waits until one of our tasks fails in a way that it must not, and fails the same way."""
        await self._bug

    async def close(self) -> None:
        tasks = [pod.task for pod in self._pods.values() if pod.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._bug.cancel()

    def rows(self) -> list[Any]:
        """What to remember over a restart."""
        return [
            [list(each.claim), sorted(each.drivers), sorted(each.pods), sorted(each.done), [[*d, c] for d, c in each.cdi.items()]]
            for each in self._records.values()
        ]

    def restore(self, rows: Iterable[Any]) -> None:
        for claim, drivers, pods, done, cdi in rows:
            record = Record(dra.Claim(*claim), set(drivers), set(pods), set(done), {Device(*d): c for *d, c in cdi})
            self._records[record.claim.uid] = record

    # The work

    def _goal(self, uid: str) -> str | None:
        if not self.claims.ready:
            return None
        pod = self.claims.pod(uid)
        mine = self._pods.get(uid) or _Pod()
        over = pod is None or (pod.get("status") or {}).get("phase") in ENDED or uid in self._stopped
        if over or mine.failed:
            return None if self.released(uid) and not self.allocations.of(uid) else "release"
        assert pod is not None
        if pod["metadata"].get("deletionTimestamp"):
            return None  # its containers have yet to stop; nothing new is prepared for it
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
                    self._complain(uid, pod, f"Failed to prepare dynamic resources permanently, not trying again: {why}")
                    continue
                if waits:
                    await pod.bell.wait()
        except Exception as error:
            if not self._bug.done():
                self._bug.set_exception(error)
        finally:
            pod.task = None
            if self.claims.pod(uid) is None and self.released(uid):
                self._forget(uid)
            self._wake([uid])

    async def _pause(self, uid: str, pod: _Pod, goal: str, seconds: float) -> None:
        """Not cut short by what merely changes: only by what makes another goal of it, or by drivers that come or go."""
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
        """Whether it is done; otherwise there is something to wait for."""
        pod = self.claims.pod(uid)
        assert pod is not None
        claims = self.claims.claims_of(uid)
        if claims is None:
            return False
        await self._allocate(uid, pod)
        await self._prepare_claims(uid, pod, claims)
        mine.ready, mine.told = True, ""
        self._wake([uid])
        return True

    async def _prepare_claims(self, uid: str, pod: Object, claims: list[Object]) -> None:
        asked: dict[str, list[Record]] = {}
        fresh = False
        for claim in claims:
            record = self._records.get(claim["metadata"]["uid"])
            if record is None:
                record = Record(_claim(claim), set(), set())
            for driver in _drivers(claim) - record.done:
                asked.setdefault(driver, []).append(record)
            fresh = fresh or uid not in record.pods
        endpoints = {driver: self.drivers.newest(driver) for driver in asked}
        if missing := sorted(driver for driver, plugin in endpoints.items() if plugin is None):
            raise NotYet(f"DRA driver {missing[0]} is not registered")
        for claim in claims:
            record = self._records.setdefault(claim["metadata"]["uid"], Record(_claim(claim), set(), set()))
            record.pods.add(uid)
            record.drivers |= _drivers(claim)
        asked = {driver: [self._records[each.claim.uid] for each in records] for driver, records in asked.items()}
        if fresh:
            self.changes += 1
            await self._save()
        outcomes = await asyncio.gather(*(self._ask(driver, records) for driver, records in asked.items()))
        errors = [error for found in outcomes for error in found]
        for error in errors:
            if isinstance(error, Never) and (pod.get("status") or {}).get("phase") != "Running":
                raise error  # one that is permanent counts more than any that are not
        if errors:
            raise NotYet("; ".join(map(str, errors)))
        self._wake(self._prepared(claims))

    async def _ask(self, driver: str, records: list[Record]) -> list[NotYet | Never]:
        """One call to one driver; what has gone wrong."""
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
                touched |= self.claims.claim_prepared(claim, cdi, self.clock.now())
        return touched

    # Device plugins

    async def _allocate(self, uid: str, pod: Object) -> None:
        """Gives the pod's containers devices of device plugins."""
        wanted = list(_extended(pod))
        if not wanted:
            return
        reusable: dict[str, set[str]] = {}
        for container, resource, count, lends in wanted:
            if self.allocations.of(uid).get(container, {}).get(resource):
                continue
            plugin = self.drivers.newest(resource)
            if plugin is None:
                raise NotYet(f"no device plugin for {resource} is registered")
            usable = self.health.healthy(resource, self.clock.now())
            if not usable and not self.health.knows(resource):
                raise NotYet("")  # it has only just come, and has not said yet what it has
            preferred = await self._preferred(plugin.endpoint, self.allocations.free(resource, usable), count)
            try:
                given = self.allocations.give(uid, container, resource, count, usable, preferred, reusable.get(resource, ()))
            except Shortage as shortage:
                raise NotYet(str(shortage)) from None
            if lends:
                reusable.setdefault(resource, set()).update(given)
            try:
                await deviceplugin.allocate(plugin.endpoint, [given], self.settings.timeout)
            except CallFailed as failure:
                self.allocations.release(uid)
                raise NotYet(f"{resource}: {failure}") from None
        self._wake(self.claims.plugins_given(uid, self.allocations.of(uid), self.clock.now()))

    async def _preferred(self, endpoint: str, free: list[str], count: int) -> tuple[str, ...]:
        try:
            options = await deviceplugin.options(endpoint, self.settings.timeout)
            if not options.preferred_allocation or len(free) < count:
                return ()
            return await deviceplugin.preferred(endpoint, free, (), count, self.settings.timeout)
        except CallFailed as failure:
            raise NotYet(str(failure)) from None

    # Giving back

    async def _release(self, uid: str, mine: _Pod) -> bool:
        """Gives back what nobody else uses. A driver that cannot is asked again, until it can."""
        mine.ready = False
        self.allocations.release(uid)
        errors = []
        for record in [record for record in self._records.values() if uid in record.pods]:
            if record.pods == {uid}:
                for driver in sorted(record.drivers):
                    if error := await self._give_back(driver, record):
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

    async def _give_back(self, driver: str, record: Record) -> str | None:
        plugin = self.drivers.newest(driver)
        if plugin is None or plugin.prepares is None:
            return f"claim {record.claim}: cannot be given back: DRA driver {driver} is not registered"
        try:
            results = await dra.unprepare(plugin.endpoint, plugin.prepares, [record.claim], self.settings.timeout)
        except CallFailed as failure:
            return f"claim {record.claim}: cannot be given back: driver {driver}: {failure}"
        if error := results[record.claim.uid]:
            return f"claim {record.claim}: cannot be given back: driver {driver}: {error}"
        record.drivers.discard(driver)
        record.done.discard(driver)
        return None

    def _forget(self, uid: str) -> None:
        self._pods.pop(uid, None)
        self._stopped.discard(uid)

    def _complain(self, uid: str, pod: _Pod, text: str) -> None:
        if pod.told != text:
            pod.told = text
            self._tell(Fault(uid, "Warning", EVENT, text))


def _claim(claim: Object) -> dra.Claim:
    meta = claim["metadata"]
    return dra.Claim(meta["namespace"], meta["name"], meta["uid"])


def _drivers(claim: Object) -> set[str]:
    return {result["driver"] for result in claim["status"]["allocation"]["devices"].get("results") or ()}


def _extended(pod: Object) -> Iterable[tuple[str, str, int, bool]]:
    """Container, resource, count, and whether the container lends what it gets to those that come after it."""
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
