"""Release discovery: the version of the API server, asked at start and again periodically, and the chain of concerns for it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.sync import Client
from podstrat.webhook.chain import Chain, Phase, ReviewResult
from podstrat.webhook.probes import Check
from podstrat.webhook.review import Request
from podstrat.webhook.settings import AUTO, Settings, release

CONFIRMATIONS = 3
"""How often in a row a newer release must be seen: API servers of a control plane are upgraded one after the other."""
TIMEOUT_SECONDS = 5.0  # an API server that is slower is asked again later
RETRY_SECONDS = 2.0
"""The interval while the release is unknown."""
log = logging.getLogger("podstrat.webhook")

Ask = Callable[[], str]


class Discovery:
    """Which release to work for. An older release counts at once, a newer one after it has been confirmed."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._candidate = ""
        self._confirmations = 0
        self.release = ""
        """Empty while unknown."""

    def poll(self) -> bool:
        """Asks once; whether the release has changed. Raises whatever ``ask`` raises."""
        answer = self._ask()
        if answer == self.release:
            self._candidate = ""
            return False
        self._confirmations = self._confirmations + 1 if answer == self._candidate else 1
        self._candidate = answer
        if self.release and release(answer) > release(self.release) and self._confirmations < CONFIRMATIONS:
            return False
        self.release, self._candidate = answer, ""
        return True


class VersionedChain:
    """The chain of concerns for the release of the API server; replaced as a whole when the release changes."""

    def __init__(self, settings: Settings, ask: Ask | None) -> None:
        self._settings = settings
        self._discovery = Discovery(ask) if ask is not None and settings.server_version == AUTO else None
        self._fault = "not known yet"
        if self._discovery is not None:
            self._poll()
        self._chain = self._built()

    def review(self, phase: Phase, request: Request) -> ReviewResult:
        return self._chain.review(phase, request)

    @property
    def settings(self) -> Settings:
        """The settings with the release that is in force."""
        version = self._discovery.release if self._discovery is not None else ""
        return self._settings.model_copy(update={"server_version": version}) if version else self._settings

    @property
    def chain(self) -> Chain:
        return self._chain

    def check(self) -> Check:
        """For /readyz: a replica that does not know its release cannot know what to do."""
        if self._discovery is None or (self._discovery.release and not self._fault):
            return Check(True)
        return Check(False, f"release of the API server: {self._fault}")

    def start(self, stop: threading.Event) -> None:
        """Polls in the background."""
        if self._discovery is not None:
            threading.Thread(target=self._watch, args=(self._discovery, stop), name="version", daemon=True).start()

    def _watch(self, discovery: Discovery, stop: threading.Event) -> None:
        while not stop.wait(self._settings.version_seconds if discovery.release else RETRY_SECONDS):
            if self._poll():
                self._use(discovery.release)

    def _poll(self) -> bool:
        assert self._discovery is not None
        try:
            changed = self._discovery.poll()
        except Exception as error:
            # A release that is known stays in force while the API server does not answer.
            if not self._discovery.release:
                self._fault = str(error)
            log.log(logging.DEBUG if self._discovery.release else logging.WARNING, "cannot get /version: %s", error)
            return False
        self._fault = ""
        return changed

    def _use(self, version: str) -> None:
        try:
            self._chain = self._built()
        except ValueError as error:
            self._fault = f"{version}: the settings do not fit it: {error}"
            log.error("cannot use release %s: %s", version, error)
        else:
            on = [name for name, decision in self._chain.decisions.items() if decision.on]
            log.info("API server release", extra={"fields": {"release": version, "concerns": on}})

    def _built(self) -> Chain:
        return Chain(self.settings)


def asking(settings: Settings) -> Ask | None:
    """How to ask the API server for its release; None where no API server is configured."""
    if settings.kubeconfig is None and "KUBERNETES_SERVICE_HOST" not in os.environ:
        return None

    def ask() -> str:
        config = kubeconfig.load(settings.kubeconfig, in_cluster_first=True)
        with Client(config, TIMEOUT_SECONDS) as client:
            version = client.call("GET", "/version")
        try:
            return f"{int(version['major'])}.{int(str(version['minor']).rstrip('+'))}"
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"/version is not that of a Kubernetes API server: {version!s:.100}") from None

    return ask
