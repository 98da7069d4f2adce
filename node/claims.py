"""Who holds what: the pods of this node, their claims, their device plugins' devices; and who held it, for pods that have ended.

A pod that has ended keeps what it held, so that a device that is found broken a moment later still tells why. It hears of its
devices until somebody else gets them, or for a while; and only what drivers say: that a driver falls silent tells nothing about
why the pod has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from node import allocations, holdings, status
from node.allocations import Given
from node.holdings import Held, Holding, Object
from node.protocols.podresources import PodDevices
from node.reports import HEALTHY, NOT_KNOWN, Device, Verdict

ENDED = ("Succeeded", "Failed")

Look = Callable[[Device, float], Verdict]
Name = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Settings:
    node: str
    extended: bool = True
    """Whether the server takes entries for DRA-backed extended resources: since 1.37. Before, it refuses the whole status."""
    window: float = 600.0
    """For how many seconds after its end a pod still hears of its devices."""
    sources: frozenset[str] = frozenset({"pods", "claims"})
    """What has to be listed once before anything can be said about a pod."""


class Share(NamedTuple):
    """All that is to be said about one pod."""

    pod: Object
    holdings: tuple[Holding, ...]
    verdicts: dict[Device, Verdict]


@dataclass(eq=False)
class _Tombstone:
    ended: float
    companions: dict[Device, set[str]]
    """Who had the device together with the pod, when it ended."""
    shown: dict[Device, Verdict]
    """The last that was said about it."""
    closed: set[Device] = field(default_factory=set)
    """Devices that are not the pod's business any more."""


class Claims:
    """Each method that takes something in returns the UIDs of the pods that are to be looked at again."""

    def __init__(self, settings: Settings, look: Look, remembered: Callable[[Device], bool] = lambda device: False) -> None:
        self.settings = settings
        self._is_remembered = remembered
        self.stale_since: float | None = None
        """Since when we do not hear from the kubelet which devices it has given away; what it said before is kept."""
        self._look = look
        self._missing = set(settings.sources)
        self._pods: dict[str, Object] = {}
        self._names: dict[Name, str] = {}
        self._claims: dict[Name, Object] = {}
        self._users: dict[Name, set[str]] = {}
        self._prepared: dict[str, dict[Device, str]] = {}
        self._plugins: dict[str, Given] = {}
        self._holdings: dict[str, tuple[Holding, ...]] = {}
        self._holders: dict[Device, set[str]] = {}
        self._tombs: dict[str, _Tombstone] = {}
        self._hearing: dict[str, _Tombstone] = {}
        """Those of them that still hear of their devices, in the order of their ends."""

    # What is asked

    @property
    def ready(self) -> bool:
        """Whether all sources were listed. Before, a pod may hold more than we know."""
        return not self._missing

    def uids(self) -> dict[Name, str]:
        """The pods of this node, by name. Take it before a podresources call, and give it back with the answer."""
        return dict(self._names)

    def pod(self, uid: str) -> Object | None:
        return self._pods.get(uid)

    def users(self, claim: Object) -> set[str]:
        """The pods that name a claim."""
        return set(self._users.get((claim["metadata"]["namespace"], claim["metadata"]["name"]), ()))

    def holders(self, device: Device) -> set[str]:
        """The pods that hold a device, or held it to the end."""
        return set(self._holders.get(device, ()))

    def claims_of(self, uid: str) -> list[Object] | None:
        """The claims that are made ready for the pod; None: one of them is not there yet, or not the pod's, or has no devices."""
        pod = self._pods[uid]
        names = holdings.claim_names(pod)
        needed = {each["name"] for each in pod["spec"].get("resourceClaims") or ()} - holdings.unneeded_claims(pod)
        if not self.ready or needed - names.keys():
            return None
        found = []
        for name in dict.fromkeys([*names.values(), *filter(None, [holdings.extended_claim(pod)])]):
            claim = self._claims.get((pod["metadata"]["namespace"], name))
            if claim is None or not holdings.is_reserved(claim, uid) or not (claim.get("status") or {}).get("allocation"):
                return None
            found.append(claim)
        return found

    def pods_using(self, devices: Iterable[Device], now: float) -> set[str]:
        """The pods that are to hear of a change of these devices."""
        return {uid for device in devices for uid in self._holders.get(device, ()) if self._hears(uid, device, now)}

    def share(self, uid: str, now: float) -> Share | None:
        """What is to be said about a pod; None: nothing, leave it alone."""
        pod = self._pods.get(uid)
        held = self._holdings.get(uid, ())
        if pod is None or not self.ready or (uid in self._tombs and not held):
            return None
        if uid in self._tombs:
            return Share(pod, held, self._tombs[uid].shown)
        verdicts = {device: self._look(device, now) for device in _devices(held)}
        remembered = [device for device in verdicts if self._is_remembered(device)]
        if remembered:
            # What we remember may be older than what the pod says: until a driver speaks, that stays as it is.
            said = status.said(pod, held)
            for device in remembered:
                verdicts[device] = said.get(device, NOT_KNOWN if verdicts[device].health == HEALTHY else verdicts[device])
        return Share(pod, held, verdicts)

    # What is learnt

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
        self._refer(uid, self._pods.get(uid), pod)
        self._pods[uid], self._names[name] = pod, uid
        if uid not in self._tombs:
            self._recount(uid, now)
            if (pod.get("status") or {}).get("phase") in ENDED:
                self._bury(uid, now)
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
        known = self._claims.get((namespace, name))
        if known is None or known["metadata"]["uid"] != uid:
            return set()  # an old one's end, heard of after the new one's beginning
        del self._claims[namespace, name]
        self._prepared.pop(uid, None)
        return self._recount_users((namespace, name), now)

    def claim_prepared(self, claim: Object, cdi: Mapping[Device, str], now: float) -> set[str]:
        """A driver has prepared the claim, and returned CDI IDs for its devices."""
        self._prepared[claim["metadata"]["uid"]] = dict(cdi)
        return self._recount_users((claim["metadata"]["namespace"], claim["metadata"]["name"]), now)

    def plugins_given(self, uid: str, given: Mapping[str, Mapping[str, Iterable[str]]], now: float) -> set[str]:
        """We have given these devices of device plugins to the pod's containers."""
        if uid not in self._pods or uid in self._tombs:
            return set()
        self._plugins[uid] = allocations.merged(given)
        return {uid} if self._recount(uid, now) else set()

    def plugins_listed(self, listing: Iterable[PodDevices], before: Mapping[Name, str], now: float) -> set[str]:
        """The kubelet has given these devices. `before` is what `uids` said before it was asked, since it knows names only.

        A pod that is not in the list may just have ended: it keeps what it had, except for what another one has now.
        """
        self.stale_since = None
        touched, taken = set(), set()
        for each in listing:
            uid = self._names.get((each.namespace, each.name))
            if uid is not None and before.get((each.namespace, each.name)) == uid and uid not in self._tombs:
                self._plugins[uid] = allocations.merged(each.plugins)
                taken.add(uid)
        devices = {device for uid in taken for device in _flat(self._plugins[uid])}
        for uid in self._plugins.keys() - taken - self._tombs.keys():
            self._plugins[uid] = _without(self._plugins[uid], devices)
        for uid in list(self._plugins):
            if uid not in self._tombs and self._recount(uid, now):
                touched.add(uid)
        return touched

    def plugins_unavailable(self, now: float) -> None:
        """The kubelet does not answer. That says nothing about the devices."""
        if self.stale_since is None:
            self.stale_since = now

    # The books

    def _recount_users(self, name: Name, now: float) -> set[str]:
        users = self._users.get(name, set()) - self._tombs.keys()
        return {uid for uid in users if self._recount(uid, now)}

    def _recount(self, uid: str, now: float) -> bool:
        """Works out again what the pod holds; whether that is something else than before."""
        held = self._counted(self._pods[uid])
        if held == self._holdings.get(uid, ()):
            return False
        self._hold(uid, held, now)
        return True

    def _counted(self, pod: Object) -> tuple[Holding, ...]:
        uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
        cdi: dict[Device, str] = {}

        def find(name: str) -> Object | None:
            claim = self._claims.get((namespace, name))
            if claim is None or not holdings.is_reserved(claim, uid):
                return None
            cdi.update(self._prepared.get(claim["metadata"]["uid"], {}))
            return claim

        held = holdings.of_pod(pod, find, self._plugins.get(uid, {}), self.settings.extended)
        if not cdi:
            return held
        return tuple(
            holding._replace(devices=tuple(Held(each.device, cdi.get(each.device, "")) for each in holding.devices))
            for holding in held
        )

    def _hold(self, uid: str, held: tuple[Holding, ...], now: float) -> None:
        before, after = _devices(self._holdings.get(uid, ())), _devices(held)
        for device in after - before:
            self._hand_over(device, uid)
            self._holders.setdefault(device, set()).add(uid)
        for device in before - after:
            self._holders[device].discard(uid)
            if not self._holders[device]:
                del self._holders[device]
        if held:
            self._holdings[uid] = held
        else:
            self._holdings.pop(uid, None)

    def _hand_over(self, device: Device, uid: str) -> None:
        """From now on the device is somebody else's: what ended pods show of it stays as it is."""
        for other in self._holders.get(device, ()):
            tomb = self._tombs.get(other)
            if tomb is None or uid in tomb.companions[device]:
                continue
            if self.ready:
                tomb.closed.add(device)
            else:
                tomb.companions[device].add(uid)  # we are only just learning who has what

    def _bury(self, uid: str, now: float) -> None:
        held = self._holdings.get(uid, ())
        said = status.said(self._pods[uid], held)
        shown = {device: self._heard(device, now) or said.get(device, NOT_KNOWN) for device in _devices(held)}
        companions = {device: self._holders[device] - {uid} for device in shown}
        self._tombs[uid] = self._hearing[uid] = _Tombstone(now, companions, shown)

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

    def _heard(self, device: Device, now: float) -> Verdict | None:
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


def _claims_of(pod: Object | None) -> set[Name]:
    if pod is None:
        return set()
    names = {*holdings.claim_names(pod).values(), holdings.extended_claim(pod)}
    return {(pod["metadata"]["namespace"], name) for name in names if name}


def _devices(held: Iterable[Holding]) -> set[Device]:
    return {each.device for holding in held for each in holding.devices}


def _flat(given: Given) -> set[tuple[str, str]]:
    return {(resource, each) for by_resource in given.values() for resource, ids in by_resource.items() for each in ids}


def _without(given: Given, devices: set[tuple[str, str]]) -> Given:
    return {
        container: {
            resource: tuple(each for each in ids if (resource, each) not in devices) for resource, ids in by_resource.items()
        }
        for container, by_resource in given.items()
    }
