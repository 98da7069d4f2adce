"""A server's resources in this process, with whatever is registered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from podstrat.apiserver import negotiation
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.kinds import KINDS, POD, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.admission import Settings
from podstrat.strategy.admission.plugins import beyond
from podstrat.strategy.engine import Engine

Object = dict[str, Any]

ADMIN = User("admin", ("system:masters", AUTHENTICATED))
BY_PLURAL = {kind.plural: kind for kind in KINDS}


def node(name: str) -> User:
    return User(f"system:node:{name}", ("system:nodes", AUTHENTICATED))


class Scene:
    """The resources of one server, and somebody who uses them."""

    def __init__(self, *, pod_strategy: bool = True, version: str = "1.37", enable: str = "", **admission: Any) -> None:
        engine = Engine(version)
        if enable:
            admission["plugins"] = Settings(frozenset({enable}), beyond(engine.context.version))
        store = Store.open(None)
        self.admission = Admission(store, engine.context.version, **admission)
        self.api = Api(store, engine, pod_strategy=pod_strategy, admission=self.admission)
        self.api.bootstrap(["default", "kube-node-lease"])
        self.user = ADMIN

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self.admission.close()

    def register(self, *configurations: Object) -> None:
        """Through the front door, so that they are read as any other object."""
        for each in configurations:
            plural = f"{each['kind'].lower()}s"
            assert self.send("POST", BY_PLURAL[plural], body=each).code == 201

    def send(
        self,
        method: str,
        kind: Kind = POD,
        name: str = "",
        subresource: str = "",
        body: Any = None,
        *,
        namespace: str = "default",
        query: Mapping[str, str] | None = None,
        content_type: str = negotiation.JSON,
        user: User | None = None,
    ) -> Reply:
        target = Target(kind, namespace if kind.namespaced else "", name, subresource)
        sent = b"" if body is None else json.dumps(body).encode()
        asked = {key: [value] for key, value in (query or {}).items()}
        return self.api.handle(Call(method, target, asked, sent, content_type, user=user or self.user))

    def create(self, pod: Object, **more: Any) -> Reply:
        return self.send("POST", body=pod, **more)

    def update(self, pod: Object, subresource: str = "", **more: Any) -> Reply:
        return self.send("PUT", POD, pod["metadata"]["name"], subresource, pod, **more)

    def merge(self, name: str, patch: Object, subresource: str = "", **more: Any) -> Reply:
        return self.send("PATCH", POD, name, subresource, patch, content_type="application/merge-patch+json", **more)

    def delete(self, name: str, **more: Any) -> Reply:
        return self.send("DELETE", POD, name, **more)


def said(reply: Reply) -> str:
    """The words of a refusal."""
    assert reply.body is not None
    assert reply.body["kind"] == "Status", reply.body
    return str(reply.body["message"])
