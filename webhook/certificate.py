"""The serving certificate of a process: reload and readiness check."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime

from podstrat.certs import reconciler
from podstrat.certs.reloader import Reloading
from podstrat.webhook.metrics import Metrics
from podstrat.webhook.probes import Check
from podstrat.webhook.settings import Settings

CHECK_SECONDS = 2.0  # a rotated certificate is served within seconds; two stat calls cost nothing
log = logging.getLogger("podstrat.webhook")


class Certificate:
    """The certificate of one process. The processes of a replica share the files."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        folder = settings.cert_dir
        self.files = Reloading(
            folder / reconciler.CERTIFICATE,
            folder / reconciler.KEY,
            settings.client_ca,
        )
        self._stop = threading.Event()

    def check(self) -> Check:
        """For /readyz: there is a valid pair, and it verifies against the published caBundle."""
        self.files.look()
        served, fault = self.files.served, self.files.fault
        if served is None:
            return Check(False, fault or "no certificate yet")
        now = datetime.now(UTC)
        if not served.facts.is_valid(now):
            return Check(False, f"the certificate expired at {served.facts.ends:%Y-%m-%d %H:%M}")
        failure = reconciler.published(self._settings.cert_dir, served.chain, now)
        if failure is not None:
            return Check(False, failure)
        return Check(True, f"ok, serving an earlier pair: {fault}" if fault else "ok")

    # ---- in the background -----------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the background thread."""
        threading.Thread(target=self._watch, name="certificate", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _watch(self) -> None:
        loads, logged = 0, "ok"
        while True:
            try:
                good, text = self.check()
                if text != logged:
                    log.log(logging.INFO if text == "ok" else logging.WARNING, "certificate: %s", text)
                    logged = text
                if self.files.served is not None:
                    self._metrics.expiry.set(self.files.served.facts.ends.timestamp())
                self._metrics.usable.set(int(self.files.fault is None))
                self._metrics.published.set(int(good))
                if self.files.loads > loads:
                    self._metrics.reloads.inc(self.files.loads - loads)
                    loads = self.files.loads
            except Exception:
                log.exception("certificate check failed")
            if self._stop.wait(min(CHECK_SECONDS, self._settings.keeper_seconds)):
                return
