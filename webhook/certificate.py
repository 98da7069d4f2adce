"""The certificate of this replica: what is served, whether the world trusts it, and who renews it."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from certs import keeping
from certs.reloading import Reloading
from webhook.health import Check
from webhook.measures import Measures
from webhook.settings import Settings
from webhook.worker import patient

LOOK_SECONDS = 2.0
log = logging.getLogger("podstrat.webhook")


class Certificate:
    """Of one process. The processes of a replica share the files; one of them keeps these like the Secret."""

    def __init__(self, settings: Settings, measures: Measures) -> None:
        self._settings = settings
        self._measures = measures
        folder = settings.cert_dir
        self.files = Reloading(
            folder / keeping.CERTIFICATE,
            folder / keeping.KEY,
            settings.client_ca,
            lambda context: setattr(context, "sslsocket_class", patient(settings.read_seconds)),
        )
        self._stop = threading.Event()
        self._keeper: keeping.Keeper | None = None

    def check(self) -> Check:
        """For /readyz: there is a good pair, and whoever trusts what is published trusts it."""
        self.files.look()
        served, fault = self.files.served, self.files.fault
        if served is None:
            return Check(False, fault or "there is no certificate yet")
        now = datetime.now(UTC)
        if not served.facts.is_valid(now):
            return Check(False, f"the certificate ended at {served.facts.ends:%Y-%m-%d %H:%M}")
        distrust = keeping.published(self._settings.cert_dir, served.chain, now)
        if distrust is not None:
            return Check(False, distrust)
        return Check(True, f"ok, but an earlier pair is served: {fault}" if fault else "ok")

    # ---- in the background -----------------------------------------------------------------------------

    def start(self) -> None:
        """Looks after the certificate until it is told to stop."""
        threading.Thread(target=self._look, name="certificate", daemon=True).start()
        if self._settings.certificates == "secret":
            threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()
        if self._keeper is not None:
            try:
                self._keeper.election.release()
            except Exception as error:
                log.info("the Lease was not given back: %s", error)

    def _look(self) -> None:
        loads, said = 0, "ok"
        while True:
            try:
                good, text = self.check()
                if text != said:
                    log.log(logging.INFO if text == "ok" else logging.WARNING, "certificate: %s", text)
                    said = text
                if self.files.served is not None:
                    self._measures.expiry.set(self.files.served.facts.ends.timestamp())
                self._measures.usable.set(int(self.files.fault is None))
                self._measures.published.set(int(good))
                if self.files.loads > loads:
                    self._measures.reloads.inc(self.files.loads - loads)
                    loads = self.files.loads
            except Exception:
                log.exception("the certificate could not be looked at")
            if self._stop.wait(min(LOOK_SECONDS, self._settings.keeper_seconds)):
                return

    def _keep(self) -> None:
        """Of the processes of this replica the one that has the lock does it; when it dies, another one gets the lock."""
        self._settings.cert_dir.mkdir(parents=True, exist_ok=True)
        lock: IO[str] = (self._settings.cert_dir / ".keeper").open("w")
        while not _locked(lock):
            if self._stop.wait(self._settings.keeper_seconds):
                return
        while True:
            try:
                if self._keeper is None:
                    self._keeper = keeper(self._settings, lambda step: self._measures.rotations.labels(step).inc())
                self._keeper.round(datetime.now(UTC), time.monotonic())
            except Exception as error:
                log.warning("certificates could not be looked after: %s", error)
            self._measures.leading.set(int(self._keeper is not None and self._keeper.election.leading))
            if self._stop.wait(self._settings.keeper_seconds):
                return


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def keeper(settings: Settings, done: Any) -> keeping.Keeper:
    """The keeper that the settings ask for. It talks to the API server, and so needs the client library."""
    from certs.cluster import KubernetesCluster
    from certs.lease import Election
    from certs.rotation import Policy
    from certs.secret import Configurations, SharedSecret

    cluster = KubernetesCluster(settings.kubeconfig)
    identity = settings.identity or f"{socket.gethostname()}-{os.getpid()}"
    names = {"mutating": settings.mutating_configuration, "validating": settings.validating_configuration}
    return keeping.Keeper(
        SharedSecret(cluster, settings.namespace, settings.secret),
        Configurations(cluster, names),
        Election(cluster, settings.namespace, settings.lease, identity, settings.lease_seconds),
        settings.cert_dir,
        settings.names,
        Policy(
            timedelta(days=settings.leaf_days),
            timedelta(days=settings.authority_days),
            timedelta(seconds=settings.settle_seconds),
            timedelta(seconds=settings.overlap_seconds),
        ),
        done,
    )
