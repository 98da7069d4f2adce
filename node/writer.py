"""Writing pods' status: the only one that does.

A pod that has to be looked at is in a set, so that there are never more than there are pods. What is written is worked out when
its turn comes: the difference between what the server has and what it should have, at that moment. So nothing is ever sent late,
twice or for nothing; and what could not be written is simply looked at again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, Protocol

from node import sources, status
from node.api import JSON_PATCH, Answer
from node.backoff import Backoff
from node.clock import Clock
from node.deadlines import NEVER
from node.holdings import Object
from node.measures import Measures
from node.status import Operation, Refused, Without
from node.watch import Unavailable

GONE = "gone"
MOST_TRIED = 32
"""Entries of a pod that are tried one by one."""


@dataclass(frozen=True)
class Settings:
    pause: float = 0.5
    """Seconds between two writes to one pod. The first goes out at once; what changes meanwhile goes with the second."""
    at_once: int = 4
    """Writes under way at the same time."""
    attempts: int = 5
    """How often a pod is read anew and tried again, before it has to wait for its turn."""
    first_retry: float = 0.5
    longest_retry: float = 60.0
    """Seconds that a pod, or all of them, wait after a failure."""
    probe: float = 600.0
    """Seconds after which a part that the server has left out is tried again."""
    largest_wait: float = 120.0
    """Seconds of Retry-After that are honoured at most."""


class Plan(NamedTuple):
    pod: Object
    """As it was when the patch was worked out; what its containers' statuses are is as the patch makes them."""
    patch: list[Operation]
    """Empty: the status is as it should be."""


Compose = Callable[[str, Without], Plan | None]
"""From a pod's UID to what is to be written; None: nothing is known, leave it alone."""


class Server(Protocol):
    async def request(self, method: str, path: str, body: Any = None, content_type: str = ...) -> Answer: ...


class Books(Protocol):
    """Who is told what the server has."""

    def seen(self, pod: Object) -> None: ...

    def gone(self, uid: str) -> None: ...


@dataclass(eq=False)
class _Pod:
    backoff: Backoff
    not_before: float = -NEVER
    unsure: bool = False
    """What the server has may not be what we know: it is read before anything is written."""
    parts: dict[str, float] = field(default_factory=dict)
    """What the server left out, and until when it is not tried again."""
    drops: int = 0
    refused: frozenset[Refused] = frozenset()


class Writer:
    def __init__(
        self,
        server: Server,
        compose: Compose,
        books: Books,
        clock: Clock,
        random: Random,
        *,
        settings: Settings | None = None,
        measures: Measures | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.settings = settings or Settings()
        self.measures = measures or Measures()
        self.server, self.compose, self.books, self.clock = server, compose, books, clock
        self._note = note
        self._random = random
        self._backoff = self._new_backoff()
        self._hold = -NEVER
        """Until then nothing is written at all."""
        self._held: str = ""
        """Why; it is said once."""
        self._waiting: dict[str, float] = {}
        """Pods to be looked at, and since when."""
        self._later: dict[str, float] = {}
        """Pods to be looked at again by then."""
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._pods: dict[str, _Pod] = {}
        self._droppers: set[str] = set()
        self._paused = -NEVER
        """Until then health is not written for any pod: the server leaves it out."""
        self._bell = asyncio.Event()

    def wake(self, uids: Iterable[str]) -> None:
        """These pods have to be looked at."""
        now = self.clock.now()
        for uid in uids:
            self._waiting.setdefault(uid, now)
        if self._waiting:
            self._bell.set()

    def wake_at(self, uid: str, when: float) -> None:
        """This pod has to be looked at by then."""
        self._later[uid] = min(self._later.get(uid, NEVER), when)
        self._bell.set()

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        for known in (self._waiting, self._later, self._pods):
            known.pop(uid, None)
        self._droppers.discard(uid)

    def backlog(self) -> int:
        return len(self._waiting) + len(self._busy)

    @property
    def holding(self) -> str:
        """Why nothing is written at present; empty: it is."""
        return self._held if self._hold > self.clock.now() else ""

    def paused(self) -> set[str]:
        """The parts that are not written for some pod."""
        now = self.clock.now()
        found = {part for pod in self._pods.values() for part, until in pod.parts.items() if until > now}
        return found | {status.HEALTH} if self._paused > now else found

    async def run(self) -> None:
        """Writes, for ever."""
        try:
            while True:
                self._bell.clear()
                next = self._start_due(self.clock.now())
                await self._rest(next)
                for task in [task for task in self._busy.values() if task.done() and not task.cancelled()]:
                    task.result()
        finally:
            for task in self._busy.values():
                task.cancel()

    async def drain(self, seconds: float) -> None:
        """Begins nothing new, and lets the writes that are under way end."""
        self._hold = NEVER
        if self._busy:
            await asyncio.wait(list(self._busy.values()), timeout=seconds)

    # Whose turn it is

    def _start_due(self, now: float) -> float:
        """Begins what is due and has room; when to look again."""
        for uid in [uid for uid, when in self._later.items() if when <= now]:
            del self._later[uid]
            self._waiting.setdefault(uid, now)
        soonest = min(self._later.values(), default=NEVER)
        if self._hold > now:
            return min(soonest, self._hold) if self._waiting else soonest
        for uid in list(self._waiting):
            pod = self._pods.get(uid)
            if uid in self._busy:
                continue  # its end rings
            if pod is not None and pod.not_before > now:
                soonest = min(soonest, pod.not_before)
            elif len(self._busy) < self.settings.at_once:
                self._busy[uid] = task = asyncio.ensure_future(self._turn(uid, self._waiting.pop(uid)))
                task.add_done_callback(lambda _, uid=uid: self._finished(uid))  # type: ignore[misc]
        return soonest

    def _finished(self, uid: str) -> None:
        task = self._busy[uid]
        if task.cancelled() or task.exception() is None:
            del self._busy[uid]  # one that failed stays, until `run` fails in the same way
        self._bell.set()

    async def _rest(self, until: float) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._bell.wait())]
        if until < NEVER:
            waits.append(asyncio.ensure_future(self.clock.sleep(max(0.0, until - self.clock.now()))))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

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
                pod.unsure = True  # it may have been written all the same
                self.measures.writes["unavailable"] += 1
                self._stand_still(self._backoff.next(), str(why))
                self._again(uid, since)
                return
            if self._hold > self.clock.now() or pod.not_before > self.clock.now():
                self._again(uid, since)
                return
        pod.not_before = self.clock.now() + pod.backoff.next()
        self._again(uid, since)

    async def _read(self, uid: str, pod: _Pod) -> bool:
        """Reads what the server has; whether there is something to be gone on with."""
        known = self.compose(uid, Without())
        if known is None:
            return False
        meta = known.pod["metadata"]
        answer = await self.server.request("GET", sources.pod_path(meta["namespace"], meta["name"]))
        if answer.code == 404 or (answer.code == 200 and answer.body["metadata"]["uid"] != uid):
            self._lost(uid)
            return False
        if answer.code != 200:
            self._failed(uid, pod, answer)
            raise Unavailable(answer.text)
        pod.unsure = False
        self.books.seen(answer.body)
        return True

    async def _write(self, uid: str, pod: _Pod, since: float) -> bool:
        """Whether the pod's turn is over."""
        plan = self.compose(uid, self._without(pod))
        if self._paused > self.clock.now():
            self.wake_at(uid, self._paused)
        if plan is None:
            self._pods.pop(uid, None)
            return True
        if not plan.patch:
            return True
        meta = plan.pod["metadata"]
        path = sources.pod_path(meta["namespace"], meta["name"], "status")
        answer = await self.server.request("PATCH", path, plan.patch, JSON_PATCH)
        if answer.code == 200:
            self._written(uid, pod, plan, answer.body, since)
            return True
        if answer.code == 404:
            self._lost(uid)
            return True
        if answer.code == 409 or (answer.code == 422 and not _causes(answer)):
            # Somebody was faster, or it is another pod: what we know is not what the server has. (A patch whose tests fail is
            # refused with the same reason as an invalid object, and without causes.)
            self.measures.writes["conflict"] += 1
            pod.unsure = True
            return False
        if answer.code == 422:
            return not await self._isolated(uid, pod, plan, answer)
        self._failed(uid, pod, answer)
        return False

    def _written(self, uid: str, pod: _Pod, plan: Plan, body: Object, since: float) -> None:
        now = self.clock.now()
        self.measures.writes["written"] += 1
        self.measures.lag(now - since)
        pod.not_before = now + self.settings.pause
        pod.backoff.reset()
        self._backoff.reset()
        if self._held:
            self._note("the API server takes writes again")
            self._held = ""
        left_out = status.untaken(plan.patch, body)
        if left_out:
            self._left_out(uid, pod, left_out, now)
        elif any(operation["path"].endswith(status.FIELD) for operation in plan.patch):
            self._droppers.clear()
            self._paused = -NEVER
            pod.drops = 0
        self.books.seen(body)

    def _lost(self, uid: str) -> None:
        """There is no such pod any more. That is nothing to be tried again."""
        self.measures.writes[GONE] += 1
        self.books.gone(uid)
        self.forget(uid)

    def _failed(self, uid: str, pod: _Pod, answer: Answer) -> None:
        self.measures.writes[str(answer.code)] += 1
        if answer.code in (401, 403, 429, 503):
            asked = answer.retry_after if answer.code in (429, 503) else None
            wait = self._backoff.next()
            self._stand_still(wait if asked is None else min(max(asked, 0.0), self.settings.largest_wait), answer.text)
        else:
            pod.not_before = self.clock.now() + pod.backoff.next()
            self._note(f"pod {self._name(uid)}: {answer.text}")

    # What the server does not take

    async def _isolated(self, uid: str, pod: _Pod, plan: Plan, answer: Answer) -> bool:
        """Finds the part that the server refuses, so that the rest can be written; whether that has been found."""
        refused = status.refused_by(_causes(answer), plan.patch, plan.pod) or await self._tried(uid, pod, plan)
        refused -= pod.refused
        if refused:
            pod.refused |= refused
            self.measures.refused += len(refused)
            names = ", ".join(sorted({f"{each.name} {each.resource}".strip() for each in refused}))
            self._note(f"pod {self._name(uid)}: the server refuses {names}, the rest is written: {answer.text}")
            return True
        self.measures.writes["invalid"] += 1
        pod.not_before = self.clock.now() + max(self.settings.longest_retry / 2, pod.backoff.next())
        self._again(uid, self.clock.now())
        self._note(f"pod {self._name(uid)}: {answer.text}")
        return False

    async def _tried(self, uid: str, pod: _Pod, plan: Plan) -> set[Refused]:
        """Tries each entry by itself, without writing it: for an error that does not say which one it means."""
        every = status.entries_of(plan.patch, plan.pod)
        if not every or await self._is_refused(uid, pod.refused | every):
            return set()  # it is about something else
        return {each for each in sorted(every)[:MOST_TRIED] if await self._is_refused(uid, pod.refused | (every - {each}))}

    async def _is_refused(self, uid: str, without: frozenset[Refused]) -> bool:
        plan = self.compose(uid, Without(refused=without))
        if plan is None or not plan.patch:
            return False
        meta = plan.pod["metadata"]
        path = f"{sources.pod_path(meta['namespace'], meta['name'], 'status')}?dryRun=All"
        answer = await self.server.request("PATCH", path, plan.patch, JSON_PATCH)
        return answer.code == 422 and bool(_causes(answer))

    def _left_out(self, uid: str, pod: _Pod, parts: set[str], now: float) -> None:
        """The server has accepted the write and not taken all of it: a gate is off, or a webhook is in between."""
        pod.drops += 1
        until = now + min(self.settings.probe, 15.0 * 2 ** min(pod.drops, 10))
        for part in parts:
            pod.parts[part] = until
        self.wake_at(uid, until)
        self.measures.writes["left out"] += 1
        if status.HEALTH in parts:
            self._droppers.add(uid)
            if len(self._droppers) >= 3 and self._paused <= now:
                self._paused = now + self.settings.probe
                self._note("the server leaves allocatedResourcesStatus out (is its gate off?): it is not written for now")
        if pod.drops == 1:
            self._note(f"pod {self._name(uid)}: the server leaves out {', '.join(sorted(parts))}: not written for now")

    def _without(self, pod: _Pod) -> Without:
        now = self.clock.now()
        parts = frozenset(part for part, until in pod.parts.items() if until > now)
        return Without(parts | {status.HEALTH} if self._paused > now else parts, pod.refused)

    # Ground

    def _stand_still(self, seconds: float, why: str) -> None:
        if not self._held:
            self._note(f"nothing is written for now: {why}")
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
    """The fields that the server finds fault with."""
    details = answer.body.get("details") if isinstance(answer.body, dict) else None
    return [str(cause.get("field") or "") for cause in (details or {}).get("causes") or ()]
