"""Leader duties: certificate reconciliation and registration, in the supervising process of each replica.

Every replica syncs its files with the Secret; the replica that holds the Lease also renews certificates and keeps the webhook
configurations as shipped.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from podstrat.certs import reconciler
from podstrat.certs.cluster import Cluster
from podstrat.certs.election import Election
from podstrat.webhook import registration
from podstrat.webhook.metrics import FOLDER, Metrics
from podstrat.webhook.settings import Settings
from podstrat.webhook.version import VersionedChain

log = logging.getLogger("podstrat.webhook")


class Leader:
    """The background thread of one process."""

    def __init__(self, settings: Settings, metrics: Metrics, chain: VersionedChain) -> None:
        self._settings = settings
        self._metrics = metrics
        self._chain = chain
        self._stop = threading.Event()
        self._election: Election | None = None
        self._certificates: reconciler.Keeper | None = None
        self._registration: registration.Reconciler | None = None

    @property
    def _needed(self) -> bool:
        """Whether there is an API server to talk to, and something to do there."""
        reachable = self._settings.kubeconfig is not None or "KUBERNETES_SERVICE_HOST" in os.environ
        return self._settings.certificates == "secret" or (reachable and self._settings.registration != "off")

    def start(self) -> None:
        if self._needed:
            threading.Thread(target=self._run, name="leader", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()
        if self._election is not None:
            try:
                self._election.release()
            except Exception as error:
                log.info("cannot release the Lease: %s", error)

    def _run(self) -> None:
        """Works in the process that holds the lock: while a supervising process is replaced there may be two for a moment."""
        folder = Path(os.environ.get(FOLDER) or self._settings.cert_dir)
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "leader.lock").open("w")
        while not _locked(lock):
            if self._stop.wait(self._settings.keeper_seconds):
                return
        while True:
            pause = self._settings.keeper_seconds
            try:
                if self._election is None:
                    self._connect()
                pause = self._round()
            except Exception as error:
                log.warning("reconciliation failed: %s", error)
            self._metrics.leading.set(int(self._election is not None and self._election.leading))
            if self._stop.wait(pause):
                return

    def _connect(self) -> None:
        from podstrat.certs.cluster import KubernetesCluster

        cluster = KubernetesCluster(self._settings.kubeconfig)
        election = new_election(self._settings, cluster)
        if self._settings.certificates == "secret":
            self._certificates = certificate_reconciler(
                self._settings, cluster, election, lambda step: self._metrics.rotations.labels(step).inc()
            )
        if self._settings.registration != "off":
            self._registration = registration.Reconciler(cluster, self._settings, self._entries, self._metrics.registered)
        self._election = election

    def _round(self) -> float:
        """One round; the seconds until the next."""
        assert self._election is not None
        pause = self._settings.keeper_seconds
        if self._certificates is not None:
            self._certificates.round(datetime.now(UTC), time.monotonic())
            if self._certificates.suspects:
                pause = min(pause, reconciler.RECHECK_SECONDS)
        else:
            self._election.lead(datetime.now(UTC), time.monotonic())
        if self._registration is not None and self._election.leading:
            if self._chain.check().good:
                self._registration.round()
        else:
            self._metrics.registered("mutating", 0, False)
            self._metrics.registered("validating", 0, False)
        return pause

    def _entries(self) -> dict[str, list[dict[str, Any]]]:
        return registration.entries(self._chain.settings, self._chain.chain)


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def new_election(settings: Settings, cluster: Cluster) -> Election:
    identity = settings.identity or f"{socket.gethostname()}-{os.getpid()}"
    return Election(cluster, settings.namespace, settings.lease, identity, settings.lease_seconds)


def certificate_reconciler(settings: Settings, cluster: Cluster, election: Election, on_step: Any) -> reconciler.Keeper:
    """The reconciler of the Secret and the caBundle for these settings."""
    from podstrat.certs.rotation import Policy
    from podstrat.certs.secret import Configurations, SharedSecret

    names = {"mutating": settings.mutating_configuration, "validating": settings.validating_configuration}
    return reconciler.Keeper(
        SharedSecret(cluster, settings.namespace, settings.secret),
        Configurations(cluster, names),
        election,
        settings.cert_dir,
        settings.names,
        Policy(
            timedelta(days=settings.leaf_days),
            timedelta(days=settings.authority_days),
            timedelta(seconds=settings.settle_seconds),
            timedelta(seconds=settings.overlap_seconds),
        ),
        on_step,
    )
