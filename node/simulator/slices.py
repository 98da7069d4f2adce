"""ResourceSlices of a simulated DRA driver: published, and kept current.

A kubelet deletes all slices of its node when it starts, and those of a driver 30 s after it was lost. So they are compared with
the server's from time to time, and made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from podstrat.kubeclient.errors import Unavailable
from podstrat.node.runtime.clock import Clock
from podstrat.node.server.client import ApiClient

PATH = "/apis/resource.k8s.io/v1/resourceslices"
MOST = 128
"""Devices of one slice: the API server's limit."""
PERIOD = 2.0
"""Seconds between two comparisons: a pod that needs the devices waits for its scheduler as long, at most."""


class Publisher:
    def __init__(
        self, api: ApiClient, node: str, driver: str, pool: str, devices: Callable[[], Iterable[str]], clock: Clock
    ) -> None:
        self.api, self.node, self.driver, self.pool, self.clock = api, node, driver, pool, clock
        self._devices = devices
        self._owner: list[dict[str, Any]] = []
        self.problem = ""
        """Why the slices are not current; empty: they are."""

    async def run(self) -> None:
        """Keeps the slices current, forever."""
        while True:
            try:
                await self.reconcile()
                self.problem = ""
            except Unavailable as error:
                self.problem = str(error)
            await self.clock.sleep(PERIOD)

    async def reconcile(self) -> None:
        await self._find_node()
        stored = {name: slice for name, slice in [await self._get(name) for name in self._names()] if slice is not None}
        pages = self._pages()
        desired = {self._name(number): page for number, page in enumerate(pages)}
        if stored.keys() == desired.keys() and all(_devices(stored[name]) == page for name, page in desired.items()):
            return
        generation = max((slice["spec"]["pool"]["generation"] for slice in stored.values()), default=0) + 1
        for name, page in desired.items():
            await self._put(name, page, generation, len(pages), stored.get(name))
        for name in stored.keys() - desired.keys():
            await self._expect(await self.api.request("DELETE", f"{PATH}/{quote(name)}"), 200, 404)

    async def _find_node(self) -> None:
        """Slices belong to their node, and go with it."""
        if not self._owner:
            answer = await self.api.request("GET", f"/api/v1/nodes/{quote(self.node)}")
            await self._expect(answer, 200)
            uid = answer.body["metadata"]["uid"]
            self._owner = [{"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": uid, "controller": True}]

    def _pages(self) -> list[list[str]]:
        names = sorted(self._devices())
        return [names[start : start + MOST] for start in range(0, len(names), MOST)] or [[]]

    def _names(self) -> Sequence[str]:
        """The names of the slices that there may be: one more than is needed, in case there are fewer devices now."""
        return [self._name(number) for number in range(len(self._pages()) + 1)]

    def _name(self, number: int) -> str:
        return f"{self.node}-{self.driver}" + (f"-{number}" if number else "")

    async def _get(self, name: str) -> tuple[str, Any]:
        answer = await self.api.request("GET", f"{PATH}/{quote(name)}")
        await self._expect(answer, 200, 404)
        return name, answer.body if answer.code == 200 else None

    async def _put(self, name: str, devices: list[str], generation: int, count: int, before: Any) -> None:
        slice = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name, "ownerReferences": self._owner},
            "spec": {
                "driver": self.driver,
                "nodeName": self.node,
                "pool": {"name": self.pool, "generation": generation, "resourceSliceCount": count},
                "devices": [{"name": each, "attributes": {"simulated": {"bool": True}}} for each in devices],
            },
        }
        if before is None:
            await self._expect(await self.api.request("POST", PATH, slice), 201, 409)
        else:
            slice["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]  # type: ignore[index]
            await self._expect(await self.api.request("PUT", f"{PATH}/{quote(name)}", slice), 200, 404, 409)

    async def _expect(self, answer: Any, *codes: int) -> None:
        if answer.code not in codes:
            raise Unavailable(answer.summary)


def _devices(slice: Any) -> list[str]:
    return [each["name"] for each in slice["spec"].get("devices") or ()]
