"""A node writer against a real server: `podstrat serve` as a child, the writer in this process, drivers on real sockets."""

from __future__ import annotations

import asyncio
import itertools
import json
from contextlib import asynccontextmanager

from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.answer import JSON, JSON_PATCH
from podstrat.node.agent import Agent
from podstrat.node.runtime.clock import BootClock
from podstrat.node.server.client import ApiClient
from podstrat.node.server.writer import Settings as Writing
from podstrat.node.settings import Settings
from tests.eventually import eventually_async
from tests.node.fixtures import NODE, shown

PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
DRIVER = "gpu.example.com"
_NUMBERS = itertools.count(1)
FOREVER = 3600.0
"""Seconds: it is the test's own time limit that ends it."""


def unique(word):
    return f"{word}-{next(_NUMBERS)}"


class Cluster:
    """The server, as a test talks to it."""

    def __init__(self, server, node=None):
        self.server = server
        self.node = node or unique("node")
        self.api = ApiClient(kubeconfig.load(server.kubeconfig), BootClock(), timeout=30.0)

    async def call(self, method, path, body=None, content_type=JSON, codes=(200, 201, 202)):
        answer = await self.api.request(method, path, body, content_type)
        assert answer.code in codes, answer.text
        return answer.body

    async def pod(self, name=None, *, claims=(), containers=None, init=(), node=None, **more):
        name = name or unique("pod")
        containers = containers or [{"name": "main", "resources": {"claims": [{"name": each} for each in claims]}}]
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, **more.pop("metadata", {})},
            "spec": {
                "nodeName": node or self.node,
                "terminationGracePeriodSeconds": 1,
                "containers": [{"image": "train:1", **each} for each in containers],
                "initContainers": [{"image": "train:1", **each} for each in init],
                "resourceClaims": [{"name": each, "resourceClaimName": f"{name}-{each}"} for each in claims],
                **more.pop("spec", {}),
            },
        }
        assert not more
        return await self.call("POST", PODS, body)

    async def claim(self, pod, own, devices, *, name=None, driver=DRIVER, pool=None, reserve=True):
        """A claim of a pod, with devices."""
        name = name or f"{pod['metadata']['name']}-{own}"
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
        body = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name},
            "spec": {"devices": {"requests": [request]}},
        }
        made = await self.call("POST", CLAIMS, body)
        pool = pool or self.node
        results = [{"request": "gpu", "driver": driver, "pool": pool, "device": each} for each in devices]
        status = {"allocation": {"devices": {"results": results}}}
        if reserve:
            status["reservedFor"] = [{"resource": "pods", **_named(pod)}]
        return await self.call("PATCH", f"{CLAIMS}/{made['metadata']['name']}/status", {"status": status}, MERGE)

    async def get(self, name):
        return await self.call("GET", f"{PODS}/{name}")

    async def until(self, name, condition):
        """The pod, as soon as it is so."""

        async def pod_if_so():
            pod = await self.get(name)
            return pod if condition(pod) else None

        return await eventually_async(pod_if_so, FOREVER)

    async def until_gone(self, name):
        async def is_gone():
            return (await self.api.request("GET", f"{PODS}/{name}")).code == 404

        await eventually_async(is_gone, FOREVER)

    async def all_failed(self, url):
        return all(each["status"]["phase"] == "Failed" for each in (await self.call("GET", url))["items"])

    async def is_empty(self, url):
        return not (await self.call("GET", url))["items"]

    async def until_shown(self, name, device, health, entry="claim:gpu", container="main"):
        return await self.until(name, lambda pod: health_of(pod, device, entry, container) == health)

    async def events(self, name, reason=None):
        answer = await self.call("GET", "/api/v1/namespaces/default/events?limit=2000")
        found = [each for each in answer["items"] if each["involvedObject"]["name"] == name]
        return [each for each in found if reason in (None, each["reason"])]

    async def fault(self, **fault):
        await self.call("POST", "/podstrat/faults", fault)

    async def faults(self):
        """Those that are still to happen."""
        return (await self.call("GET", "/podstrat/faults"))["faults"]

    async def faults_over(self):
        return not await self.faults()

    async def no_faults(self):
        await self.call("DELETE", "/podstrat/faults")

    def id(self, device, driver=DRIVER):
        return f"{driver}/{self.node}/{device}"

    async def close(self):
        await self.api.close()


def _named(pod):
    return {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


def health_of(pod, device, entry="claim:gpu", container="main"):
    statuses = pod["status"].get("containerStatuses") or []
    if not any(each["name"] == container for each in statuses):
        return None
    found = shown(pod, container).get(entry, {}).get(device)
    return found[0] if isinstance(found, tuple) else found


@asynccontextmanager
async def running(cluster, root, *, api=None, wait=True, debounce=None, **settings):
    """A node writer with a simulated life of pods, unless told otherwise; ``debounce``: seconds before it writes an event."""
    wanted = {"simulate_lifecycle": True, "writing": Writing(pause=0.1), **settings}
    agent = Agent(Settings(cluster.node, root, root / "state", **wanted), kubeconfig.load(cluster.server.kubeconfig))
    if api is not None:
        agent.api = api(agent.api)
    if debounce is not None:
        agent.transitions.pause = debounce
    task = asyncio.ensure_future(agent.run())
    try:
        if wait:
            await eventually_async(lambda: (task.done() and task.result()) or (agent.running and agent.inventory.ready))
        agent.task = task
        yield agent
    finally:
        agent.stop()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()


def condition(pod, kind):
    return next((each for each in (pod.get("status") or {}).get("conditions") or () if each["type"] == kind), None)


__all__ = [
    "CLAIMS",
    "DRIVER",
    "JSON_PATCH",
    "MERGE",
    "NODE",
    "PODS",
    "STRATEGIC",
    "Cluster",
    "condition",
    "health_of",
    "json",
    "running",
]
