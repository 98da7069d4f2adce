"""Inventory of the node: its pods, their claims, their devices, and tombstones of terminated pods.

A pod goes through these states; each row says what changes it.

    state        enters when                                          leaves when
    unlisted     a source (pods, claims, podresources) is not listed  all sources are listed: `ready`; no pod is written before
    live         the pod is on this node and not terminal             its phase is terminal (tombstone); it is deleted (gone)
    tombstone    phase Succeeded or Failed                            it is deleted (gone)
      hearing    for `window` seconds after the end                   the window is over: every device is closed
      closed     per device: another pod holds it, or time is over    never: what is shown stays
    gone         the pod object is deleted, or on another node        never

A claim:

    known        it is listed or watched                              it is deleted, or replaced by one with another UID
      held       reserved for the pod, with an allocation             the reservation or the allocation goes
      prepared   a driver or podresources named its CDI IDs           as known: the IDs go with the UID

A tombstone keeps its devices, so that a device found broken a moment later still explains the failure. It takes over only what a
driver reports: a driver that falls silent says nothing about why the pod ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podstrat.node.model import HEALTHY, NOT_KNOWN, TERMINAL, UNHEALTHY, UNKNOWN, Device, DeviceHealth, Object, PodDevices
from podstrat.node.state import allocations, devices, published
from podstrat.node.state.allocations import DevicesByContainer
from podstrat.node.state.devices import HeldDevice, Holding
from podstrat.strategy.rules.health import CLAIM

Look = Callable[[Device, float], DeviceHealth]
Name = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Settings:
    node: str
    extended: bool = True
    """Whether the server takes entries for DRA-backed extended resources: since 1.37. Before, it refuses the whole status."""
    window: float = 600.0
    """Seconds after its end in which a pod still takes over reports about its devices. Ten minutes: drivers that poll firmware
    counters or drain a queue of errors report within minutes; a pod object rarely stays much longer."""
    beside: bool = False
    """A kubelet owns the status: what it shows counts for devices that no driver has reported to us."""
    settled: float = -math.inf
    """Beside a kubelet: until this time our stored condition stays for devices whose driver has not reported since the start."""
    sources: frozenset[str] = frozenset({"pods", "claims"})
    """What must be listed once before pods are written."""


class Share(NamedTuple):
    """A pod, the devices it holds, and their health."""

    pod: Object
    holdings: tuple[Holding, ...]
    verdicts: dict[Device, DeviceHealth]
    pending: frozenset[Device] = frozenset()
    """Devices whose health is not known yet after a restart: what was written before stays."""


@dataclass(eq=False)
class _Tombstone:
    ended: float
    companions: dict[Device, set[str]]
    """Pods that shared the device when the pod ended."""
    shown: dict[Device, DeviceHealth]
    """The last health that was shown."""
    closed: set[Device] = field(default_factory=set)
    """Devices whose later reports are not shown."""
    inherited: bool = False
    """The pod had ended before the start of this process."""

    def pending(self) -> frozenset[Device]:
        unknown = (device for device, verdict in self.shown.items() if verdict == NOT_KNOWN)
        return frozenset(unknown if self.inherited else ())


class Inventory:
    """Methods that take in a change return the UIDs of the pods to reconcile."""

    def __init__(
        self,
        settings: Settings,
        look: Look,
        remembered: Callable[[Device], bool] = lambda device: False,
        heard: Callable[[str], bool] = lambda driver: False,
        spoken: Callable[[str], bool] = lambda driver: False,
    ) -> None:
        """`heard`: whether a driver has ever reported to us. `spoken`: whether it has since the start."""
        self.settings = settings
        self._is_remembered = remembered
        self._was_heard, self._has_spoken = heard, spoken
        self.stale_since: float | None = None
        """Since when podresources does not answer; its last listing is kept."""
        self._look = look
        self._missing = set(settings.sources)
        self._pods: dict[str, Object] = {}
        self._names: dict[Name, str] = {}
        self._claims: dict[Name, Object] = {}
        self._users: dict[Name, set[str]] = {}
        self._prepared: dict[str, dict[Device, str]] = {}
        self._plugins: dict[str, DevicesByContainer] = {}
        self._holdings: dict[str, tuple[Holding, ...]] = {}
        self._holders: dict[Device, set[str]] = {}
        self._tombs: dict[str, _Tombstone] = {}
        self._hearing: dict[str, _Tombstone] = {}
        """Tombstones whose window is open, oldest first."""

    # Queries

    @property
    def ready(self) -> bool:
        """Whether all sources were listed. Before, a pod may hold more than we know."""
        return not self._missing

    def uids(self) -> dict[Name, str]:
        """The pods of this node, by name. Take it before a podresources call, and give it back with the answer."""
        return dict(self._names)

    def pod(self, uid: str) -> Object | None:
        return self._pods.get(uid)

    def shown_health(self) -> dict[tuple[str, str], str]:
        """Health of device-plugin devices in the status of live pods, by resource and ID. An unhealthy entry wins."""
        by_device: dict[tuple[str, str], str] = {}
        for uid, pod in self._pods.items():
            if uid in self._tombs:
                continue
            for _, name, resource_id, health in published.rows(pod):
                if not name.startswith(CLAIM) and by_device.get((name, resource_id)) != UNHEALTHY:
                    by_device[name, resource_id] = health
        return by_device

    def users(self, claim: Object) -> set[str]:
        """The pods that name a claim."""
        return set(self._users.get((claim["metadata"]["namespace"], claim["metadata"]["name"]), ()))

    def holders(self, device: Device) -> set[str]:
        """The pods that hold a device, or held it to the end."""
        return set(self._holders.get(device, ()))

    def claims_of(self, uid: str) -> list[Object] | None:
        """The claims that are made ready for the pod; None: one of them is not there yet, or not the pod's, or has no devices."""
        pod = self._pods[uid]
        names = devices.claim_names(pod)
        needed = {each["name"] for each in pod["spec"].get("resourceClaims") or ()} - devices.unneeded_claims(pod)
        if not self.ready or needed - names.keys():
            return None
        claims = []
        for name in dict.fromkeys([*names.values(), *filter(None, [devices.extended_claim(pod)])]):
            claim = self._claims.get((pod["metadata"]["namespace"], name))
            if claim is None or not devices.is_reserved(claim, uid) or not (claim.get("status") or {}).get("allocation"):
                return None
            claims.append(claim)
        return claims

    def pods_using(self, changed: Iterable[Device], now: float) -> set[str]:
        """The pods to reconcile after a change of these devices."""
        return {uid for device in changed for uid in self._holders.get(device, ()) if self._hears(uid, device, now)}

    def share(self, uid: str, now: float) -> Share | None:
        """The pod's devices and their health; None: not known yet, do not write."""
        pod = self._pods.get(uid)
        holdings = self._holdings.get(uid, ())
        if pod is None or not self.ready or (uid in self._tombs and not holdings):
            return None
        if uid in self._tombs:
            return Share(pod, holdings, self._tombs[uid].shown, self._tombs[uid].pending())
        verdicts = {device: self._look(device, now) for device in _devices(holdings)}
        if self.settings.beside:
            return self._beside(pod, holdings, verdicts, now)
        remembered = [device for device in verdicts if self._is_remembered(device)]
        if remembered:
            # What we remember may be older than what the pod says: until a driver speaks, that stays as it is.
            previous = published.verdicts(pod, holdings)
            for device in remembered:
                verdicts[device] = previous.get(device, NOT_KNOWN if verdicts[device].health == HEALTHY else verdicts[device])
        return Share(pod, holdings, verdicts)

    def _beside(self, pod: Object, holdings: tuple[Holding, ...], verdicts: dict[Device, DeviceHealth], now: float) -> Share:
        """Beside a kubelet: three things are kept apart, what drivers said to us, what the kubelet shows, what is not known.

        never heard from the driver          the kubelet's word, if there is one
        heard, and lost                      Unknown: the kubelet's word may be stale, or a default
        remembered from before a restart     Unhealthy stays; Healthy is pending until the driver reports or its time is over
        heard before the restart only        pending until `settled`
        """
        current, pending = published.verdicts(pod, holdings), set()
        for device, verdict in verdicts.items():
            if self._is_remembered(device):
                if verdict.health == HEALTHY:
                    verdicts[device] = NOT_KNOWN
                    pending.add(device)
            elif verdict.health == UNKNOWN:
                if not self._was_heard(device.driver):
                    verdicts[device] = current.get(device, verdict)
                if verdicts[device].health == UNKNOWN and now < self.settings.settled and not self._has_spoken(device.driver):
                    pending.add(device)
        return Share(pod, holdings, verdicts, frozenset(pending))

    # Changes

    def listed(self, source: str) -> set[str]:
        """A source has been listed for the first time."""
        self._missing.discard(source)
        return set(self._pods) if self.ready else set()

    def settle(self, now: float) -> None:
        """Ends the time of pods that have ended too long ago. To be called before the health of devices changes."""
        while self._hearing:
            uid, tomb = next(iter(self._hearing.items()))
            if tomb.ended + self.settings.window > now:
                return
            tomb.closed.update(tomb.shown)
            del self._hearing[uid]

    def pod_seen(self, pod: Object, now: float) -> set[str]:
        meta = pod["metadata"]
        uid, name = meta["uid"], (meta["namespace"], meta["name"])
        if pod["spec"].get("nodeName") != self.settings.node:
            return self.pod_gone(uid, now)
        touched = set()
        if self._names.get(name, uid) != uid:
            touched = self.pod_gone(self._names[name], now)
        before = self._pods.get(uid)
        self._refer(uid, before, pod)
        self._pods[uid], self._names[name] = pod, uid
        if uid not in self._tombs:
            self._recount(uid, now)
            if (pod.get("status") or {}).get("phase") in TERMINAL:
                self._bury(uid, before, now)
        return touched | {uid}

    def pod_gone(self, uid: str, now: float) -> set[str]:
        pod = self._pods.pop(uid, None)
        if pod is None:
            return set()
        self._refer(uid, pod, None)
        name = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        if self._names.get(name) == uid:
            del self._names[name]
        self._tombs.pop(uid, None)
        self._hearing.pop(uid, None)
        self._plugins.pop(uid, None)
        self._hold(uid, (), now)
        return set()

    def claim_seen(self, claim: Object, now: float) -> set[str]:
        name = (claim["metadata"]["namespace"], claim["metadata"]["name"])
        before = self._claims.get(name)
        if before is not None and before["metadata"]["uid"] != claim["metadata"]["uid"]:
            self._prepared.pop(before["metadata"]["uid"], None)
        self._claims[name] = claim
        return self._recount_users(name, now)

    def claim_gone(self, namespace: str, name: str, uid: str, now: float) -> set[str]:
        claim = self._claims.get((namespace, name))
        if claim is None or claim["metadata"]["uid"] != uid:
            return set()  # an old one's end, heard of after the new one's beginning
        del self._claims[namespace, name]
        self._prepared.pop(uid, None)
        return self._recount_users((namespace, name), now)

    def claim_prepared(self, claim: Object, cdi: Mapping[Device, str], now: float) -> set[str]:
        """A driver has prepared the claim, and returned CDI IDs for its devices."""
        self._prepared[claim["metadata"]["uid"]] = dict(cdi)
        return self._recount_users((claim["metadata"]["namespace"], claim["metadata"]["name"]), now)

    def plugins_given(self, uid: str, containers: Mapping[str, Mapping[str, Iterable[str]]], now: float) -> set[str]:
        """We have given these devices of device plugins to the pod's containers."""
        if uid not in self._pods or uid in self._tombs:
            return set()
        self._plugins[uid] = allocations.merged(containers)
        return {uid} if self._recount(uid, now) else set()

    def devices_listed(self, listing: Iterable[PodDevices], before: Mapping[Name, str], now: float) -> set[str]:
        """The kubelet has given these devices. `before` is what `uids` said before it was asked, since it knows names only.

        A pod that is not in the list may just have ended: it keeps what it had, except for what another one has now.
        """
        self.stale_since = None
        touched, uids = set(), set()
        listing = list(listing)
        for each in listing:
            uid = self._names.get((each.namespace, each.name))
            if uid is not None and before.get((each.namespace, each.name)) == uid and uid not in self._tombs:
                self._plugins[uid] = allocations.merged(each.plugins)
                uids.add(uid)
        now_held = {device for uid in uids for device in _flat(self._plugins[uid])}
        for uid in self._plugins.keys() - uids - self._tombs.keys():
            self._plugins[uid] = _without(self._plugins[uid], now_held)
        for each in listing:
            if self._names.get((each.namespace, each.name)) in uids:
                self._cdi_listed(each)
        for uid in {*self._plugins, *uids}:
            if uid not in self._tombs and self._recount(uid, now):
                touched.add(uid)
        return touched

    def _cdi_listed(self, pod: PodDevices) -> None:
        """The CDI IDs under which the kubelet shows the devices of the pod's claims. It names claims, not their UIDs."""
        uid = self._names[pod.namespace, pod.name]
        for devices_ in pod.claims.values():
            for name in {each.claim for each in devices_}:
                claim = self._claims.get((pod.namespace, name))
                if claim is not None and devices.is_reserved(claim, uid):
                    ids = {Device(d.driver, d.pool, d.name): d.cdi for d in devices_ if d.claim == name and d.cdi}
                    self._prepared[claim["metadata"]["uid"]] = ids

    def plugins_unavailable(self, now: float) -> None:
        """The kubelet does not answer. That says nothing about the devices."""
        if self.stale_since is None:
            self.stale_since = now

    # Bookkeeping

    def _recount_users(self, name: Name, now: float) -> set[str]:
        users = self._users.get(name, set()) - self._tombs.keys()
        return {uid for uid in users if self._recount(uid, now)}

    def _recount(self, uid: str, now: float) -> bool:
        """Works out again what the pod holds; whether that is something else than before."""
        holdings = self._counted(self._pods[uid])
        if holdings == self._holdings.get(uid, ()):
            return False
        self._hold(uid, holdings, now)
        return True

    def _counted(self, pod: Object) -> tuple[Holding, ...]:
        uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
        cdi: dict[Device, str] = {}

        def find(name: str) -> Object | None:
            claim = self._claims.get((namespace, name))
            if claim is None or not devices.is_reserved(claim, uid):
                return None
            cdi.update(self._prepared.get(claim["metadata"]["uid"], {}))
            return claim

        holdings = devices.of_pod(pod, find, self._plugins.get(uid, {}), self.settings.extended)
        if not cdi:
            return holdings
        return tuple(holding._replace(devices=_with_cdi(holding.devices, cdi, self.settings.beside)) for holding in holdings)

    def _hold(self, uid: str, holdings: tuple[Holding, ...], now: float) -> None:
        before, after = _devices(self._holdings.get(uid, ())), _devices(holdings)
        for device in after - before:
            self._hand_over(device, uid)
            self._holders.setdefault(device, set()).add(uid)
        for device in before - after:
            self._holders[device].discard(uid)
            if not self._holders[device]:
                del self._holders[device]
        if holdings:
            self._holdings[uid] = holdings
        else:
            self._holdings.pop(uid, None)

    def _hand_over(self, device: Device, uid: str) -> None:
        """The device has another owner: what ended pods show of it stays as it is."""
        for other in self._holders.get(device, ()):
            tomb = self._tombs.get(other)
            if tomb is None or uid in tomb.companions[device]:
                continue
            if self.ready:
                tomb.closed.add(device)
            else:
                tomb.companions[device].add(uid)  # we are only just learning who has what

    def _bury(self, uid: str, before: Object | None, now: float) -> None:
        holdings = self._holdings.get(uid, ())
        # A kubelet erases the entries of claims with the write that makes the pod terminal: what it showed before counts too.
        previous = (published.verdicts(before, holdings) if before is not None else {}) | published.verdicts(
            self._pods[uid], holdings
        )
        if self.settings.beside:
            previous = {device: verdict for device, verdict in previous.items() if not self._was_heard(device.driver)}
        last = {device: self._heard(device, now) or previous.get(device, NOT_KNOWN) for device in _devices(holdings)}
        companions = {device: self._holders[device] - {uid} for device in last}
        self._tombs[uid] = self._hearing[uid] = _Tombstone(now, companions, last, inherited=before is None)

    def _hears(self, uid: str, device: Device, now: float) -> bool:
        """Whether the pod is to hear of the device. One that has ended hears only what a driver has said."""
        tomb = self._tombs.get(uid)
        if tomb is None:
            return True
        verdict = None if device in tomb.closed else self._heard(device, now)
        if verdict is None:
            return False
        tomb.shown[device] = verdict
        return True

    def _heard(self, device: Device, now: float) -> DeviceHealth | None:
        verdict = self._look(device, now)
        return None if verdict == NOT_KNOWN else verdict

    def _refer(self, uid: str, before: Object | None, after: Object | None) -> None:
        """Keeps the index of which pods name which claims."""
        for name in _claims_of(before) - _claims_of(after):
            self._users[name].discard(uid)
            if not self._users[name]:
                del self._users[name]
        for name in _claims_of(after):
            self._users.setdefault(name, set()).add(uid)


def _with_cdi(devices: tuple[HeldDevice, ...], cdi: Mapping[Device, str], first_shown: bool) -> tuple[HeldDevice, ...]:
    """`first_shown`: of several devices with one ID, in the driver's order, only the first is shown."""
    first: dict[str, Device] = {}
    for device, name in cdi.items():
        if any(each.device == device for each in devices):
            first.setdefault(name, device)
    return tuple(
        HeldDevice(each.device, name, first_shown and bool(name) and first[name] != each.device)
        for each in devices
        for name in [cdi.get(each.device, "")]
    )


def _claims_of(pod: Object | None) -> set[Name]:
    if pod is None:
        return set()
    names = {*devices.claim_names(pod).values(), devices.extended_claim(pod)}
    return {(pod["metadata"]["namespace"], name) for name in names if name}


def _devices(holdings: Iterable[Holding]) -> set[Device]:
    return {each.device for holding in holdings for each in holding.devices}


def _flat(containers: DevicesByContainer) -> set[tuple[str, str]]:
    return {(resource, each) for by_resource in containers.values() for resource, ids in by_resource.items() for each in ids}


def _without(containers: DevicesByContainer, devices: set[tuple[str, str]]) -> DevicesByContainer:
    return {
        container: {
            resource: tuple(each for each in ids if (resource, each) not in devices) for resource, ids in by_resource.items()
        }
        for container, by_resource in containers.items()
    }
