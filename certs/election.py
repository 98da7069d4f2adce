"""Leader election among replicas: a Lease that its holder renews, and that another replica acquires when it expires.

Clocks are never compared: a Lease has expired when it was not seen to change for its duration. Leading only saves work and
quarrels: what leaders write is guarded by resourceVersions, so two of them for a moment do no harm.
"""

from __future__ import annotations

from datetime import datetime

from podstrat.certs.cluster import Cluster, Conflict, Object


class Election:
    """One replica's view of the Lease."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, identity: str, seconds: float) -> None:
        self._cluster = cluster
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._metadata = {"name": name, "namespace": namespace}
        self._path = f"{self._collection}/{name}"
        self._identity = identity
        self._seconds = seconds
        self._lease: Object | None = None
        self._since = 0.0
        self.leading = False

    def lead(self, now: datetime, clock: float) -> bool:
        """Whether we lead. Asked again and again; each time the Lease is renewed if it is time."""
        try:
            self.leading = self._lead(now, clock)
        except Conflict:
            self.leading = False
        except Exception:
            self.leading = False
            raise
        return self.leading

    def _lead(self, now: datetime, clock: float) -> bool:
        lease = self._cluster.get(self._path)
        if lease is None:
            spec = self._spec({}, now)
            new = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": self._metadata, "spec": spec}
            self._remember(self._cluster.create(self._collection, new), clock)
            return True
        spec = lease.get("spec") or {}
        if spec != self._lease:
            self._lease, self._since = spec, clock
        holder = spec.get("holderIdentity") or ""
        if holder == self._identity:
            if clock - self._since < self._seconds / 3:
                return True
        elif holder and clock - self._since < self._seconds:
            return False
        self._remember(self._cluster.replace(self._path, {**lease, "spec": self._spec(spec, now)}), clock)
        return True

    def release(self) -> None:
        """Lets go, so that another one need not wait."""
        if not self.leading:
            return
        self.leading = False
        lease = self._cluster.get(self._path)
        if lease is not None and (lease.get("spec") or {}).get("holderIdentity") == self._identity:
            self._cluster.replace(self._path, {**lease, "spec": {**lease["spec"], "holderIdentity": ""}})

    def _remember(self, lease: Object, clock: float) -> None:
        self._lease, self._since = lease.get("spec") or {}, clock

    def _spec(self, before: Object, now: datetime) -> Object:
        time = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        mine = before.get("holderIdentity") == self._identity
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._seconds)),
            "acquireTime": before.get("acquireTime", time) if mine else time,
            "renewTime": time,
            "leaseTransitions": before.get("leaseTransitions", 0) + (0 if mine or not before else 1),
        }
