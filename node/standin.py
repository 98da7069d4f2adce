"""What a kubelet does besides, where one is simulated: it makes its node known, and removes pods that have ended."""

from __future__ import annotations

import asyncio
from random import Random

from node import roles, sources
from node.backoff import Backoff
from node.claims import ENDED, Claims
from node.clock import Clock
from node.holdings import Object
from node.preparing import Preparing
from node.watch import Unavailable
from node.writer import Server

MERGE = "application/merge-patch+json"
DONE = (200, 202, 404, 409)
"""The pod is gone, or is not the one it was."""


class StandIn:
    def __init__(self, server: Server, claims: Claims, preparing: Preparing, clock: Clock, random: Random) -> None:
        self.server, self.claims, self.preparing, self.clock = server, claims, preparing, clock
        self._random = random
        self._leaving: set[str] = set()
        self._bell = asyncio.Event()

    def consider(self, pod: Object) -> None:
        """A pod that is to be deleted and has ended, and has given everything back, is removed."""
        meta, status = pod["metadata"], pod.get("status") or {}
        if meta.get("deletionTimestamp") and status.get("phase") in ENDED and self.preparing.released(meta["uid"]):
            self._leaving.add(meta["uid"])
            self._bell.set()

    async def remove(self) -> None:
        """Removes pods, for ever."""
        backoff = Backoff(0.2, 30.0, self._random)
        while True:
            await self._bell.wait()
            self._bell.clear()
            for uid in list(self._leaving):
                if await self._removed(uid):
                    self._leaving.discard(uid)
                    backoff.reset()
            if self._leaving:
                await self.clock.sleep(backoff.next())
                self._bell.set()

    async def _removed(self, uid: str) -> bool:
        pod = self.claims.pod(uid)
        if pod is None:
            return True
        path = sources.pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"])
        try:
            answer = await self.server.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        except Unavailable:
            return False
        return answer.code in DONE

    async def make_node(self, name: str) -> None:
        """A simulated node is there without anybody having to make it. Never ends."""
        backoff = Backoff(0.2, 30.0, self._random)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {roles.SIMULATED: "true"}}}
        while not await self._made(node):
            await self.clock.sleep(backoff.next())
        await asyncio.Event().wait()

    async def _made(self, node: Object) -> bool:
        path = "/api/v1/nodes"
        condition = {
            "type": "Ready",
            "status": "True",
            "reason": "Simulated",
            "message": "the node writer stands in for a kubelet",
        }
        status = {"status": {"conditions": [condition], "nodeInfo": {"kubeletVersion": "podstrat"}}}
        try:
            answer = await self.server.request("POST", path, node)
            if answer.code == 201:
                await self.server.request("PATCH", f"{path}/{node['metadata']['name']}/status", status, MERGE)
        except Unavailable:
            return False
        return answer.code in (201, 403, 409)
