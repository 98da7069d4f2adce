"""The writer in a test: a server that does as it is told, with the engine inside, and time that moves when it is told to."""

from __future__ import annotations

import asyncio
import copy

from podstrat.kubeclient.answer import Answer
from podstrat.node import planner
from podstrat.node.admin.metrics import Metrics
from podstrat.node.model import NOT_KNOWN, DeviceHealth
from podstrat.node.server.writer import Settings as Writing
from podstrat.node.server.writer import StatusWriter
from podstrat.node.state.inventory import Inventory, Settings
from tests.node.fixtures import ENGINE, NODE, Halfway, VirtualClock, claim, gpu, pod, shown

NOW = "2026-11-01T00:00:00Z"


def refused(code, reason="", message="no", causes=(), **headers):
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    if causes:
        body["details"] = {"causes": [{"field": cause} for cause in causes]}
    return Answer.of(code, body, **headers)


class FakeApiServer:
    """An API server with pods. Each answer of the script is given once, in the place of the true one, to what would write."""

    def __init__(self, engine=ENGINE):
        self.engine = engine
        self.pods = {}
        self.script = []
        self.asked = []
        self.stripping = lambda pod: None
        """What a webhook or a gate takes away from what is written."""
        self.versions = 1

    def put(self, pod):
        self.versions += 1
        pod = copy.deepcopy(pod)
        pod["metadata"]["resourceVersion"] = str(self.versions)
        self.pods[pod["metadata"]["name"]] = pod
        return pod

    def writes(self):
        return [method for method, path in self.asked if method == "PATCH" and "dryRun" not in path]

    async def request(self, method, path, body=None, content_type=""):
        self.asked.append((method, path))
        await asyncio.sleep(0)
        if method == "PATCH" and self.script:
            step = self.script.pop(0)
            step = step() if callable(step) else step
            if isinstance(step, Exception):
                raise step
            if step is not None:
                return step
        name = path.partition("?")[0].split("/")[6]
        stored = self.pods.get(name)
        if stored is None:
            return refused(404, "NotFound")
        return Answer.of(200, stored) if method == "GET" else self.patched(stored, body, "dryRun" in path)

    def patched(self, stored, body, dry=False):
        outcome = self.engine.patch(copy.deepcopy(body), stored, type="json", subresource="status")
        if not outcome.ok:
            said = outcome.status()
            return Answer.of(said["code"], said)
        result = copy.deepcopy(outcome.pod)
        self.stripping(result)
        return Answer.of(200, result if dry else self.put(result))


class WriterHarness:
    """One writer, its pods, and the health of their devices as one says it."""

    def __init__(self, *, engine=ENGINE, extended=True, **settings):
        self.clock = VirtualClock()
        self.health = {}
        self.claims = Inventory(Settings(NODE, extended=extended), lambda device, now: self.health.get(device, NOT_KNOWN))
        self.server = FakeApiServer(engine)
        self.notes = []
        self.metrics = Metrics()
        self.lost = []
        self.planning = planner.Settings(condition=False)
        self.writer = StatusWriter(
            self.server,
            self.plan,
            self,
            self.clock,
            Halfway(),
            settings=Writing(**settings),
            metrics=self.metrics,
            note=self.notes.append,
        )
        for source in ("pods", "claims"):
            self.claims.listed(source)

    async def __aenter__(self):
        self.task = asyncio.ensure_future(self.writer.run())
        return self

    async def __aexit__(self, *_):
        self.task.cancel()
        await asyncio.wait({self.task})
        if not self.task.cancelled():
            self.task.result()

    def plan(self, uid, without):
        share = self.claims.share(uid, self.clock.now())
        return planner.compose(share, self.planning, without, NOW) if share else None

    def seen(self, pod):
        self.writer.wake(self.claims.pod_seen(pod, self.clock.now()))

    def gone(self, uid):
        self.lost.append(uid)
        self.claims.pod_gone(uid, self.clock.now())

    def add(self, name="train", *devices):
        """A pod with devices, on the server and known to us."""
        made = self.server.put(pod(name, claims=["gpu"]))
        self.claims.claim_seen(claim(f"{name}-gpu", devices or ["gpu-0"], made), self.clock.now())
        self.seen(made)
        return made["metadata"]["uid"]

    def set(self, number, health, message=None):
        self.health[gpu(number)] = DeviceHealth(health, message)
        self.writer.wake(self.claims.pods_using([gpu(number)], self.clock.now()))

    async def settle(self):
        """Until nothing more happens by itself."""
        for _ in range(60):
            await asyncio.sleep(0)

    async def pass_time(self, seconds, step=0.25):
        await self.settle()
        while seconds > 0:
            self.clock.advance(min(step, seconds))
            seconds -= step
            await self.settle()

    def shown(self, name="train"):
        return shown(self.server.pods[name])
