"""Kubelet stub for simulated nodes: deletes terminated pods."""

from __future__ import annotations

import asyncio
from random import Random

from podstrat.kubeclient.errors import Unavailable
from podstrat.node.model import TERMINAL, Object
from podstrat.node.owner.prepare import Preparer
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock
from podstrat.node.server import resources
from podstrat.node.server.writer import Server
from podstrat.node.state.inventory import Inventory

DONE = (200, 202, 404, 409)
"""Deleted, accepted, not found, or another pod of that name."""


class KubeletStub:
    def __init__(self, server: Server, inventory: Inventory, preparer: Preparer, clock: Clock, random: Random) -> None:
        self.server, self.inventory, self.preparer, self.clock = server, inventory, preparer, clock
        self._random = random
        self._leaving: set[str] = set()
        self._bell = asyncio.Event()

    def consider(self, pod: Object) -> None:
        """Deletes a terminating pod that has ended and released its devices."""
        meta, status = pod["metadata"], pod.get("status") or {}
        if meta.get("deletionTimestamp") and status.get("phase") in TERMINAL and self.preparer.released(meta["uid"]):
            self._leaving.add(meta["uid"])
            self._bell.set()

    async def remove(self) -> None:
        """Deletes pods, forever."""
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
        pod = self.inventory.pod(uid)
        if pod is None:
            return True
        path = resources.pod_path(pod["metadata"]["namespace"], pod["metadata"]["name"])
        try:
            answer = await self.server.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        except Unavailable:
            return False
        return answer.code in DONE
