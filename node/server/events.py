"""Event recorder: Event objects about pods, sent in the background, aggregated into series and rate limited per pod.

    what happens                                          what is sent
    the first event of a pod, type and reason             a new Event object, at once
    the same again within SERIES seconds                  its series is counted up, at most once in INTERVAL seconds
    more than BURST new objects of one pod                one in REFILL seconds; the others are dropped
    the queue is full                                     the oldest is dropped

A series is as in events.k8s.io: `series.count` and `series.lastObservedTime`. The message is that of the last occurrence.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from podstrat.kubeclient.errors import Unavailable
from podstrat.node.model import Object
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock, wait_until
from podstrat.node.runtime.deadlines import NEVER
from podstrat.node.server.writer import Server

COMPONENT = "podstrat-node"
ACTION = "Watch"
"""What the reporting component was doing; required of events with a time in microseconds."""
MERGE = "application/merge-patch+json"
MOST = 256
"""Length of the queue; when it is full, the oldest are dropped. Twice the pods of a usual node."""
SERIES = 360.0
"""Seconds without another occurrence after which a series is over: as in client-go's recorder."""
INTERVAL = 10.0
"""Seconds between two updates of a series: a device that flaps all day costs six writes a minute, in two series."""
BURST, REFILL = 8, 60.0
"""New event objects of one pod: as many at once as it has kinds of events, with their recoveries, and then one a minute."""
KEPT = 1024
"""Series and pods that are remembered: the least recently used are forgotten first."""


class Event(NamedTuple):
    pod: Object
    type: str
    reason: str
    message: str


@dataclass(eq=False)
class _Series:
    path: str
    name: str
    message: str
    count: int
    last: float
    """When it last happened."""
    sent: float
    """When it was last sent."""
    body: dict[str, Any]
    dirty: bool = False
    """Occurrences are still to be sent."""


@dataclass
class _Bucket:
    tokens: float
    at: float


class Recorder:
    def __init__(
        self,
        server: Server,
        node: str,
        clock: Clock,
        wall: Callable[[], str],
        random: Random,
        count: Callable[[str], None],
    ) -> None:
        """`wall`: the time of day as RFC 3339, in seconds."""
        self.server, self.node, self.clock, self.wall = server, node, clock, wall
        self._count = count
        self._waiting: deque[_Series] = deque()
        self._series: OrderedDict[tuple[str, str, str], _Series] = OrderedDict()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._changed = asyncio.Event()
        self._backoff = Backoff(1.0, 60.0, random)

    def record(self, event: Event) -> None:
        now, uid = self.clock.now(), event.pod["metadata"]["uid"]
        key = (uid, event.type, event.reason)
        series = self._series.get(key)
        if series is not None and now < series.last + SERIES:
            series.count, series.last, series.message = series.count + 1, now, event.message
            if not series.dirty:
                series.dirty = True
                self._queue(series)
            self._count("aggregated")
            return
        if not self._allows(uid, now):
            self._count("dropped")
            return
        body = self._object(event)
        path = f"/api/v1/namespaces/{quote(body['metadata']['namespace'])}/events"
        series = _Series(path, body["metadata"]["name"], event.message, 1, now, -INTERVAL, body, dirty=True)
        _remember(self._series, key, series)
        self._queue(series)

    def series(self) -> list[_Series]:
        """The series that are open, the least recently used first."""
        return list(self._series.values())

    async def run(self) -> None:
        while True:
            self._changed.clear()
            now = self.clock.now()
            due = next((each for each in self._waiting if each.sent + INTERVAL <= now), None)
            if due is not None:
                await self._send(due)
                continue
            await wait_until(self._changed, self.clock, min((each.sent + INTERVAL for each in self._waiting), default=NEVER))

    async def _send(self, series: _Series) -> None:
        count = series.count
        try:
            answer = await self._request(series, count)
        except Unavailable:
            await self.clock.sleep(self._backoff.next())
            return
        if answer.code == 429 or answer.code >= 500:
            await self.clock.sleep(answer.retry_after or self._backoff.next())
            return
        self._backoff.reset()
        self._count("recorded" if answer.code in (200, 201, 409) else "refused")
        series.sent = self.clock.now()
        series.dirty = series.count > count
        if not series.dirty and series in self._waiting:
            self._waiting.remove(series)

    async def _request(self, series: _Series, count: int) -> Any:
        if series.sent > 0:
            answer = await self.server.request("PATCH", f"{series.path}/{quote(series.name)}", self._update(series, count), MERGE)
            if answer.code != 404:
                return answer
            # Events do not last: one that is gone is made again.
        return await self.server.request("POST", series.path, {**series.body, **self._update(series, count)})

    def _update(self, series: _Series, count: int) -> dict[str, Any]:
        now = self.wall()
        update: dict[str, Any] = {"message": series.message, "lastTimestamp": now, "count": count}
        if count > 1:
            update["series"] = {"count": count, "lastObservedTime": _micro(now)}
        return update

    def _queue(self, series: _Series) -> None:
        if series not in self._waiting:
            self._waiting.append(series)
        if len(self._waiting) > MOST:
            self._waiting.popleft().dirty = False
            self._count("dropped")
        self._changed.set()

    def _allows(self, uid: str, now: float) -> bool:
        """Token bucket of a pod's new event objects."""
        bucket = self._buckets.get(uid) or _Bucket(BURST, now)
        bucket.tokens, bucket.at = min(BURST, bucket.tokens + (now - bucket.at) / REFILL), now
        _remember(self._buckets, uid, bucket)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _object(self, event: Event) -> dict[str, Any]:
        meta, now = event.pod["metadata"], self.wall()
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name'][:200]}.{uuid4().hex[:16]}", "namespace": meta["namespace"]},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": meta["name"],
                "namespace": meta["namespace"],
                "uid": meta["uid"],
            },
            "type": event.type,
            "reason": event.reason,
            "action": ACTION,
            "eventTime": _micro(now),
            "source": {"component": COMPONENT, "host": self.node},
            "reportingComponent": COMPONENT,
            "reportingInstance": self.node,
            "firstTimestamp": now,
        }


def _micro(text: str) -> str:
    """A time with the microseconds that MicroTime has."""
    return f"{text.removesuffix('Z')}.000000Z"


def _remember(memory: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > KEPT:
        memory.popitem(last=False)
