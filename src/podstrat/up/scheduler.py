"""A scheduler for one node: binds every pod to it and allocates the first free devices to claims.

Device classes and selectors are not looked at, nor is room, nor what the device plugin has given away: everything fits
on this node as long as there are devices.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import NamedTuple

from podstrat.up.client import CLAIMS, MERGE, SLICES, ApiClient, Object, Refused
from podstrat.up.process import UpError

PAUSE = 0.2
"""Seconds between two looks at the pods."""


class Device(NamedTuple):
    driver: str
    pool: str
    name: str


class Unschedulable(Exception):
    """Why a pod cannot be bound now."""


class Scheduler:
    """Works in a thread of its own while it is entered."""

    def __init__(self, api: ApiClient, node: str) -> None:
        self._api, self._node = api, node
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._failure: Exception | None = None

    def __enter__(self) -> Scheduler:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        """Raise UpError if it has stopped."""
        if self._failure is not None:
            raise UpError(f"the scheduler stopped: {self._failure}")

    def _run(self) -> None:
        try:
            while not self._over.wait(PAUSE):
                self.look()
        except Exception as error:
            if not self._over.is_set():
                self._failure = error

    def look(self) -> None:
        """Bind pending pods, and release the devices of claims without pods."""
        pods = self._api.items("/api/v1/pods")
        self._free({pod["metadata"]["uid"] for pod in pods})
        for pod in sorted(pods, key=_age):
            if not pod["spec"].get("nodeName") and not pod["spec"].get("schedulingGates"):
                try:
                    self._bind(pod)
                except Unschedulable as why:
                    self._complain(pod, str(why))
                except Refused as refused:
                    if refused.code not in (404, 409):  # gone, or somebody was faster: it is looked at again
                        raise

    def _bind(self, pod: Object) -> None:
        meta = pod["metadata"]
        for reference in pod["spec"].get("resourceClaims") or ():
            self._reserve(pod, reference)
        binding = {"metadata": {"name": meta["name"]}, "target": {"kind": "Node", "name": self._node}}
        self._api.create(f"{_path(meta)}/binding", binding)

    def _complain(self, pod: Object, why: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
        if condition.items() <= next(_conditions(pod), {}).items():
            return
        self._api.patch(f"{_path(pod['metadata'])}/status", {"status": {"conditions": [condition]}})

    # ---- claims --------------------------------------------------------------------------------------

    def _reserve(self, pod: Object, reference: Object) -> None:
        """The claim has devices, and the pod is among those that hold it."""
        name, meta = reference.get("resourceClaimName"), pod["metadata"]
        if not name:
            raise Unschedulable(f"resource claim {reference['name']}: only existing claims are supported, not claim templates")
        claims = self._api.items(_claims(meta["namespace"]))
        claim = next((each for each in claims if each["metadata"]["name"] == name), None)
        if claim is None:
            raise Unschedulable(f'resourceclaim "{name}" not found')
        before = claim.get("status") or {}
        holders = before.get("reservedFor") or []
        mine = {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}
        status = {
            "allocation": before.get("allocation") or {"devices": {"results": self._chosen(claim)}},
            "reservedFor": holders if mine in holders else [*holders, mine],
        }
        self._api.patch(f"{_claims(meta['namespace'])}/{name}/status", {"status": status}, MERGE)

    def _chosen(self, claim: Object) -> list[Object]:
        """Devices for each request of a claim: the first that are free."""
        everybodys = self._api.items("/apis/resource.k8s.io/v1/resourceclaims")
        busy = {device for each in everybodys for device in _given(each)}
        free = [device for device in _offered(self._api.items(SLICES), self._node) if device not in busy]
        results: list[Object] = []
        for request in claim["spec"]["devices"].get("requests") or ():
            count = (request.get("exactly") or {}).get("count") or 1
            if count > len(free):
                raise Unschedulable(f"{count} devices requested, {len(free)} free")
            devices, free = free[:count], free[count:]
            results += [{"request": request["name"], "driver": d.driver, "pool": d.pool, "device": d.name} for d in devices]
        return results

    def _free(self, pods: set[str]) -> None:
        """A claim whose pods are all gone has its devices taken back."""
        for claim in self._api.items("/apis/resource.k8s.io/v1/resourceclaims"):
            holders = (claim.get("status") or {}).get("reservedFor") or []
            remaining = [each for each in holders if each.get("uid") in pods]
            if len(remaining) < len(holders):
                meta = claim["metadata"]
                status = {"reservedFor": remaining} if remaining else {"reservedFor": None, "allocation": None}
                self._api.patch(f"{_claims(meta['namespace'])}/{meta['name']}/status", {"status": status}, MERGE)


def _offered(slices: Sequence[Object], node: str) -> Iterator[Device]:
    for spec in (each["spec"] for each in slices):
        if spec.get("nodeName") == node:
            for device in spec.get("devices") or ():
                yield Device(spec["driver"], spec["pool"]["name"], device["name"])


def _given(claim: Object) -> Iterator[Device]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for each in (allocation.get("devices") or {}).get("results") or ():
        yield Device(each["driver"], each["pool"], each["device"])


def _conditions(pod: Object) -> Iterator[Object]:
    return (each for each in (pod.get("status") or {}).get("conditions") or () if each["type"] == "PodScheduled")


def _age(pod: Object) -> int:
    """First come, first served."""
    return int(pod["metadata"]["resourceVersion"])


def _path(meta: Object) -> str:
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


def _claims(namespace: str) -> str:
    return CLAIMS.replace("/default/", f"/{namespace}/")
