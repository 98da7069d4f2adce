"""Who holds what, in a test: pods and claims, health as one says it, and somebody who writes it down."""

from __future__ import annotations

import copy

from podstrat.node.model import NOT_KNOWN, DeviceHealth
from podstrat.node.state.inventory import Inventory, Settings
from podstrat.node.status import patch
from tests.node.fixtures import ENGINE, NODE, shown


class StateHarness:
    """Pods and claims, health as one says it, and somebody who writes it down, with the engine in the place of the server."""

    def __init__(self, *, engine=ENGINE, listed=True, settings=None, **more):
        self.engine = engine
        self.health = {}
        self.now = 0.0
        self.claims = Inventory(Settings(NODE, **more), lambda device, now: self.health.get(device, NOT_KNOWN))
        self.settings = settings or patch.Settings()
        self.pods = {}
        self.writes = []
        if listed:
            self.claims.listed("pods")
            self.claims.listed("claims")

    def see(self, pod):
        self.pods[pod["metadata"]["uid"]] = pod
        self.write(self.claims.pod_seen(pod, self.now))
        return pod["metadata"]["uid"]

    def give(self, *claims):
        for each in claims:
            self.write(self.claims.claim_seen(each, self.now))

    def set(self, device, health, message=None):
        """What feed.wakes does with one change."""
        self.claims.settle(self.now)
        self.health[device] = DeviceHealth(health, message)
        self.write(self.claims.pods_using([device], self.now))

    def write(self, uids):
        for uid in sorted(uids):
            share = self.claims.share(uid, self.now)
            operations = patch.guarded(*share[:3], self.settings) if share else []
            if operations:
                outcome = self.engine.patch(operations, share.pod, type="json", subresource="status")
                assert not outcome.errors, [str(error) for error in outcome.errors]
                self.writes.append(uid)
                self.pods[uid] = outcome.pod
                self.claims.pod_seen(outcome.pod, self.now)

    def phase(self, uid, phase):
        ended = copy.deepcopy(self.pods[uid])
        ended["status"]["phase"] = phase
        self.see(ended)

    def shown(self, uid, container="main", key="containerStatuses"):
        return shown(self.pods[uid], container, key)


def shares(name, own="gpu"):
    """The part of a pod's spec that names a claim."""
    return {"resourceClaims": [{"name": own, "resourceClaimName": name}]}


def using(name):
    """What makes a pod use a claim that others may use too."""
    return {"containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}], "spec": shares(name)}
