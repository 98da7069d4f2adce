"""A node in a test: a clock, drivers on real sockets, pods that live in the engine, and somebody who writes their status."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from random import Random

from podstrat import Engine
from podstrat.node.drivers.supervisor import Drivers
from podstrat.node.drivers.supervisor import Settings as DriverSettings
from podstrat.node.model import Device
from podstrat.node.state import events
from podstrat.node.state.health import Health
from podstrat.node.state.health import Settings as HealthSettings
from podstrat.node.state.inventory import Inventory
from podstrat.node.state.inventory import Settings as ClaimSettings
from podstrat.node.status import patch

NODE = "node-1"
ENGINE = Engine("1.37")


class VirtualClock:
    """Time that moves when it is told to."""

    def __init__(self, now=1000.0):
        self._now = now
        self._sleepers = []
        self._order = itertools.count()
        self.slept = []
        """How long each sleep was to be."""
        self._moved = asyncio.Event()

    def now(self):
        return self._now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self._moved.set()
        self._moved = asyncio.Event()
        if seconds <= 0:
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    def advance(self, seconds):
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    async def until_slept(self, times, longer_than=0.0):
        """Waits until somebody has gone to sleep so often, since the beginning."""
        while sum(seconds > longer_than for seconds in self.slept) < times:
            await self._moved.wait()

    async def pass_a_second(self):
        """Lets those who sleep for a second at a time, as looks into directories do, wake and go to sleep again."""
        await self.until_asleep(1)
        before = self.slept.count(1.0)
        self.advance(1.0)
        while self.slept.count(1.0) == before:
            await self._moved.wait()

    async def until_asleep(self, sleepers):
        """Waits until so many are asleep."""
        while sum(not future.done() for _, _, future in self._sleepers) < sleepers:
            await self._moved.wait()


class Halfway:
    """A source of randomness that always takes the middle: back-offs are three quarters of what they could be at most."""

    def uniform(self, low, high):
        return (low + high) / 2


class Events:
    """The events of drivers, read in the background. Nothing is lost, and one can wait for what one wants to see."""

    def __init__(self, drivers):
        self.seen = []
        self._moved = asyncio.Event()
        self._task = asyncio.ensure_future(self._read(drivers))

    async def _read(self, drivers):
        async for event in drivers.events():
            self.seen.append(event)
            self._moved.set()
            self._moved = asyncio.Event()

    def of(self, *kinds):
        return [event for event in self.seen if isinstance(event, kinds)]

    async def until(self, kind, times=1):
        """The so-manieth event of a kind, once it is there."""
        while len(self.of(kind)) < times:
            if self._task.done():
                self._task.result()
            await self._moved.wait()
        return self.of(kind)[times - 1]

    async def close(self):
        self._task.cancel()
        await asyncio.wait({self._task})


def driver_settings(root, wanted):
    """With more patience than is usual, for what runs on the machine's own time: it may be a busy machine."""
    return DriverSettings(**{"registry": root / "plugins_registry", "get_info": 30.0, "notify": 30.0, "dial": 30.0, **wanted})


class Listening:
    """Drivers whose events are collected."""

    def __init__(self, root, clock=None, **settings):
        self.clock = clock or VirtualClock()
        self.drivers = Drivers(driver_settings(root, settings), self.clock, Halfway())

    async def __aenter__(self):
        await self.drivers.__aenter__()
        self.events = Events(self.drivers)
        return self

    async def __aexit__(self, *_):
        await self.events.close()
        await self.drivers.__aexit__()

    async def look(self):
        """Lets the drivers look into the directories once more, and be done with it."""
        await self.clock.pass_a_second()

    async def look_until(self, kind, times=1):
        """The same, again and again, until there are so many events of a kind: for what is tried again after a while."""
        while len(self.events.of(kind)) < times:
            await self.look()


def pod(name="train", *, uid=None, containers=None, init=(), claims=(), phase="Running", node=NODE, statuses=True, **more):
    """A stored pod on this node; `containers` and `init` are specs without image, `claims` names of claims that exist."""
    containers = containers or [{"name": "main", "resources": {"claims": [{"name": claim} for claim in claims]}}]
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid or f"uid-{name}",
            "generation": 1,
            **more.pop("metadata", {}),
        },
        "spec": {
            "nodeName": node,
            "containers": [{"image": "train:1", **container} for container in containers],
            "initContainers": [{"image": "train:1", **container} for container in init],
            "resourceClaims": [{"name": claim, "resourceClaimName": f"{name}-{claim}"} for claim in claims],
            **more.pop("spec", {}),
        },
        "status": {"phase": phase, "observedGeneration": 1, **more.pop("status", {})},
    }
    if statuses:
        made["status"]["containerStatuses"] = [running(each["name"]) for each in made["spec"]["containers"]]
        made["status"]["initContainerStatuses"] = [running(each["name"]) for each in made["spec"]["initContainers"]]
    assert not more
    return ENGINE.stored(made)


def running(name):
    return {
        "name": name,
        "image": "train:1",
        "imageID": "train@sha256:1",
        "ready": True,
        "restartCount": 0,
        "containerID": f"containerd://{name}",
        "state": {"running": {"startedAt": "2026-11-01T00:00:00Z"}},
    }


def claim(name, devices, *pods, driver="gpu.example.com", pool=NODE, uid=None, namespace="default"):
    """A claim that was given devices: names, or (request, name) pairs; reserved for these pods."""
    pairs = [device if isinstance(device, tuple) else ("gpu", device) for device in devices]
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}"},
        "status": {
            "allocation": {
                "devices": {
                    "results": [
                        {"request": request, "driver": driver, "pool": pool, "device": device} for request, device in pairs
                    ]
                }
            },
            "reservedFor": [
                {"resource": "pods", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]} for each in pods
            ],
        },
    }


def gpu(number, driver="gpu.example.com", pool=NODE):
    return Device(driver, pool, f"gpu-{number}")


def shown(pod, container="main", key="containerStatuses"):
    """The health a pod's status shows: by name and resourceID, health and message."""
    each = next(each for each in pod["status"][key] if each["name"] == container)
    return {
        entry["name"]: {
            device["resourceID"]: (device["health"], device["message"]) if "message" in device else device["health"]
            for device in entry["resources"]
        }
        for entry in each.get("allocatedResourcesStatus") or ()
    }


class NodeHarness:
    """Everything together. The status is written at once, with the engine in the place of the server."""

    def __init__(self, root, *, clock=None, health=None, claims=None, status_settings=None, engine=ENGINE, **drivers):
        self.root = root
        self.engine = engine
        self.clock = clock or VirtualClock()
        self.health = Health(health or HealthSettings())
        self.claims = Inventory(claims or ClaimSettings(NODE), self.health.look)
        self.status_settings = status_settings or patch.Settings()
        self.pods = {}
        self.writes = {}
        self.notes = []
        self.changed = []
        self.drivers = Drivers(driver_settings(root, drivers), self.clock, Random(1))
        self._moved = asyncio.Event()

    async def __aenter__(self):
        await self.drivers.__aenter__()
        for source in ("pods", "claims"):
            self.claims.listed(source)
        self._task = asyncio.ensure_future(self._follow())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.wait({self._task})
        await self.drivers.__aexit__()

    def add(self, pod, *claims):
        now = self.clock.now()
        self.pods[pod["metadata"]["uid"]] = pod
        touched = self.claims.pod_seen(pod, now)
        for each in claims:
            touched |= self.claims.claim_seen(each, now)
        self.write(touched)
        return pod["metadata"]["uid"]

    def update(self, pod):
        self.add(pod)

    def write(self, uids):
        """What the writer does, without all that can go wrong."""
        for uid in sorted(uids):
            share = self.claims.share(uid, self.clock.now())
            if share is None:
                continue
            operations = patch.guarded(*share[:3], self.status_settings)
            if not operations:
                continue
            outcome = self.engine.patch(operations, share.pod, type="json", subresource="status")
            assert not outcome.errors, [str(error) for error in outcome.errors]
            assert outcome.pod is not None, outcome.status()
            self.writes[uid] = self.writes.get(uid, 0) + 1
            self.pods[uid] = outcome.pod
            self.claims.pod_seen(outcome.pod, self.clock.now())

    async def _follow(self):
        async for wake in events.wakes(self.drivers.events(), self.health, self.claims, self.clock):
            self.notes += wake.notes
            self.changed.append(wake.changed)
            self.write(wake.pods)
            self._moved.set()
            self._moved = asyncio.Event()

    async def look(self):
        """Lets the drivers look into the directories once more."""
        await self.clock.pass_a_second()

    async def until(self, condition):
        """Waits until it holds; looks again whenever something has happened."""
        while not condition():
            if self._task.done():
                self._task.result()
            await self._moved.wait()

    async def until_shown(self, uid, name, device, health, container="main"):
        await self.until(lambda: self.shown(uid, container).get(name, {}).get(device) == health)

    def shown(self, uid, container="main", key="containerStatuses"):
        return shown(self.pods[uid], container, key)
