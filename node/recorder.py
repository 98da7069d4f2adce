"""Events about pods, recorded on the API server: few, and never in the way of anything. What is too many is dropped."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from node.backoff import Backoff
from node.clock import Clock
from node.holdings import Object
from node.measures import Measures
from node.watch import Unavailable
from node.writer import Server

COMPONENT = "podstrat-node"
MOST = 256
"""Events that wait. When there are more, the oldest are dropped."""


class Event(NamedTuple):
    pod: Object
    type: str
    reason: str
    message: str


class Recorder:
    def __init__(
        self, server: Server, node: str, clock: Clock, wall: Callable[[], str], random: Random, measures: Measures
    ) -> None:
        self.server, self.node, self.clock, self.wall, self.measures = server, node, clock, wall, measures
        self._waiting: deque[dict[str, Any]] = deque()
        self._bell = asyncio.Event()
        self._backoff = Backoff(1.0, 60.0, random)

    def record(self, event: Event) -> None:
        self._waiting.append(self._object(event))
        if len(self._waiting) > MOST:
            self._waiting.popleft()
            self.measures.events["dropped"] += 1
        self._bell.set()

    async def run(self) -> None:
        while True:
            while self._waiting:
                await self._send(self._waiting[0])
            self._bell.clear()
            await self._bell.wait()

    async def _send(self, event: dict[str, Any]) -> None:
        namespace = event["metadata"]["namespace"]
        try:
            answer = await self.server.request("POST", f"/api/v1/namespaces/{quote(namespace)}/events", event)
        except Unavailable:
            await self.clock.sleep(self._backoff.next())
            return
        if answer.code == 429 or answer.code >= 500:
            await self.clock.sleep(answer.retry_after or self._backoff.next())
            return
        self._backoff.reset()
        self.measures.events["recorded" if answer.code in (200, 201, 409) else "refused"] += 1
        if self._waiting and self._waiting[0] is event:
            self._waiting.popleft()

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
            "message": event.message,
            "source": {"component": COMPONENT, "host": self.node},
            "reportingComponent": COMPONENT,
            "reportingInstance": self.node,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
