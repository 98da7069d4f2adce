"""What a request could not finish is finished without it: namespaces and definitions that are being deleted."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from podstrat.apiserver.background import Background
from podstrat.apiserver.calls import Call, Target
from podstrat.apiserver.deadline import Deadline, Exceeded
from podstrat.apiserver.storage.store import Store
from podstrat.apiserver.work_queue import FIRST_DELAY, LAST_DELAY, WorkQueue
from podstrat.strategy.request import ADMIN
from tests.apiserver.garbage_collection.scene import CRDS, MAPS, NAMESPACES, Scene
from tests.eventually import eventually


class Moments:
    """A deadline that passes after some checks: no test measures the machine."""

    def __init__(self, checks: int) -> None:
        self._left = checks

    def check(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Exceeded()


def define(scene: Scene) -> Any:
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    scene.make(CRDS, "widgets.example.com", spec=spec)
    return scene.api.custom.find("example.com", "v1", "widgets")


@pytest.mark.parametrize("what", ["namespace", "definition"])
def test_a_delete_that_is_cut_off_goes_on(what: str) -> None:
    scene = Scene("namespace")
    scene.make(NAMESPACES, "ns")
    kind = define(scene)
    for number in range(20):
        scene.make(kind, f"w{number}", namespace="ns")
    target = Target(NAMESPACES, "", "ns") if what == "namespace" else Target(CRDS, "", "widgets.example.com")
    reply = scene.api.handle(Call("DELETE", target, {}, user=ADMIN, deadline=cast(Deadline, Moments(5))))
    assert reply.code == 504
    assert scene.gone(target.kind, target.name)
    assert scene.store.list(kind)[0] == []
    scene.store.close()


@pytest.mark.parametrize("what", ["namespace", "definition"])
def test_a_delete_that_a_crash_cut_off_goes_on_after_the_restart(what: str, tmp_path: Path) -> None:
    before = Scene("namespace", tmp_path)
    before.make(NAMESPACES, "ns")
    kind = define(before)
    for number in range(20):
        before.make(kind, f"w{number}", namespace="ns")
    target = Target(NAMESPACES, "", "ns") if what == "namespace" else Target(CRDS, "", "widgets.example.com")
    commits = before.store.commit

    def crash(*args: Any, **more: Any) -> Any:
        if len(before.store.list(kind)[0]) <= 15:
            raise KeyboardInterrupt
        return commits(*args, **more)

    before.store.commit = crash  # type: ignore[method-assign]
    with contextlib.suppress(KeyboardInterrupt):
        before.api.handle(Call("DELETE", target, {}, user=ADMIN))
    assert len(before.store.list(kind)[0]) == 15
    before.store.close()

    after = Scene("namespace", tmp_path)
    assert after.gone(target.kind, target.name)
    assert after.store.list(kind)[0] == []
    after.store.close()


def test_what_is_held_is_told_in_the_status_of_the_namespace() -> None:
    scene = Scene("namespace")
    scene.make(NAMESPACES, "ns")
    scene.make(MAPS, "held", metadata={"finalizers": ["example.com/a", "example.com/b"]}, namespace="ns")
    scene.make(MAPS, "too", metadata={"finalizers": ["example.com/a"]}, namespace="ns")
    scene.delete(NAMESPACES, "ns")
    status = (scene.get(NAMESPACES, "ns") or {})["status"]
    assert status["phase"] == "Terminating"
    assert [(each["type"], each["status"], each["reason"], each["message"]) for each in status["conditions"]] == [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances",
        ),
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, "
            "example.com/b in 1 resource instances",
        ),
    ]
    for name in ("held", "too"):
        scene.send("PATCH", MAPS, name, {"metadata": {"finalizers": None}}, namespace="ns")
    assert scene.get(NAMESPACES, "ns") is None


def test_the_thread_ends_when_nothing_is_left() -> None:
    tries: list[str] = []

    def work(name: str) -> bool:
        tries.append(name)
        return len(tries) > 3

    background = Background(work, "only-in-this-test")
    background.add("a")
    eventually(lambda: tries == ["a"] * 4)
    eventually(lambda: all(each.name != "only-in-this-test" for each in threading.enumerate()))
    background.add("b")
    eventually(lambda: tries[4:] == ["b"])


def test_what_failed_waits_twice_as_long_each_time() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("b")
    queue.add("a")
    assert (queue.next(0), queue.next(0), queue.next(0), queue.due(0)) == ("a", "b", None, None)
    delays = []
    for _ in range(30):
        queue.failed("a", 0)
        delays.append(queue.due(0))
        assert queue.next(LAST_DELAY) == "a"
    assert delays[:3] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY]
    assert delays[-1] == LAST_DELAY
    queue.done("a")
    queue.failed("a", 0)
    assert queue.due(0) == FIRST_DELAY


def test_nothing_runs_in_a_server_that_has_nothing_to_do() -> None:
    before = threading.active_count()
    scene = Scene("namespace")
    assert threading.active_count() == before
    assert isinstance(scene.store, Store)
