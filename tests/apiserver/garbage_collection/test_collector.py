"""Objects go with their owners, or outlive them, as kube-controller-manager's garbage collector has it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.garbage_collection import thread
from podstrat.apiserver.garbage_collection.graph import Graph, Item
from podstrat.apiserver.kinds import BY_PATH
from podstrat.strategy import errors
from tests.apiserver.garbage_collection.scene import CRDS, JOBS, MAPS, NAMESPACES, PODS, ROLES, SECRETS, Scene, names, reference
from tests.eventually import eventually
from tests.strategy import make


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.store.close()


# ---- background ------------------------------------------------------------------------------------


def test_dependents_go_after_their_owner_and_theirs_after_them(scene: Scene) -> None:
    first = scene.make(MAPS, "first")
    second = scene.make(SECRETS, "second", reference(first))
    scene.make(MAPS, "third", reference(second))
    assert scene.delete(MAPS, "first").code == 200
    assert scene.get(MAPS, "first") is None
    assert scene.gone(SECRETS, "second")
    assert scene.gone(MAPS, "third")


def test_one_owner_that_is_left_keeps_a_dependent(scene: Scene) -> None:
    one, other = scene.make(MAPS, "one"), scene.make(MAPS, "other")
    scene.make(MAPS, "child", reference(one), reference(other))
    scene.delete(MAPS, "one")
    eventually(lambda: names(scene.get(MAPS, "child")) == ["other"])
    child = scene.get(MAPS, "child")
    assert child is not None
    scene.delete(MAPS, "other")
    assert scene.gone(MAPS, "child")


def test_an_owner_that_was_never_there(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    scene.make(MAPS, "child", reference(owner, absent=True))
    assert scene.gone(MAPS, "child")
    assert scene.get(MAPS, "owner") is not None


def test_an_owner_that_has_a_new_life_under_its_name(scene: Scene) -> None:
    scene.make(MAPS, "child", reference(scene.make(MAPS, "owner")))
    scene.delete(MAPS, "owner")
    scene.make(MAPS, "owner")
    assert scene.gone(MAPS, "child")
    assert scene.get(MAPS, "owner") is not None


def test_a_reference_that_is_taken_back_keeps_the_object(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    scene.make(MAPS, "child", reference(owner))
    scene.send("PATCH", MAPS, "child", {"metadata": {"ownerReferences": None}})
    scene.delete(MAPS, "owner")
    assert scene.settled()
    assert scene.get(MAPS, "child") is not None


def test_a_reference_that_comes_later_counts_too(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    scene.make(MAPS, "child")
    scene.send("PATCH", MAPS, "child", {"metadata": {"ownerReferences": [reference(owner)]}})
    scene.delete(MAPS, "owner")
    assert scene.gone(MAPS, "child")


def test_a_pod_without_a_node_goes_at_once_and_one_with_a_node_is_left_to_it(scene: Scene) -> None:
    owner = reference(scene.make(MAPS, "owner"))
    spec = make.pod()["spec"]
    scene.make(PODS, "free", owner, spec=spec)
    scene.make(PODS, "bound", owner, spec={**spec, "nodeName": "n"})
    scene.delete(MAPS, "owner")
    assert scene.gone(PODS, "free")
    pod = eventually(lambda: (found := scene.get(PODS, "bound")) and found["metadata"].get("deletionTimestamp") and found)
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30


# ---- owners elsewhere ------------------------------------------------------------------------------


def test_an_owner_in_another_namespace_is_none(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner", namespace="kube-system")
    scene.make(MAPS, "child", reference(owner))
    assert scene.gone(MAPS, "child")
    assert scene.get(MAPS, "owner", "kube-system") is not None


def test_a_cluster_scoped_owner_has_dependents_in_namespaces(scene: Scene) -> None:
    owner = scene.make(ROLES, "owner", rules=[])
    scene.make(MAPS, "child", reference(owner))
    scene.make(MAPS, "child", reference(owner), namespace="kube-system")
    assert scene.settled()
    assert scene.get(MAPS, "child") is not None
    scene.delete(ROLES, "owner")
    assert scene.gone(MAPS, "child")
    assert scene.gone(MAPS, "child", namespace="kube-system")


def test_a_cluster_scoped_object_with_a_namespaced_owner_is_left_alone(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    scene.make(ROLES, "child", reference(owner), rules=[])
    scene.delete(MAPS, "owner")
    scene.make(ROLES, "other", reference(owner, absent=True), rules=[])
    assert scene.settled()
    assert scene.get(ROLES, "child") is not None
    assert scene.get(ROLES, "other") is not None


def test_an_owner_of_a_kind_that_is_not_served_is_waited_for(scene: Scene) -> None:
    owner = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "u"}
    scene.make(MAPS, "child", owner)
    assert scene.settled()
    assert scene.get(MAPS, "child") is not None
    define(scene)
    assert scene.gone(MAPS, "child")


# ---- foreground ------------------------------------------------------------------------------------


def test_foreground_waits_for_those_who_block(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    held = {"metadata": {"finalizers": ["example.com/hold"]}}
    scene.make(MAPS, "blocking", reference(owner, blockOwnerDeletion=True), **held)
    scene.make(MAPS, "other", reference(owner), **held)
    reply = scene.delete(MAPS, "owner", "Foreground")
    assert reply.body is not None
    assert reply.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    for name in ("blocking", "other"):
        eventually(lambda name=name: "deletionTimestamp" in (scene.get(MAPS, name) or {"metadata": {}})["metadata"])
    assert scene.settled()
    assert scene.get(MAPS, "owner") is not None
    scene.send("PATCH", MAPS, "blocking", {"metadata": {"finalizers": None}})
    assert scene.gone(MAPS, "owner", "blocking")
    assert scene.get(MAPS, "other") is not None


def test_foreground_without_dependents(scene: Scene) -> None:
    scene.make(MAPS, "owner")
    scene.delete(MAPS, "owner", "Foreground")
    assert scene.gone(MAPS, "owner")


def test_foreground_goes_down_the_tree_before_it_comes_up(scene: Scene) -> None:
    first = scene.make(MAPS, "first")
    second = scene.make(MAPS, "second", reference(first, blockOwnerDeletion=True))
    scene.make(MAPS, "third", reference(second, blockOwnerDeletion=True), metadata={"finalizers": ["example.com/hold"]})
    scene.delete(MAPS, "first", "Foreground")
    eventually(lambda: (scene.get(MAPS, "second") or {})["metadata"].get("finalizers") == ["foregroundDeletion"])
    eventually(lambda: "deletionTimestamp" in (scene.get(MAPS, "third") or {})["metadata"])
    version = scene.store.version
    scene.send("PATCH", MAPS, "third", {"metadata": {"finalizers": None}})
    assert scene.gone(MAPS, "first", "second", "third")
    removed = [each.obj["metadata"]["name"] for each in scene.store.events_since(version) if each.type == "DELETED"]
    assert removed == ["third", "second", "first"]


def test_foreground_when_the_one_who_blocks_gets_another_owner(scene: Scene) -> None:
    owner, other = scene.make(MAPS, "owner"), scene.make(MAPS, "other")
    scene.make(MAPS, "child", reference(owner, blockOwnerDeletion=True), reference(other))
    scene.delete(MAPS, "owner", "Foreground")
    assert scene.gone(MAPS, "owner")
    assert names(scene.get(MAPS, "child")) == ["other"]


def test_foreground_in_a_circle(scene: Scene) -> None:
    one = scene.make(MAPS, "one")
    two = scene.make(MAPS, "two", reference(one, blockOwnerDeletion=True))
    patch = {"metadata": {"ownerReferences": [reference(two, blockOwnerDeletion=True)]}}
    assert scene.send("PATCH", MAPS, "one", patch).code == 200
    scene.delete(MAPS, "one", "Foreground")
    assert scene.gone(MAPS, "one", "two")


# ---- orphans ---------------------------------------------------------------------------------------


def test_orphans_stay_without_the_reference(scene: Scene) -> None:
    owner, other = scene.make(MAPS, "owner"), scene.make(MAPS, "other")
    scene.make(MAPS, "one", reference(owner))
    scene.make(SECRETS, "two", reference(owner, blockOwnerDeletion=True), reference(other))
    reply = scene.delete(MAPS, "owner", "Orphan")
    assert reply.body is not None
    assert reply.body["metadata"]["finalizers"] == ["orphan"]
    assert scene.gone(MAPS, "owner")
    assert names(scene.get(MAPS, "one")) == []
    assert names(scene.get(SECRETS, "two")) == ["other"]


def test_jobs_leave_their_pods_unless_told_otherwise(scene: Scene) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    for name in ("kept", "taken"):
        job = scene.make(JOBS, name, spec={"template": template})
        scene.make(PODS, name, reference(job), spec=make.pod()["spec"])
    scene.delete(JOBS, "kept")
    scene.delete(JOBS, "taken", "Background")
    assert scene.gone(JOBS, "kept", "taken")
    assert scene.gone(PODS, "taken")
    assert names(scene.get(PODS, "kept")) == []


# ---- of every kind ---------------------------------------------------------------------------------

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
CLAIM = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
OWNERS: dict[tuple[str, str], dict[str, Any]] = {
    ("", "namespaces"): {},
    ("", "nodes"): {},
    ("", "pods"): make.pod()["spec"],
    ("", "services"): {"ports": [{"port": 80}]},
    ("", "replicationcontrollers"): {"selector": {"a": "b"}, "template": TEMPLATE},
    ("apps", "deployments"): WORKLOAD,
    ("apps", "statefulsets"): {**WORKLOAD, "serviceName": "s"},
    ("coordination.k8s.io", "leases"): {},
    ("resource.k8s.io", "resourceclaims"): CLAIM,
}


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_every_kind_can_be_an_owner(scene: Scene, policy: str) -> None:
    for (group, plural), spec in OWNERS.items():
        kind = BY_PATH[group, "v1", plural]
        owner = scene.make(kind, "owner", spec=spec)
        scene.make(ROLES if plural == "namespaces" else MAPS, f"of-{plural}", reference(owner, blockOwnerDeletion=True))
        scene.delete(kind, "owner", policy)
        assert scene.gone(kind, "owner")
    left = [scene.get(ROLES if plural == "namespaces" else MAPS, f"of-{plural}") for _, plural in OWNERS]
    if policy == "Orphan":
        assert [names(each) for each in left] == [[]] * len(OWNERS)
    else:
        assert scene.gone(MAPS, *(f"of-{plural}" for _, plural in OWNERS))
        assert scene.gone(ROLES, "of-namespaces")


def test_events_are_not_collected(scene: Scene) -> None:
    owner = scene.make(MAPS, "owner")
    involved = {"namespace": "default", "name": "owner"}
    scene.make(BY_PATH["", "v1", "events"], "event", reference(owner), involvedObject=involved)
    scene.delete(MAPS, "owner")
    assert scene.settled()
    assert scene.get(BY_PATH["", "v1", "events"], "event") is not None


# ---- custom resources ------------------------------------------------------------------------------


def define(scene: Scene) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": "v1alpha1", "served": True, "storage": False, "schema": schema},
        {"name": "v1", "served": True, "storage": True, "schema": schema},
    ]
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    scene.make(CRDS, "widgets.example.com", spec=spec)


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_custom_resources_own_and_are_owned(scene: Scene, version: str, policy: str) -> None:
    define(scene)
    kind = scene.api.custom.find("example.com", version, "widgets")
    assert kind is not None
    owner = scene.make(kind, "owner")
    child = scene.make(kind, "child", reference(owner, blockOwnerDeletion=True))
    scene.make(MAPS, "grandchild", reference(child))
    scene.delete(kind, "owner", policy)
    assert scene.gone(kind, "owner")
    if policy == "Orphan":
        assert names(scene.get(kind, "child")) == []
        assert names(scene.get(MAPS, "grandchild")) == ["child"]
    else:
        assert scene.gone(kind, "child")
        assert scene.gone(MAPS, "grandchild")


def test_dependents_go_when_the_definition_of_their_owner_does(scene: Scene) -> None:
    define(scene)
    kind = scene.api.custom.find("example.com", "v1", "widgets")
    assert kind is not None
    scene.make(MAPS, "child", reference(scene.make(kind, "owner")))
    assert scene.delete(CRDS, "widgets.example.com").code == 200
    assert scene.gone(MAPS, "child")


# ---- in a namespace that goes, after a restart, far behind -----------------------------------------


def test_a_namespace_goes_with_owners_dependents_and_jobs(scene: Scene) -> None:
    scene.make(NAMESPACES, "ns")
    owner = scene.make(MAPS, "owner", namespace="ns")
    scene.make(MAPS, "child", reference(owner, blockOwnerDeletion=True), namespace="ns")
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    scene.make(JOBS, "job", spec={"template": template}, namespace="ns")
    scene.delete(MAPS, "owner", "Foreground", namespace="ns")
    scene.delete(NAMESPACES, "ns")
    assert scene.gone(NAMESPACES, "ns")


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_a_restart_goes_on_with_what_was_left(policy: str, tmp_path: Path) -> None:
    before = Scene(folder=tmp_path, runs=False)
    owner = before.make(MAPS, "owner")
    before.make(MAPS, "child", reference(owner, blockOwnerDeletion=True))
    before.delete(MAPS, "owner", policy)
    assert before.get(MAPS, "child") is not None
    before.store.close()
    after = Scene(folder=tmp_path)
    assert after.gone(MAPS, "owner")
    if policy == "Orphan":
        assert names(after.get(MAPS, "child")) == []
    else:
        assert after.gone(MAPS, "child")
    after.store.close()


def test_a_collector_that_is_left_behind_begins_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread, "BEHIND", 3)
    slow = Scene()
    owner = slow.make(MAPS, "owner")
    for number in range(50):
        slow.make(MAPS, f"child-{number}", reference(owner, blockOwnerDeletion=True))
    slow.delete(MAPS, "owner", "Foreground")
    assert slow.gone(MAPS, "owner", *(f"child-{number}" for number in range(50)))
    slow.store.close()


def test_what_is_refused_is_tried_again() -> None:
    """A webhook, say, that is out of order for a while."""
    scene = Scene("namespace")
    scene.make(MAPS, "child", reference(scene.make(MAPS, "owner"), blockOwnerDeletion=True))
    calls: list[Call] = []

    def send(call: Call) -> Reply:
        calls.append(call)
        if len(calls) < 4:
            return Reply(500, {"message": "out of order"})
        if len(calls) == 5:
            raise errors.Conflict("configmaps", "child", "too often")
        return scene.api._writes.send(call)

    thread.GarbageCollector(scene.store, scene.api.custom, send).start()
    scene.delete(MAPS, "owner", "Foreground")
    assert scene.gone(MAPS, "owner", "child")
    assert {call.user.name for call in calls} == {"system:serviceaccount:kube-system:generic-garbage-collector"}
    scene.store.close()


def test_without_it_finalizers_stay() -> None:
    before = set(threading.enumerate())
    scene = Scene("namespace")
    scene.make(MAPS, "child", reference(scene.make(MAPS, "owner"), blockOwnerDeletion=True))
    scene.delete(MAPS, "owner", "Foreground")
    assert scene.get(MAPS, "owner") is not None
    assert not any(each.name == "garbage-collector" and each.is_alive() for each in set(threading.enumerate()) - before)


def test_the_graph_forgets_what_is_gone() -> None:
    graph = Graph()
    owner, child = Item("", "configmaps", "ns", "owner", "1"), Item("", "configmaps", "ns", "child", "2")
    of_owner = {"metadata": {"name": "owner", "uid": "1"}}
    of_child = {"metadata": {"name": "child", "uid": "2", "ownerReferences": [{"uid": "1"}]}}
    assert list(graph.add(owner, of_owner)) == []
    assert list(graph.add(child, of_child)) == [child]
    assert list(graph.add(child, of_child)) == []
    assert list(graph.remove(owner)) == [child]
    assert graph.is_gone("1", "ns")
    assert not graph.is_gone("1", "")
    assert list(graph.remove(child)) == []
    assert all(not held for held in vars(graph).values())
