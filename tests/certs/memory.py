"""A cluster in memory: objects with resourceVersions, as far as certificates need them."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from typing import Any

from podstrat.certs.cluster import ClusterError, Conflict, Object

SECRET = "/api/v1/namespaces/ns/secrets/tls"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lease"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/hook"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hook"


class Memory:
    """``before`` is called with every request before it is carried out."""

    def __init__(self, before: Callable[[str, str], None] = lambda method, path: None) -> None:
        self.objects: dict[str, Object] = {}
        self.before = before
        self.calls: list[tuple[str, str]] = []
        self.down = False
        self._version = 0

    def get(self, path: str) -> Object | None:
        self._asked("GET", path)
        return copy.deepcopy(self.objects.get(path))

    def create(self, path: str, obj: Object) -> Object:
        self._asked("POST", path)
        whole = f"{path}/{obj['metadata']['name']}"
        if whole in self.objects:
            raise Conflict(f"{whole} already exists")
        return self._kept(whole, obj)

    def replace(self, path: str, obj: Object) -> Object:
        self._asked("PUT", path)
        stored = self.objects.get(path)
        if stored is None or stored["metadata"]["resourceVersion"] != obj["metadata"].get("resourceVersion"):
            raise Conflict(f"{path} has been modified")
        return self._kept(path, obj)

    def put(self, path: str, **fields: Any) -> None:
        """As somebody else."""
        self._kept(path, {**self.objects.get(path, {"metadata": {"name": path.rpartition("/")[2]}}), **fields})

    def _kept(self, path: str, obj: Object) -> Object:
        self._version += 1
        made = copy.deepcopy(obj)
        made["metadata"]["resourceVersion"] = str(self._version)
        self.objects[path] = made
        return copy.deepcopy(made)

    def _asked(self, method: str, path: str) -> None:
        self.before(method, path)
        self.calls.append((method, path))
        if self.down:
            raise ClusterError("the API server does not answer")

    # ---- what is in it ---------------------------------------------------------------------------------

    def install(self, hooks: int = 1) -> None:
        """Both configurations, without a bundle."""
        for path in (MUTATING, VALIDATING):
            self.put(path, webhooks=[{"name": f"h{i}", "clientConfig": {"service": {"name": "s"}}} for i in range(hooks)])

    def published(self) -> list[bytes]:
        """Every bundle that clients are told to trust."""
        hooks = [hook for path in (MUTATING, VALIDATING) for hook in self.objects.get(path, {}).get("webhooks", ())]
        return [base64.b64decode(hook["clientConfig"].get("caBundle", "")) for hook in hooks]

    def secret(self) -> dict[str, bytes]:
        return {name: base64.b64decode(text) for name, text in self.objects[SECRET]["data"].items()}
