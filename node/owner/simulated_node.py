"""The Node object of a simulated node: created, kept Ready by heartbeats, with a Lease that is renewed.

A node lifecycle controller takes a node for lost when neither its Lease nor its status was renewed for 40 s. A Node that exists
already is kept as it is, if it is marked as simulated: its labels and capacity were chosen.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any
from urllib.parse import quote

from podstrat.kubeclient.errors import Unavailable
from podstrat.node import logs, roles
from podstrat.node.model import Object
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock
from podstrat.node.server.writer import Server
from podstrat.node.status import lifecycle

MERGE = "application/merge-patch+json"
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEW = 10.0
"""Seconds between two renewals of the Lease: the kubelet's, a quarter of what the controller waits for."""
LEASE_SECONDS = 40  # the kubelet's nodeLeaseDurationSeconds
HEARTBEAT = 300.0
"""Seconds between two heartbeats in the status, if nothing changes: the kubelet's nodeStatusReportFrequency."""
CAPACITY = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
"""Of a node that is made here: a middling machine, with the kubelet's limit of pods."""
CONDITIONS = {
    "MemoryPressure": ("False", "KubeletHasSufficientMemory"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID"),
    "Ready": ("True", "Simulated"),
}

Devices = Callable[[], Mapping[str, tuple[int, int]]]
"""Resources of device plugins: how many devices there are, and how many of them are healthy."""


class SimulatedNode:
    def __init__(
        self, server: Server, name: str, clock: Clock, wall: Callable[[], float], random: Random, devices: Devices
    ) -> None:
        self.server, self.name, self.clock, self.wall = server, name, clock, wall
        self._random, self._devices = random, devices
        self.node: Object | None = None
        """As the server last returned it; None: not yet."""
        self.tried = False
        """The first attempt to make or read it is over: pods do not wait any longer."""
        self._beaten = float("-inf")
        self._since = lifecycle.text(wall())
        self._shown: Mapping[str, tuple[int, int]] = {}

    async def run(self) -> None:
        """Creates the node and keeps it Ready, forever."""
        backoff = Backoff(0.2, RENEW, self._random)
        while True:
            try:
                if self.node is None:
                    await self._register()
                await self._beat()
                await self._renew()
            except Unavailable as error:
                self.tried = True
                logs.warn(f"node {self.name}: {error}")
                await self.clock.sleep(backoff.next())
                continue
            self.tried = True
            backoff.reset()
            await self.clock.sleep(RENEW)

    async def _register(self) -> None:
        machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        labels = {"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": machine}
        meta = {"name": self.name, "annotations": {roles.SIMULATED: "true"}, "labels": labels}
        answer = await self.server.request("POST", NODES, {"apiVersion": "v1", "kind": "Node", "metadata": meta})
        if answer.code == 409:
            answer = await self.server.request("GET", f"{NODES}/{quote(self.name)}")
        if answer.code not in (200, 201):
            raise Unavailable(answer.summary)
        self.node = answer.body

    async def _beat(self) -> None:
        """The status of the node: at once if devices have come or gone, else now and then."""
        assert self.node is not None
        devices = self._devices()
        if roles.SIMULATED not in (self.node["metadata"].get("annotations") or {}):
            return  # not ours to write
        if devices == self._shown and self.clock.now() < self._beaten + HEARTBEAT:
            return
        answer = await self.server.request(
            "PATCH", f"{NODES}/{quote(self.name)}/status", {"status": self._status(devices)}, MERGE
        )
        if answer.code == 404:
            self.node = None
            raise Unavailable(answer.summary)
        if answer.code != 200:
            raise Unavailable(answer.summary)
        self.node, self._beaten, self._shown = answer.body, self.clock.now(), devices

    def _status(self, devices: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
        assert self.node is not None
        before: Object = self.node.get("status") or {}
        now = lifecycle.text(self.wall())
        conditions = [
            {"type": kind, "status": status, "reason": reason, "lastHeartbeatTime": now, "lastTransitionTime": self._since}
            for kind, (status, reason) in CONDITIONS.items()
        ]
        conditions[-1]["message"] = "simulated by podstrat node"
        all_devices = {resource: str(count) for resource, (count, _) in devices.items()}
        healthy = {resource: str(count) for resource, (_, count) in devices.items()}
        address = lifecycle.host_address(self.name)
        return {
            "conditions": conditions,
            "capacity": {**(before.get("capacity") or CAPACITY), **all_devices},
            "allocatable": {**(before.get("allocatable") or CAPACITY), **healthy},
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": self.name}],
            "nodeInfo": {**(before.get("nodeInfo") or {}), "kubeletVersion": "podstrat", "operatingSystem": "linux"},
        }

    async def _renew(self) -> None:
        now = datetime.fromtimestamp(self.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": self.name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now}
        answer = await self.server.request("PATCH", f"{LEASES}/{quote(self.name)}", {"spec": spec}, MERGE)
        if answer.code == 404:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": self.name}, "spec": spec}
            answer = await self.server.request("POST", LEASES, lease)
        if answer.code == 404:
            # Every cluster has the namespace; a server for tests may not.
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}}
            await self.server.request("POST", "/api/v1/namespaces", namespace)
            answer = await self.server.request("POST", LEASES, lease)
        if answer.code not in (200, 201, 409):
            raise Unavailable(answer.summary)
