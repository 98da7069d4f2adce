"""The status writer: the only component that patches pod status.

Pods to reconcile are a set, so the backlog never exceeds the number of pods. The patch is computed when a pod's turn comes, as
the difference between the server's state and the desired one; so nothing is written late, twice or needlessly.

State of a pod:

    state       enters when                                      leaves when
    idle        its turn ended                                   `wake`, or `wake_at` is due (waiting)
    waiting     it is woken                                      a slot is free, no hold, its back-off is over (busy)
    busy        its turn has begun                               up to date, written or gone (idle); a retry is due (waiting)
    unsure      409, a lost response, a failed `test`            it was read from the server
    excluded    a part was dropped or an entry refused           30 s, doubled each time up to `probe`; the entry has changed

State of the writer:

    hold        401, 403, 429, 503 or no response                back-off or Retry-After is over: no pod is written before
    paused      3 pods in a row lost their health entries        `probe` is over, or an entry is stored: the server's gate is off
    draining    `drain`: the agent ends                              never: writes in flight are waited for, none is started
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from podstrat.kubeclient.answer import JSON_PATCH, Answer
from podstrat.kubeclient.errors import Unavailable
from podstrat.node.model import Object, Plan
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock, wait_until
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.server import isolation, resources
from podstrat.node.state.published import FIELD
from podstrat.node.status import patch
from podstrat.node.status.patch import RefusedEntry, Without

GONE = "gone"
DROPPING_PODS = 3
"""Pods whose health the server has dropped before its gate counts as off: one or two may be a webhook that matches few pods."""
DROPPED_SECONDS = 15.0
"""Half of the first exclusion of a dropped part: soon enough for a webhook that is only being replaced."""


@dataclass(frozen=True)
class Settings:
    pause: float = 0.5
    """Debounce: seconds between two writes to one pod. The first is immediate; later changes are coalesced. Half a second keeps a
    flapping device at two writes a second, and people do not notice it."""
    at_once: int = 4
    """Concurrent writes: enough to hide the latency of the server, few enough for its fairness queues."""
    attempts: int = 5
    """Read-and-retry attempts within a turn: as client-go's RetryOnConflict."""
    first_retry: float = 0.5
    longest_retry: float = 60.0
    """Back-off in seconds, of a pod or of all. A minute at most, so that recovery of the server is noticed soon."""
    probe: float = 600.0
    """Seconds after which a part that the server dropped is tried again. Ten minutes: gates change with a server restart."""
    largest_wait: float = 120.0
    """Upper limit of Retry-After in seconds: a wrong header must not stop the writer for hours."""


Compose = Callable[[str, Without], Plan | None]
"""From a pod's UID to the patch it needs; None: not known yet, do not write."""


class Server(Protocol):
    async def request(self, method: str, path: str, body: Any = None, content_type: str = ...) -> Answer: ...


class Cache(Protocol):
    """Receives the server's state of a pod after reads and writes."""

    def seen(self, pod: Object) -> None: ...

    def gone(self, uid: str) -> None: ...


class Counters(Protocol):
    """Counters of the writer."""

    writes: Counter[str]
    refused: int

    def lag(self, seconds: float) -> None: ...


@dataclass(eq=False)
class _Pod:
    backoff: Backoff
    not_before: float = -NEVER
    unsure: bool = False
    """The cached pod may be stale: it is read before the next write."""
    parts: dict[str, float] = field(default_factory=dict)
    """Parts that the server dropped, and until when they are excluded."""
    drops: int = 0
    refused: frozenset[RefusedEntry] = frozenset()


class StatusWriter:
    def __init__(
        self,
        server: Server,
        compose: Compose,
        cache: Cache,
        clock: Clock,
        random: Random,
        *,
        settings: Settings | None = None,
        metrics: Counters,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.settings = settings or Settings()
        self.metrics = metrics
        self.server, self.compose, self.cache, self.clock = server, compose, cache, clock
        self._note = note
        self._random = random
        self._backoff = self._new_backoff()
        self._hold = -NEVER
        """No pod is written before this time."""
        self._held: str = ""
        """The reason, logged once."""
        self._waiting: dict[str, float] = {}
        """Pods to reconcile, and since when."""
        self._later: dict[str, float] = {}
        """Pods to reconcile again at a time."""
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._pods: dict[str, _Pod] = {}
        self._droppers: set[str] = set()
        self._paused = -NEVER
        """Health is excluded for every pod before this time: the server drops it."""
        self._bell = asyncio.Event()

    def wake(self, uids: Iterable[str]) -> None:
        """Enqueues pods to reconcile."""
        now = self.clock.now()
        for uid in uids:
            self._waiting.setdefault(uid, now)
        if self._waiting:
            self._bell.set()

    def wake_at(self, uid: str, when: float) -> None:
        """Enqueues a pod at a time."""
        self._later[uid] = min(self._later.get(uid, NEVER), when)
        self._bell.set()

    def forget(self, uid: str) -> None:
        """The pod is deleted."""
        for table in (self._waiting, self._later, self._pods):
            table.pop(uid, None)
        self._droppers.discard(uid)

    def in_flight(self) -> int:
        """Writes in flight."""
        return len(self._busy)

    def tracked(self) -> int:
        """Pods with state of their own (back-off, excluded parts)."""
        return len(self._pods)

    def backlog(self) -> int:
        return len(self._waiting) + len(self._busy)

    @property
    def holding(self) -> str:
        """The reason for the current hold; empty: none."""
        return self._held if self._hold > self.clock.now() else ""

    def paused(self) -> set[str]:
        """Parts that are excluded for some pod."""
        now = self.clock.now()
        parts = {part for pod in self._pods.values() for part, until in pod.parts.items() if until > now}
        return parts | {patch.HEALTH} if self._paused > now else parts

    async def run(self) -> None:
        """Writes forever."""
        try:
            while True:
                self._bell.clear()
                next = self._start_due(self.clock.now())
                await wait_until(self._bell, self.clock, next)
                for task in [task for task in self._busy.values() if task.done() and not task.cancelled()]:
                    task.result()
        finally:
            for task in self._busy.values():
                task.cancel()

    async def drain(self, seconds: float) -> None:
        """Starts nothing new and waits for writes in flight."""
        self._hold = NEVER
        if self._busy:
            await asyncio.wait(list(self._busy.values()), timeout=seconds)

    # Scheduling

    def _start_due(self, now: float) -> float:
        """Starts turns that are due, up to the concurrency limit; returns when to check again."""
        for uid in [uid for uid, when in self._later.items() if when <= now]:
            del self._later[uid]
            self._waiting.setdefault(uid, now)
        soonest = min(self._later.values(), default=NEVER)
        if self._hold > now:
            return min(soonest, self._hold) if self._waiting else soonest
        for uid in list(self._waiting):
            pod = self._pods.get(uid)
            if uid in self._busy:
                continue  # its end sets the event
            if pod is not None and pod.not_before > now:
                soonest = min(soonest, pod.not_before)
            elif len(self._busy) < self.settings.at_once:
                self._busy[uid] = task = asyncio.ensure_future(self._turn(uid, self._waiting.pop(uid)))
                task.add_done_callback(lambda _, uid=uid: self._finished(uid))  # type: ignore[misc]
        return soonest

    def _finished(self, uid: str) -> None:
        task = self._busy[uid]
        if task.cancelled() or task.exception() is None:
            del self._busy[uid]  # a failed task stays until `run` raises its exception
        self._bell.set()

    # One pod

    async def _turn(self, uid: str, since: float) -> None:
        pod = self._pods.setdefault(uid, _Pod(self._new_backoff()))
        for _ in range(self.settings.attempts):
            try:
                if pod.unsure and not await self._read(uid, pod):
                    return
                if await self._write(uid, pod, since):
                    return
            except Unavailable as why:
                pod.unsure = True  # it may have been written
                self.metrics.writes["unavailable"] += 1
                self._hold_all(self._backoff.next(), str(why))
                self._again(uid, since)
                return
            if self._hold > self.clock.now() or pod.not_before > self.clock.now():
                self._again(uid, since)
                return
        pod.not_before = self.clock.now() + pod.backoff.next()
        self._again(uid, since)

    async def _read(self, uid: str, pod: _Pod) -> bool:
        """Refreshes the pod from the server; whether it still exists."""
        plan = self.compose(uid, Without())
        if plan is None:
            return False
        meta = plan.pod["metadata"]
        answer = await self.server.request("GET", resources.pod_path(meta["namespace"], meta["name"]))
        if answer.code == 404 or (answer.code == 200 and answer.body["metadata"]["uid"] != uid):
            self._lost(uid)
            return False
        if answer.code != 200:
            self._failed(uid, pod, answer)
            raise Unavailable(answer.summary)
        pod.unsure = False
        self.cache.seen(answer.body)
        return True

    async def _write(self, uid: str, pod: _Pod, since: float) -> bool:
        """Computes and sends the patch; whether the turn is over."""
        plan = self.compose(uid, self._without(pod))
        if self._paused > self.clock.now():
            self.wake_at(uid, self._paused)
        if plan is None:
            self._pods.pop(uid, None)
            return True
        if not plan.patch:
            return True
        meta = plan.pod["metadata"]
        path = resources.pod_path(meta["namespace"], meta["name"], "status")
        answer = await self.server.request("PATCH", path, plan.patch, JSON_PATCH)
        if answer.code == 200:
            self._written(uid, pod, plan, answer.body, since)
            return True
        if answer.code == 404:
            self._lost(uid)
            return True
        if answer.code == 409 or (answer.code == 422 and not _causes(answer)):
            # A concurrent write, or another pod of that name: the cached pod is stale. (A patch whose `test` fails is refused
            # with the same reason as an invalid object, and without causes.)
            self.metrics.writes["conflict"] += 1
            pod.unsure = True
            return False
        if answer.code == 422:
            return not await self._isolated(uid, pod, plan, answer)
        self._failed(uid, pod, answer)
        return False

    def _written(self, uid: str, pod: _Pod, plan: Plan, body: Object, since: float) -> None:
        now = self.clock.now()
        self.metrics.writes["written"] += 1
        self.metrics.lag(now - since)
        pod.not_before = now + self.settings.pause
        pod.backoff.reset()
        self._backoff.reset()
        if self._held:
            self._note("API server accepts writes again")
            self._held = ""
        dropped = patch.untaken(plan.patch, body)
        if dropped:
            self._dropped(uid, pod, dropped, now)
        elif any(operation["path"].endswith(FIELD) for operation in plan.patch):
            self._droppers.clear()
            self._paused = -NEVER
            pod.drops = 0
        self.cache.seen(body)

    def _lost(self, uid: str) -> None:
        """The pod does not exist any more: not retried."""
        self.metrics.writes[GONE] += 1
        self.cache.gone(uid)
        self.forget(uid)

    def _failed(self, uid: str, pod: _Pod, answer: Answer) -> None:
        self.metrics.writes[str(answer.code)] += 1
        if answer.code in (401, 403, 429, 503):
            seconds = answer.retry_after if answer.code in (429, 503) else None
            wait = self._backoff.next()
            self._hold_all(wait if seconds is None else min(max(seconds, 0.0), self.settings.largest_wait), answer.summary)
        else:
            pod.not_before = self.clock.now() + pod.backoff.next()
            self._note(f"pod {self._name(uid)}: {answer.summary}")

    # Refused and dropped parts

    async def _isolated(self, uid: str, pod: _Pod, plan: Plan, answer: Answer) -> bool:
        """Excludes the entries that the server refuses, so that the rest can be written; whether any was found."""
        refused = await isolation.refused_entries(
            plan, _causes(answer), pod.refused, lambda without: self._is_refused(uid, without)
        )
        if refused:
            pod.refused |= refused
            self.metrics.refused += len(refused)
            names = ", ".join(sorted({f"{each.name} {each.resource}".strip() for each in refused}))
            self._note(f"pod {self._name(uid)}: server refused {names}; writing the rest: {answer.summary}")
            return True
        self.metrics.writes["invalid"] += 1
        # Half of the longest back-off at least: an invalid object stays invalid until it is changed.
        pod.not_before = self.clock.now() + max(self.settings.longest_retry / 2, pod.backoff.next())
        self._again(uid, self.clock.now())
        self._note(f"pod {self._name(uid)}: {answer.summary}")
        return False

    async def _is_refused(self, uid: str, without: frozenset[RefusedEntry]) -> bool:
        plan = self.compose(uid, Without(refused=without))
        if plan is None or not plan.patch:
            return False
        meta = plan.pod["metadata"]
        path = f"{resources.pod_path(meta['namespace'], meta['name'], 'status')}?dryRun=All"
        answer = await self.server.request("PATCH", path, plan.patch, JSON_PATCH)
        return answer.code == 422 and bool(_causes(answer))

    def _dropped(self, uid: str, pod: _Pod, parts: set[str], now: float) -> None:
        """The server accepted the write and dropped parts of it: a gate is off, or a webhook changed it."""
        pod.drops += 1
        until = now + min(self.settings.probe, DROPPED_SECONDS * 2 ** min(pod.drops, 10))
        for part in parts:
            pod.parts[part] = until
        self.wake_at(uid, until)
        self.metrics.writes["dropped"] += 1
        if patch.HEALTH in parts:
            self._droppers.add(uid)
            if len(self._droppers) >= DROPPING_PODS and self._paused <= now:
                self._paused = now + self.settings.probe
                self._note("server drops allocatedResourcesStatus (is its feature gate off?): writes of it paused")
        if pod.drops == 1:
            self._note(f"pod {self._name(uid)}: server drops {', '.join(sorted(parts))}: writes of it paused")

    def _without(self, pod: _Pod) -> Without:
        now = self.clock.now()
        parts = frozenset(part for part, until in pod.parts.items() if until > now)
        return Without(parts | {patch.HEALTH} if self._paused > now else parts, pod.refused)

    # Helpers

    def _hold_all(self, seconds: float, why: str) -> None:
        if not self._held:
            self._note(f"status writes on hold: {why}")
        self._held = why
        self._hold = max(self._hold, self.clock.now() + seconds)

    def _again(self, uid: str, since: float) -> None:
        self._waiting[uid] = min(since, self._waiting.get(uid, since))

    def _name(self, uid: str) -> str:
        plan = self.compose(uid, Without())
        return f"{plan.pod['metadata']['namespace']}/{plan.pod['metadata']['name']}" if plan else uid

    def _new_backoff(self) -> Backoff:
        return Backoff(self.settings.first_retry, self.settings.longest_retry, self._random)


def _causes(answer: Answer) -> list[str]:
    """Field paths of the causes of a 422."""
    details = answer.body.get("details") if isinstance(answer.body, dict) else None
    return [str(cause.get("field") or "") for cause in (details or {}).get("causes") or ()]
