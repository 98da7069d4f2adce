"""What a cluster does with our Deployment, in small: a process from its template, and a status that says how it is."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from podstrat.http import Client

DEPLOYMENT = "/apis/apps/v1/namespaces/{namespace}/deployments/podstrat-webhook"
MERGE = "application/merge-patch+json"
QUICK = {
    "KEEPER_SECONDS": "0.1",
    "LEASE_SECONDS": "1",
    "DRAIN_SECONDS": "0",
    "GRACE_SECONDS": "1",
    "WORKERS": "1",
    "METRICS_PORT": "0",
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class Replicas:
    """One process stands for all replicas: it is replaced when the template changes, and ends with the Deployment."""

    def __init__(self, admin: Path, account: Path, folder: Path, port: int, namespace: str = "podstrat-system") -> None:
        self._admin = admin
        self._account = account
        """The kubeconfig of the webhook itself."""
        self._folder = folder
        self._port = port
        self._path = DEPLOYMENT.format(namespace=namespace)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._template: Any = None
        self._namespace = namespace
        self.starts = 0

    def __enter__(self) -> Replicas:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)
        self._end()

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def _run(self) -> None:
        with Client(self._admin) as client:
            while not self._stop.wait(0.05):
                code, deployment = client.send("GET", self._path)
                if code != 200:
                    self._end()
                    continue
                template = deployment["spec"]["template"]["spec"]
                if template != self._template or self._process is None:
                    self._end()
                    self._begin(template)
                self._tell(client, deployment)

    def _begin(self, template: dict[str, Any]) -> None:
        (container,) = template["containers"]
        variables = {each["name"]: each.get("value", self._namespace) for each in container["env"]}
        own = {"PORT": str(self._port), "READY_FILE": str(self._folder / "ready"), "CERT_DIR": str(self._folder / "tls")}
        own |= {"KUBECONFIG": str(self._account), "IDENTITY": f"replica-{self.starts}", "HOST": "127.0.0.1"}
        variables |= {f"PODSTRAT_WEBHOOK__{name}": value for name, value in (QUICK | own).items()}
        (self._folder / "ready").unlink(missing_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "podstrat", *container["args"]],
                env={**os.environ, **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._template = template
        self.starts += 1

    def _end(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None

    def _tell(self, client: Client, deployment: dict[str, Any]) -> None:
        wanted = deployment["spec"].get("replicas", 1)
        available = wanted if self._is_ready() else 0
        status = {"observedGeneration": deployment["metadata"]["generation"], "replicas": wanted, "updatedReplicas": wanted}
        status["availableReplicas"] = available
        known = {key: (deployment.get("status") or {}).get(key, 0) for key in status}
        if known != status:
            client.send("PATCH", f"{self._path}/status", {"status": status}, MERGE)

    def _is_ready(self) -> bool:
        ready = self._folder / "ready"
        if not ready.exists():
            return False
        address = urlsplit(ready.read_text().split()[1])
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def until(done: Any, seconds: float = 20.0) -> Any:
    """What ``done`` gives, once it is something."""
    end = time.monotonic() + seconds
    while True:
        found = done()
        if found:
            return found
        assert time.monotonic() < end, "it did not come to pass in time"
        time.sleep(0.05)
