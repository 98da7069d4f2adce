"""What a cluster does with our Deployment, in small: a process from its template, and a status that says how it is."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from podstrat.certs.cluster import ClusterError, KubernetesCluster
from podstrat.certs.reconciler import Keeper
from podstrat.kubeclient.sync import Client
from podstrat.webhook import leader, settings
from tests.eventually import eventually

DEPLOYMENT = "/apis/apps/v1/namespaces/{namespace}/deployments/podstrat-webhook"
MERGE = "application/merge-patch+json"
QUICK = {
    "KEEPER_SECONDS": "0.1",
    "LEASE_SECONDS": "1",
    "DRAIN_SECONDS": "0",
    "GRACE_SECONDS": "1",
    "WORKERS": "1",
    "METRICS_PORT": "0",
    "VERSION_SECONDS": "0.1",
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class Deployments(ABC):
    """Looks at the Deployment again and again: whoever runs its pods is told of it, and its status tells how they are."""

    def __init__(self, admin: Path, namespace: str = "podstrat-system") -> None:
        self._admin = admin
        self._path = DEPLOYMENT.format(namespace=namespace)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._template: Any = None
        self.namespace = namespace
        self.starts = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)
        self.end()

    def _run(self) -> None:
        with Client(self._admin) as client:
            while not self._stop.wait(0.05):
                # As a controller does: what has failed is tried again in the next round.
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self._round(client)

    def _round(self, client: Client) -> None:
        code, deployment = client.send("GET", self._path)
        template = deployment["spec"]["template"]["spec"] if code == 200 else None
        if template != self._template:
            self.end()
            if template is not None:
                self.begin(template)
                self.starts += 1
            self._template = template
        if template is not None:
            self._tell(client, deployment)

    def _tell(self, client: Client, deployment: dict[str, Any]) -> None:
        wanted = deployment["spec"].get("replicas", 1)
        available = wanted if self.is_ready() else 0
        status = {"observedGeneration": deployment["metadata"]["generation"], "replicas": wanted, "updatedReplicas": wanted}
        status |= {"readyReplicas": available, "availableReplicas": available}
        known = {key: (deployment.get("status") or {}).get(key, 0) for key in status}
        if known != status:
            client.send("PATCH", f"{self._path}/status", {"status": status}, MERGE)

    @abstractmethod
    def begin(self, template: dict[str, Any]) -> None:
        """The pods of a template begin."""

    @abstractmethod
    def end(self) -> None:
        """They end, if there are any."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether all of them take requests."""


def variables(template: dict[str, Any], namespace: str) -> dict[str, str]:
    """The variables of the container; the only one that is looked up is the namespace."""
    (container,) = template["containers"]
    return {each["name"]: each.get("value", namespace) for each in container["env"]}


class Processes(Deployments):
    """The webhook as a process. One stands for all replicas: it is replaced when the template changes."""

    def __init__(self, admin: Path, account: Path, folder: Path, port: int) -> None:
        super().__init__(admin)
        self._account = account
        """The kubeconfig of the webhook itself."""
        self._folder = folder
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, template: dict[str, Any]) -> None:
        own = {"PORT": str(self._port), "READY_FILE": str(self._folder / "ready"), "CERT_DIR": str(self._folder / "tls")}
        own |= {"KUBECONFIG": str(self._account), "IDENTITY": f"replica-{self.starts}", "HOST": "127.0.0.1"}
        told = variables(template, self.namespace)
        told |= {f"PODSTRAT_WEBHOOK__{name}": value for name, value in (QUICK | own).items()}
        (self._folder / "ready").unlink(missing_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "podstrat", *template["containers"][0]["args"]],
                env={**os.environ, **told},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def end(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None

    def is_ready(self) -> bool:
        ready = self._folder / "ready"
        if not ready.exists():
            return False
        address = urlsplit(ready.read_text().split()[1])
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Keepers(Deployments):
    """Only the part of the webhook that keeps its certificates, in this process: enough where nobody calls it."""

    def __init__(self, admin: Path, account: Path, folder: Path, **more: str) -> None:
        super().__init__(admin)
        self._account = account
        self._folder = folder
        self._more = more
        """Further settings."""
        self._keeper: Keeper | None = None
        self.steps: list[str] = []
        """The steps of rotation that were done."""

    def begin(self, template: dict[str, Any]) -> None:
        told = variables(template, self.namespace)
        own = {"KUBECONFIG": str(self._account), "CERT_DIR": str(self._folder / "tls"), "IDENTITY": f"replica-{self.starts}"}
        told |= {f"PODSTRAT_WEBHOOK__{name}": value for name, value in (QUICK | own | self._more).items()}
        if told["PODSTRAT_WEBHOOK__CERTIFICATES"] == "secret":
            chosen = settings.load(told, {}).settings
            cluster = KubernetesCluster(chosen.kubeconfig)
            election = leader.new_election(chosen, cluster)
            self._keeper = leader.certificate_reconciler(chosen, cluster, election, self.steps.append)

    def end(self) -> None:
        if self._keeper is not None:
            with contextlib.suppress(ClusterError):
                self._keeper.election.release()
            self._keeper = None

    def is_ready(self) -> bool:
        if self._keeper is None:
            return True
        try:
            self._keeper.round(datetime.now(UTC), time.monotonic())
        except ClusterError:
            return False
        return (self._folder / "tls" / "tls.crt").exists()


def until(done: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What ``done`` gives, once it is something."""
    return eventually(done, seconds, 0.05)
