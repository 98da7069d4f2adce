"""Every object is a register that behaves as if there were one copy of it, and one thing happened at a time.

Clients raise a counter at once, by compare-and-swap or by patches with a test. Whoever is told that the counter has become N
saw it happen between question and answer: of two answers, one of which came before the other was asked for, the earlier has the
smaller number. Watchers are told each number once, in order.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from podstrat.apiserver.api import Api
from podstrat.apiserver.calls import Call, Target
from podstrat.apiserver.kinds import BY_PATH, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import ADMIN
from tests.apiserver.widgets import definition, version

Object = dict[str, Any]

CLIENTS, RAISES = 4, 12
DEPLOYMENTS, MAPS, CRDS = (
    BY_PATH[path]
    for path in (
        ("apps", "v1", "deployments"),
        ("", "v1", "configmaps"),
        ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    )
)
DEPLOYMENT = {
    "replicas": 0,
    "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
}
COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Register(NamedTuple):
    """A counter in an object: the kind, the part that is written, and the path to the number."""

    kind: Kind
    subresource: str
    path: tuple[str, str]

    def read(self, obj: Object) -> int:
        return int((obj.get(self.path[0]) or {}).get(self.path[1], 0))


class Told(NamedTuple):
    """A number that a client was told, and the moments around that."""

    asked: int
    answered: int
    number: int
    is_write: bool


class Scene:
    def __init__(self) -> None:
        self.store = Store.open(None)
        self.api = Api(self.store, Engine("1.37"))
        self.api.bootstrap()
        self._clock = itertools.count()
        """Moments: counting is atomic."""
        self.told: list[Told] = []

    def send(
        self, method: str, register: Register, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, Object]:
        name = "" if method == "POST" else "r"
        subresource = "" if method == "POST" else register.subresource
        target = Target(register.kind, "default" if register.kind.namespaced else "", name, subresource)
        data = b"" if body is None else json.dumps(body).encode()
        reply = self.api.handle(Call(method, target, {}, data, content_type, user=ADMIN))
        assert reply.body is not None
        return reply.code, reply.body

    def make(self, register: Register, **content: Any) -> None:
        body = {"apiVersion": register.kind.api_version, "kind": register.kind.kind, "metadata": {"name": "r"}, **content}
        code, answer = self.send("POST", register, body)
        assert code == 201, answer

    def client(self, register: Register, by_patch: bool) -> None:
        for _ in range(RAISES):
            while not self._raised(register, by_patch):
                pass

    def _raised(self, register: Register, by_patch: bool) -> bool:
        asked = next(self._clock)
        code, obj = self.send("GET", register)
        assert code == 200
        number = register.read(obj)
        self.told.append(Told(asked, next(self._clock), number, False))
        asked = next(self._clock)
        first, second = register.path
        if by_patch:
            version = {"op": "test", "path": "/metadata/resourceVersion", "value": obj["metadata"]["resourceVersion"]}
            change = {"op": "add", "path": f"/{first}", "value": {**(obj.get(first) or {}), second: number + 1}}
            code, answer = self.send("PATCH", register, [version, change], "application/json-patch+json")
        else:
            changed = {**obj, first: {**(obj.get(first) or {}), second: number + 1}}
            code, answer = self.send("PUT", register, changed)
        if code == 200:
            assert register.read(answer) == number + 1
            self.told.append(Told(asked, next(self._clock), number + 1, True))
            return True
        assert code in (409, 422), answer  # overtaken; of a patch whose test fails: 422
        return False


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.store.close()


def widgets(scene: Scene) -> Kind:
    schema = {"type": "object", "properties": {"spec": COUNTED, "status": COUNTED}}
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    body = definition(version(schema, subresources={"status": {}, "scale": scale}))
    target = Target(CRDS, "", "")
    assert scene.api.handle(Call("POST", target, {}, json.dumps(body).encode(), "application/json", user=ADMIN)).code == 201
    kind = scene.api.custom.find("example.com", "v1", "widgets")
    assert kind is not None
    return kind


@pytest.mark.parametrize("by_patch", [False, True], ids=["compare-and-swap", "patch-with-a-test"])
@pytest.mark.parametrize("what", ["widget", "widget-status", "widget-scale", "deployment", "deployment-scale"])
def test_a_counter(scene: Scene, what: str, by_patch: bool) -> None:
    name, _, part = what.partition("-")
    if name == "widget":
        path = ("status" if part == "status" else "spec", "replicas" if part == "scale" else "n")
        register = Register(widgets(scene), part, path)
        scene.make(register, spec={"n": 0})
    else:
        register = Register(DEPLOYMENTS, part, ("spec", "replicas"))
        scene.make(register, spec=DEPLOYMENT)
    version = scene.store.version
    clients = [threading.Thread(target=scene.client, args=(register, by_patch)) for _ in range(CLIENTS)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()

    writes = sorted(each.number for each in scene.told if each.is_write)
    assert writes == list(range(1, CLIENTS * RAISES + 1))
    _check_order(scene.told)
    seen = [_number(each.obj, what) for each in scene.store.events_since(version)]
    assert seen == writes


def _number(obj: Object, what: str) -> int:
    if what == "widget-status":
        return int(obj["status"]["n"])
    return int(obj["spec"]["n" if what.startswith("widget") else "replicas"])


def _check_order(told: list[Told]) -> None:
    """Nobody is told an older number than one that was told, or written, before he asked; nor one that was not yet written."""
    by_answer = sorted(told, key=lambda each: each.answered)
    begun = {each.number: each.asked for each in told if each.is_write}
    newest, at = 0, 0
    for each in sorted(told, key=lambda each: each.asked):
        while by_answer[at].answered < each.asked:
            newest = max(newest, by_answer[at].number)
            at += 1
        assert each.number > newest if each.is_write else each.number >= newest
        assert each.number == 0 or begun[each.number] < each.answered
