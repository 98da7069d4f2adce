"""A stand-in kubelet that does what kubelet 1.37 was recorded to do, on real sockets, against the test's API server.

recorded                                                        here
resourceID of a claim's device is its first CDI ID              `_entries`
of two devices with one CDI ID the second is not shown          `_entries`
podresources: cdi_devices cumulative per driver in a claim      `_list`
order of entries changes between writes                         `_turned`
health of a claim's device that no stream vouches for: Unknown  `_dra_health`
stream of a DRA driver ends: cache wiped, no pod synced         `_closed`; `sync` is the next sync
device plugin gone: health stays, allocatable becomes 0         `_closed`, `_allocatable`
device vanished from a list: Healthy                            `_plugin_health`
restarted: every plugin device Healthy until its plugin speaks  `restart`
pod Failed: entries of claims erased in the same write          `fail`
started: all ResourceSlices of the node deleted                 `restart`
containers do not start with devices that do not exist          `_check_cdi`, `allocate`
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from podstrat.node.drivers.generated import podresources_pb2
from podstrat.node.drivers.protocols import deviceplugin, dra, wire
from podstrat.node.drivers.protocols.serving import Server
from podstrat.node.drivers.supervisor import Drivers, Settings
from podstrat.node.model import Closed, Report, Unregistered
from podstrat.node.runtime.clock import BootClock
from podstrat.node.state import devices
from tests.eventually import eventually_async
from tests.node.cluster import CLAIMS, PODS, STRATEGIC

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


class Claimed(NamedTuple):
    """A device of a claim, as its driver returned it."""

    driver: str
    pool: str
    name: str
    requests: tuple[str, ...]
    cdi: tuple[str, ...]


class StandInKubelet:
    def __init__(self, cluster, root, cdi=None):
        """`cdi`: the runtime's CDI directory. With it, devices are checked as a scheduler and a runtime would."""
        self.cluster, self.root, self.cdi = cluster, root, cdi
        self.lists = {}
        """The last list of each device plugin: resource, ID, health."""
        self.connected = {}
        """Resource: endpoints with an open stream."""
        self.dra = {}
        """Driver, pool, device: health and message."""
        self.allocated = {}
        """Pod, container, resource: IDs. Kept over a restart."""
        self.claims = {}
        """Pod, claim object: its devices. Kept over a restart."""
        self.phases = {}
        self.writes = 0

    async def __aenter__(self):
        await self.start()
        return self

    async def __aexit__(self, *_):
        await self.stop()

    async def start(self):
        (self.root / "pod-resources").mkdir(exist_ok=True)
        self._service = Server(
            str(self.root / "pod-resources" / "kubelet.sock"), {wire.LIST_PODS: self._list, wire.ALLOCATABLE: self._allocatable}
        )
        folders = {"registry": self.root / "plugins_registry", "device_plugins": self.root / "device-plugins"}
        self.drivers = Drivers(Settings(**folders, period=0.05, get_info=30.0, notify=30.0, first_retry=0.05), BootClock())
        await self.drivers.__aenter__()
        self._task = asyncio.ensure_future(self._follow())
        await self._service.start()

    async def stop(self):
        self._task.cancel()
        await asyncio.wait({self._task})
        await self.drivers.__aexit__()
        await self._service.stop()

    async def restart(self):
        """What plugins said is forgotten; sockets of device plugins are removed, for them to register again."""
        await self.stop()
        self.lists, self.connected = {}, {}
        for slice in (await self.cluster.call("GET", SLICES))["items"]:
            if slice["spec"].get("nodeName") == self.cluster.node:
                await self.cluster.call("DELETE", f"{SLICES}/{slice['metadata']['name']}")
        await self.start()
        for name in [*self.phases]:
            await self.sync(name)

    # Drivers

    async def _follow(self):
        async for event in self.drivers.events():
            if isinstance(event, Report):
                await self._reported(event)
            elif isinstance(event, Closed):
                self._closed(event.session.driver, event.session.endpoint)
            elif isinstance(event, Unregistered):
                self._closed(event.driver, event.endpoint)

    async def _reported(self, report):
        driver = report.session.driver
        if "/" in driver:
            before = self.lists.get(driver, {})
            now = self.lists[driver] = {each.name: each.health for each in report.readings}
            self.connected.setdefault(driver, set()).add(report.session.endpoint)
            changed = {each for each in now if now[each] != before.get(each)}  # one that has vanished is not noticed
            names = [name for name in self.phases if changed & set(self._ids(name, driver))]
        else:
            new = {(driver, each.pool, each.name): (each.health, each.message) for each in report.readings}
            changed = {key for key, value in new.items() if self.dra.get(key) != value}
            self.dra |= new
            names = [name for name in self.phases if any(each[:3] in changed for each in self._claimed(name))]
        for name in names:
            await self.sync(name)

    def _closed(self, driver, endpoint):
        if "/" in driver:
            self.connected.get(driver, set()).discard(endpoint)
        else:
            self.dra = {key: value for key, value in self.dra.items() if key[0] != driver}

    def _ids(self, name, resource):
        return [each for given in self.allocated.get(name, {}).values() for each in given.get(resource, ())]

    def _claimed(self, name):
        return [each for claimed in self.claims.get(name, {}).values() for each in claimed]

    # Pods

    async def run(self, name, plugins=None):
        """Starts a pod: its claims are read from the API and prepared, `plugins` are the devices that its containers get."""
        pod = await self.cluster.get(name)
        self.allocated[name] = plugins or {}
        self.phases[name] = "Pending"
        await self.sync(name)  # the first write comes before Prepare
        self.claims[name] = {}
        for claim_name in devices.claim_names(pod).values():
            self.claims[name][claim_name] = await self._prepared(claim_name)
        self.phases[name] = "Running"
        await self.sync(name)

    async def _prepared(self, claim_name):
        claim = await self.cluster.call("GET", f"{CLAIMS}/{claim_name}")
        meta = claim["metadata"]
        found = []
        for driver in dict.fromkeys(each["driver"] for each in claim["status"]["allocation"]["devices"]["results"]):
            plugin = await eventually_async(lambda driver=driver: self.drivers.newest(driver))
            asked = dra.Claim(meta["namespace"], meta["name"], meta["uid"])
            result = (await dra.prepare(plugin.endpoint, plugin.prepares, [asked]))[meta["uid"]]
            assert result.error is None, result.error
            found += [Claimed(driver, each.pool, each.name, each.requests, each.cdi_devices) for each in result.devices]
            if self.cdi is not None:
                await self._check_slices(driver, [each.name for each in result.devices])
        if self.cdi is not None:
            self._check_cdi(name for each in found for name in each.cdi)
        return found

    async def _check_slices(self, driver, names):
        """A scheduler allocates only what is in the current generation of a complete pool."""
        slices = [each["spec"] for each in (await self.cluster.call("GET", SLICES))["items"]]
        mine = [each for each in slices if each["driver"] == driver and each.get("nodeName") == self.cluster.node]
        newest = max(each["pool"]["generation"] for each in mine)
        current = [each for each in mine if each["pool"]["generation"] == newest]
        assert len(current) == current[0]["pool"]["resourceSliceCount"]
        assert {name for each in current for name in names} <= {d["name"] for each in current for d in each["devices"]}

    def _check_cdi(self, names):
        """As a runtime resolves CDI devices, by the names and fields of the CDI specification. The edits of all of them."""
        specs = [json.loads(path.read_text()) for path in sorted(self.cdi.glob("*.json"))]
        edits = {}
        for spec in specs:
            assert spec.keys() <= {"cdiVersion", "kind", "annotations", "devices", "containerEdits"}
            assert re.fullmatch(r"\d+\.\d+\.\d+", spec["cdiVersion"])
            vendor, kind = spec["kind"].split("/")
            assert re.fullmatch(r"[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?", vendor)
            assert re.fullmatch(r"[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?", kind)
            assert spec["devices"]
            for device in spec["devices"]:
                assert device.keys() <= {"name", "annotations", "containerEdits"}
                assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?", device["name"])
                assert device["containerEdits"], "no edits"
                for node in device["containerEdits"].get("deviceNodes") or ():
                    assert Path(node.get("hostPath") or node["path"]).exists()
                assert all(re.fullmatch(r"[A-Z0-9_]+=.*", each) for each in device["containerEdits"].get("env") or ())
                name = f"{spec['kind']}={device['name']}"
                assert name not in edits, f"{name} is in two specs"
                edits[name] = device["containerEdits"]
        return [edits[name] for name in names]  # KeyError: unresolvable CDI device

    async def allocate(self, resource, ids):
        """What a container gets from a device plugin: its CDI devices and device nodes must exist."""
        plugin = await eventually_async(lambda: self.drivers.newest(resource))
        (given,) = await deviceplugin.allocate(plugin.endpoint, [ids], 30.0)
        for _, host, _ in given.nodes:
            os.lstat(host)
        return given, self._check_cdi(given.cdi_devices) if self.cdi is not None else []

    async def unprepare(self, name):
        for claim_name, claimed in self.claims.pop(name).items():
            meta = (await self.cluster.call("GET", f"{CLAIMS}/{claim_name}"))["metadata"]
            asked = dra.Claim(meta["namespace"], meta["name"], meta["uid"])
            for driver in {each.driver for each in claimed}:
                plugin = await eventually_async(lambda driver=driver: self.drivers.newest(driver))
                assert await dra.unprepare(plugin.endpoint, plugin.prepares, [asked]) == {meta["uid"]: None}

    async def fail(self, name):
        self.claims[name] = {}
        self.phases[name] = "Failed"
        await self.sync(name)

    async def sync(self, name):
        pod = await self.cluster.get(name)
        self.writes += 1
        phase = self.phases[name]
        statuses = [self._status(name, pod, each, phase) for each in pod["spec"]["containers"]]
        generation = pod["metadata"]["generation"]
        conditions = [
            {"type": kind, "status": self._truth(kind, pod, phase), "observedGeneration": generation} for kind in CONDITIONS
        ]
        status = {
            "phase": phase,
            "observedGeneration": generation,
            "hostIP": "10.0.0.1",
            "conditions": conditions,
            "containerStatuses": statuses,
        }
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        await self.cluster.call("PATCH", f"{PODS}/{name}/status", body, STRATEGIC, codes=(200, 404))

    def _truth(self, kind, pod, phase):
        gates = [each["conditionType"] for each in pod["spec"].get("readinessGates") or ()]
        true = {each["type"] for each in pod["status"].get("conditions") or () if each["status"] == "True"}
        if kind in ("Ready", "ContainersReady") and phase != "Running":
            return "False"
        return "False" if kind == "Ready" and set(gates) - true else "True"

    def _status(self, name, pod, container, phase):
        state = {"Pending": {"waiting": {"reason": "ContainerCreating"}}, "Running": {"running": {}}}
        made = {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": phase == "Running",
            "restartCount": 0,
            "state": state.get(phase, {"terminated": {"exitCode": 1}}),
        }
        if entries := self._turned(list(self._entries(name, pod, container))):
            made["allocatedResourcesStatus"] = entries
        return made

    def _entries(self, name, pod, container):
        for resource, ids in self.allocated.get(name, {}).get(container["name"], {}).items():
            found = [{"resourceID": each, "health": self._plugin_health(resource, each)} for each in ids]
            yield {"name": resource, "resources": self._turned(found)}
        names = devices.claim_names(pod)
        for reference in (container.get("resources") or {}).get("claims") or ():
            request = reference.get("request")
            shown = {}
            for each in self.claims.get(name, {}).get(names.get(reference["name"]), ()):
                if not request or request.partition("/")[0] in {asked.partition("/")[0] for asked in each.requests}:
                    own = each.cdi[0] if each.cdi else f"{each.driver}/{each.pool}/{each.name}"
                    health, message = self._dra_health(each)
                    shown.setdefault(own, {"resourceID": own, "health": health, **({"message": message} if message else {})})
            if shown:
                entry = f"claim:{reference['name']}" + (f"/{request}" if request else "")
                yield {"name": entry, "resources": self._turned(list(shown.values()))}

    def _turned(self, found):
        """Another order with every write."""
        shift = self.writes % len(found) if found else 0
        return copy.deepcopy(found[shift:] + found[:shift])

    def _plugin_health(self, resource, name):
        health = self.lists.get(resource, {}).get(name, "Healthy")
        return health if health == "Healthy" else "Unhealthy"

    def _dra_health(self, device):
        return self.dra.get(device[:3], ("Unknown", ""))

    # podresources

    async def _list(self, _):
        answer = podresources_pb2.ListPodResourcesResponse()
        for name, phase in self.phases.items():
            if phase not in ("Pending", "Running"):
                continue
            spec = (await self.cluster.get(name))["spec"]
            pod = answer.pod_resources.add(name=name, namespace="default")
            own = {each["name"]: each.get("resourceClaimName") for each in spec.get("resourceClaims") or ()}
            for container in spec["containers"]:
                row = pod.containers.add(name=container["name"])
                for resource, ids in self.allocated.get(name, {}).get(container["name"], {}).items():
                    row.devices.add(resource_name=resource, device_ids=ids)
                for reference in (container.get("resources") or {}).get("claims") or ():
                    claimed = self.claims.get(name, {}).get(own[reference["name"]])
                    if claimed is not None:
                        self._claim(row.dynamic_resources.add(), own[reference["name"]], claimed)
        return answer

    def _claim(self, row, name, claimed):
        row.claim_name, row.claim_namespace = name, "default"
        gathered = {}
        for each in claimed:
            ids = gathered.setdefault(each.driver, [])
            ids += each.cdi
            resource = row.claim_resources.add(driver_name=each.driver, pool_name=each.pool, device_name=each.name)
            for cdi in ids:
                resource.cdi_devices.add(name=cdi)

    async def _allocatable(self, _):
        answer = podresources_pb2.AllocatableResourcesResponse()
        for resource, listed in self.lists.items():
            good = [name for name, health in listed.items() if health == "Healthy"]
            if good and self.connected.get(resource):
                answer.devices.add(resource_name=resource, device_ids=good)
        return answer
