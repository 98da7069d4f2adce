"""What the server does in place of the controllers of a cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.controllers import NAMES, UnknownController, parse
from podstrat.apiserver.kinds import BY_PATH
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.admission import Settings
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import ADMIN
from tests.strategy import make

Object = dict[str, Any]

NAMESPACES, PODS, ACCOUNTS, QUOTAS, CLASSES = (
    BY_PATH[path]
    for path in (
        ("", "v1", "namespaces"),
        ("", "v1", "pods"),
        ("", "v1", "serviceaccounts"),
        ("", "v1", "resourcequotas"),
        ("scheduling.k8s.io", "v1", "priorityclasses"),
    )
)


class Scene:
    """A server in this process."""

    def __init__(self, controllers: str = "*") -> None:
        engine = Engine("1.37")
        self.store = Store.open(None)
        admission = Admission(self.store, engine.context.version, plugins=Settings())
        self.api = Api(self.store, engine, admission=admission, controllers=parse(controllers))
        self.api.bootstrap()

    def send(self, method: str, kind: Any, namespace: str, name: str = "", body: Object | None = None, sub: str = "") -> Reply:
        data = b"" if body is None else json.dumps(body).encode()
        target = Target(kind, namespace if kind.namespaced else "", name, sub)
        return self.api.handle(Call(method, target, {}, data, "application/json", user=ADMIN))

    def quota(self) -> Object:
        body = self.send("GET", QUOTAS, "default", "q").body
        assert body is not None
        return body["status"]


@pytest.mark.parametrize(
    "text, chosen",
    [
        pytest.param("*", NAMES, id="all"),
        pytest.param("", frozenset(), id="none"),
        pytest.param("*,-resourcequota", NAMES - {"resourcequota"}, id="all-but-one"),
        pytest.param("serviceaccount", frozenset({"serviceaccount"}), id="one"),
        pytest.param("-serviceaccount", frozenset(), id="not-that-one"),
    ],
)
def test_flag(text: str, chosen: frozenset[str]) -> None:
    assert parse(text) == chosen


def test_flag_with_a_name_that_does_not_exist() -> None:
    with pytest.raises(UnknownController, match="'garbage' is not one of"):
        parse("*,garbage")


def test_every_namespace_has_a_default_account() -> None:
    scene = Scene()
    assert scene.send("GET", ACCOUNTS, "kube-system", "default").code == 200
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    assert scene.send("POST", NAMESPACES, "", body=namespace).code == 201
    assert scene.send("GET", ACCOUNTS, "new", "default").code == 200
    assert scene.send("DELETE", ACCOUNTS, "new", "default").code == 200
    assert scene.send("GET", ACCOUNTS, "new", "default").code == 200
    scene.send("DELETE", NAMESPACES, "", "new")
    assert scene.send("GET", NAMESPACES, "", "new").code == 404


def test_without_controllers_there_is_no_account() -> None:
    scene = Scene("")
    assert scene.send("GET", ACCOUNTS, "default", "default").code == 404
    reply = scene.send("POST", PODS, "default", body=make.pod())
    assert reply.code == 403
    assert reply.body is not None
    assert "error looking up service account default/default" in reply.body["message"]


def test_a_reset_keeps_the_accounts() -> None:
    scene = Scene()
    scene.send("DELETE", ACCOUNTS, "default", "default")
    scene.api.reset()
    assert scene.send("GET", ACCOUNTS, "default", "default").code == 200


def test_quotas_are_counted() -> None:
    scene = Scene()
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    assert scene.send("POST", QUOTAS, "default", body=quota).code == 201
    assert scene.quota() == {"hard": {"pods": "1"}, "used": {"pods": "0"}}
    assert scene.send("POST", PODS, "default", body=make.pod()).code == 201
    assert scene.quota()["used"] == {"pods": "1"}
    other = make.pod()
    other["metadata"] = {**other["metadata"], "name": "other"}
    refused = scene.send("POST", PODS, "default", body=other)
    assert refused.code == 403
    assert scene.send("DELETE", PODS, "default", "p", {"gracePeriodSeconds": 0}).code == 200
    assert scene.quota()["used"] == {"pods": "0"}
    assert scene.send("POST", PODS, "default", body=other).code == 201


def test_a_name_that_is_taken_is_charged_and_counted_again() -> None:
    scene = Scene("serviceaccount")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "5"}}}
    created = scene.send("POST", QUOTAS, "default", body=quota).body
    status = {"hard": {"pods": "5"}, "used": {"pods": "0"}}
    assert scene.send("PUT", QUOTAS, "default", "q", {**(created or {}), "status": status}, "status").code == 200
    assert scene.send("POST", PODS, "default", body=make.pod()).code == 201
    assert scene.send("POST", PODS, "default", body=make.pod()).code == 409
    assert scene.quota()["used"] == {"pods": "2"}


def test_the_system_has_priority_classes() -> None:
    scene = Scene("")
    reply = scene.send("GET", CLASSES, "", "system-node-critical")
    assert reply.body is not None
    assert reply.body["value"] == 2000001000
