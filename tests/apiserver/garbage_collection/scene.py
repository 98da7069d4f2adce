"""A server in this process whose garbage collector runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from podstrat.apiserver.api import Api
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.controllers import parse
from podstrat.apiserver.kinds import BY_PATH, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import ADMIN
from tests.eventually import eventually

Object = dict[str, Any]

NAMESPACES, MAPS, SECRETS, PODS, CRDS, ROLES, JOBS, SETS = (
    BY_PATH[path]
    for path in (
        ("", "v1", "namespaces"),
        ("", "v1", "configmaps"),
        ("", "v1", "secrets"),
        ("", "v1", "pods"),
        ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        ("rbac.authorization.k8s.io", "v1", "clusterroles"),
        ("batch", "v1", "jobs"),
        ("apps", "v1", "replicasets"),
    )
)


class Scene:
    """Requests to a server, and what is stored there."""

    def __init__(self, controllers: str = "namespace,garbagecollector", folder: Path | None = None, *, runs: bool = True) -> None:
        self.store = Store.open(folder)
        self.api = Api(self.store, Engine("1.37"), controllers=parse(controllers))
        self.api.bootstrap()
        if runs:
            self.api.run_controllers()

    def send(self, method: str, kind: Kind, name: str = "", body: Object | None = None, namespace: str = "default") -> Reply:
        data = b"" if body is None else json.dumps(body).encode()
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        target = Target(kind, namespace if kind.namespaced else "", name)
        return self.api.handle(Call(method, target, {}, data, content_type, user=ADMIN))

    def make(self, kind: Kind, name: str, *owners: Object, namespace: str = "default", **more: Any) -> Object:
        """Creates an object; the answer."""
        metadata: Object = {"name": name, **more.pop("metadata", {})}
        if owners:
            metadata["ownerReferences"] = list(owners)
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}
        reply = self.send("POST", kind, body=body, namespace=namespace)
        assert reply.code == 201, reply.body
        assert reply.body is not None
        return reply.body

    def delete(self, kind: Kind, name: str, policy: str = "", namespace: str = "default") -> Reply:
        return self.send("DELETE", kind, name, {"propagationPolicy": policy} if policy else None, namespace)

    def get(self, kind: Kind, name: str, namespace: str = "default") -> Object | None:
        reply = self.send("GET", kind, name, namespace=namespace)
        return reply.body if reply.code == 200 else None

    def gone(self, kind: Kind, *names: str, namespace: str = "default") -> bool:
        """Waits until objects are not there."""
        return eventually(lambda: not any(self.get(kind, name, namespace) for name in names))

    def settled(self) -> bool:
        """Waits until the garbage collector has seen everything that is stored: it is done with an object that came last."""
        owner = reference(self.make(SECRETS, "last", namespace="kube-system"), absent=True)
        self.make(MAPS, "last", owner, namespace="kube-system")
        self.gone(MAPS, "last", namespace="kube-system")
        return self.delete(SECRETS, "last", namespace="kube-system").code == 200


def reference(owner: Object, *, absent: bool = False, **more: Any) -> Object:
    """A reference to an object; with ``absent`` to one that had its name before."""
    uid = "00000000-0000-0000-0000-000000000000" if absent else owner["metadata"]["uid"]
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": uid, **more}


def names(obj: Object | None) -> list[str]:
    """The names of the owners of an object."""
    assert obj is not None
    return [each["name"] for each in obj["metadata"].get("ownerReferences") or ()]
