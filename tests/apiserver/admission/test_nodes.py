"""What nodes may write: the words of the plugin NodeRestriction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podstrat.apiserver.auth import User
from podstrat.apiserver.calls import Reply
from podstrat.apiserver.kinds import POD
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import BY_PLURAL, Scene, node, said

Object = dict[str, Any]

N1, N2 = node("n1"), node("n2")
NODES, LEASES, SLICES = BY_PLURAL["nodes"], BY_PLURAL["leases"], BY_PLURAL["resourceslices"]


@pytest.fixture
def scene() -> Iterator[Scene]:
    with Scene(enable="NodeRestriction") as made:
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
        assert made.send("POST", NODES, body=body).code == 201
        pod = hooks.pod("web", labels={"app": "web"})
        pod["spec"]["nodeName"] = "n1"
        assert made.create(pod).code == 201
        yield made


def refused(reply: Reply) -> str:
    assert reply.code == 403, reply.body
    assert reply.body is not None
    assert reply.body["reason"] == "Forbidden"
    return said(reply).partition(" is forbidden: ")[2]


# ---- status, delete, eviction ----------------------------------------------------------------------


def test_the_status_of_its_own_pod(scene: Scene) -> None:
    assert scene.merge("web", {"status": {"phase": "Running"}}, "status", user=N1).code == 200


@pytest.mark.parametrize(
    "patch, user, words",
    [
        pytest.param(
            {"status": {"phase": "Running"}},
            N2,
            'node "n2" can only update pod status for pods with spec.nodeName set to itself',
            id="another-node",
        ),
        pytest.param(
            {"metadata": {"labels": {"app": "other"}}}, N1, 'node "n1" cannot update labels through pod status', id="labels"
        ),
        pytest.param(
            {"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "c"}]}},
            N1,
            'node "n1" cannot update resource claim statues',
            id="claims",
        ),
        pytest.param(
            {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "c", "requestMappings": []}}},
            N1,
            'node "n1" cannot update extended resource claim status',
            id="extended-claims",
        ),
        pytest.param(
            {"status": {"phase": "Running"}},
            User("system:node:", ("system:nodes",)),
            'could not determine node from user "system:node:"',
            id="nameless",
        ),
    ],
)
def test_a_status_that_is_not_its_own(patch: Object, user: User, words: str, scene: Scene) -> None:
    reply = scene.merge("web", patch, "status", user=user)
    assert refused(reply) == words
    assert said(reply).startswith('pods "web" is forbidden: ')


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(User("system:node:n2"), id="not-in-the-group"),
        pytest.param(User("kubelet", ("system:nodes",)), id="another-name"),
        pytest.param(User("system:serviceaccount:default:agent"), id="service-account"),
    ],
)
def test_who_is_no_node_is_not_restricted(user: User, scene: Scene) -> None:
    assert scene.merge("web", {"status": {"phase": "Running"}}, "status", user=user).code == 200


def test_without_the_switch_nodes_are_like_everybody() -> None:
    with Scene() as scene:
        scene.create(hooks.pod())
        assert scene.merge("web", {"status": {"phase": "Running"}}, "status", user=N2).code == 200


def test_a_delete(scene: Scene) -> None:
    assert refused(scene.delete("web", user=N2)) == 'node "n2" can only delete pods with spec.nodeName set to itself'
    assert scene.delete("web", user=N1, body={"gracePeriodSeconds": 0}).code == 200
    missing = scene.delete("web", user=N1)
    assert (missing.code, said(missing)) == (404, 'pods "web" not found')


def test_an_eviction(scene: Scene) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    words = "node n2 can only evict pods with spec.nodeName set to itself"
    assert refused(scene.send("POST", POD, "web", "eviction", body, user=N2)) == words
    assert scene.send("POST", POD, "web", "eviction", body, user=N1).code == 201


def test_nothing_else_of_a_pod(scene: Scene) -> None:
    words = 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'
    assert refused(scene.merge("web", {"metadata": {"labels": {"a": "b"}}}, user=N1)) == words
    resize = {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "1"}}}]}}
    strategic = "application/strategic-merge-patch+json"
    reply = scene.send("PATCH", POD, "web", "resize", resize, content_type=strategic, user=N1)
    assert refused(reply) == "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed"


# ---- mirror pods -----------------------------------------------------------------------------------


def mirror(scene: Scene, **owner: Any) -> Object:
    stored = scene.send("GET", NODES, "n1").body
    assert stored is not None
    reference = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": stored["metadata"]["uid"], "controller": True}
    noted = {"kubernetes.io/config.mirror": "h", "kubernetes.io/config.hash": "h", "kubernetes.io/config.source": "file"}
    pod = hooks.pod("static-n1", annotations=noted, ownerReferences=[{**reference, **owner}])
    pod["spec"]["nodeName"] = "n1"
    return pod


def test_a_mirror_pod(scene: Scene) -> None:
    assert scene.create(mirror(scene), user=N1).code == 201


def other_node(pod: Object) -> None:
    pod["spec"]["nodeName"] = "n2"


def no_annotation(pod: Object) -> None:
    pod["metadata"]["annotations"] = {}


def no_owner(pod: Object) -> None:
    pod["metadata"]["ownerReferences"] = []


def two_owners(pod: Object) -> None:
    [owner] = pod["metadata"]["ownerReferences"]
    pod["metadata"]["ownerReferences"] = [owner, {**owner, "uid": "x"}]


def spec(**fields: Any) -> Any:
    return lambda pod: pod["spec"].update(fields)


def env(**source: Any) -> Any:
    return lambda pod: pod["spec"]["containers"][0].update(env=[{"name": "A", "valueFrom": source}])


KEY = {"name": "x", "key": "y"}


@pytest.mark.parametrize(
    "change, words",
    [
        pytest.param(
            no_annotation,
            'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
            id="no-mirror",
        ),
        pytest.param(other_node, 'node "n1" can only create pods with spec.nodeName set to itself', id="other-node"),
        pytest.param(no_owner, 'node "n1" can only create pods with an owner reference set to itself', id="no-owner"),
        pytest.param(two_owners, 'node "n1" can only create pods with a single owner reference set to itself', id="two-owners"),
        pytest.param(spec(serviceAccountName="x"), "serviceaccounts", id="service-account"),
        pytest.param(spec(imagePullSecrets=[{"name": "x"}]), "secrets", id="pull-secret"),
        pytest.param(env(secretKeyRef=KEY), "secrets", id="secret-key"),
        pytest.param(env(configMapKeyRef=KEY), "configmaps", id="config-map-key"),
        pytest.param(spec(resourceClaims=[{"name": "a", "resourceClaimName": "b"}]), "resourceclaims", id="claim"),
        pytest.param(spec(volumes=[{"name": "v", "secret": {"secretName": "x"}}]), "secrets", id="secret-volume"),
        pytest.param(
            spec(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]), "persistentvolumeclaims", id="pvc"
        ),
        pytest.param(
            spec(volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]),
            "serviceaccounts (via projected volumes)",
            id="token",
        ),
    ],
)
def test_a_mirror_pod_that_is_refused(change: Any, words: str, scene: Scene) -> None:
    pod = mirror(scene)
    change(pod)
    told = refused(scene.create(pod, user=N1))
    assert told == (words if " " in words and "(" not in words else f'node "n1" can not create pods that reference {words}')


@pytest.mark.parametrize(
    "owner, words",
    [
        pytest.param({"name": "n2"}, 'node "n1" can only create pods with an owner reference set to itself', id="name"),
        pytest.param(
            {"controller": False},
            'node "n1" can only create pods with a controller owner reference set to itself',
            id="no-control",
        ),
        pytest.param(
            {"blockOwnerDeletion": True}, 'node "n1" must not set blockOwnerDeletion on an owner reference', id="blocks"
        ),
    ],
)
def test_the_owner_of_a_mirror_pod(owner: Object, words: str, scene: Scene) -> None:
    assert refused(scene.create(mirror(scene, **owner), user=N1)) == words


def test_the_uid_of_the_owner(scene: Scene) -> None:
    wanted = mirror(scene)["metadata"]["ownerReferences"][0]["uid"]
    words = f"node n1 UID mismatch: expected other got {wanted}"
    assert refused(scene.create(mirror(scene, uid="other"), user=N1)) == words
    assert scene.send("DELETE", NODES, "n1").code == 200
    pod = hooks.pod("static", annotations={"kubernetes.io/config.mirror": "h"})
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u", "controller": True}]
    pod["spec"]["nodeName"] = "n1"
    gone = scene.create(pod, user=N1)
    assert (gone.code, said(gone)) == (404, 'node "n1" not found')


# ---- nodes, leases, slices -------------------------------------------------------------------------


def merge(scene: Scene, patch: Object, user: User, name: str = "n1") -> Reply:
    return scene.send("PATCH", NODES, name, "", patch, content_type="application/merge-patch+json", user=user)


@pytest.mark.parametrize(
    "patch, user, words",
    [
        pytest.param({"metadata": {}}, N2, 'node "n2" is not allowed to modify node "n1"', id="another"),
        pytest.param(
            {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}}, N1, 'node "n1" is not allowed to modify taints', id="t"
        ),
        pytest.param(
            {"metadata": {"labels": {"node-restriction.kubernetes.io/x": "1", "role.k8s.io/y": "1"}}},
            N1,
            "is not allowed to modify labels: node-restriction.kubernetes.io/x, role.k8s.io/y",
            id="labels",
        ),
    ],
)
def test_a_node_that_is_refused(patch: Object, user: User, words: str, scene: Scene) -> None:
    assert refused(merge(scene, patch, user)) == words


@pytest.mark.parametrize("label", ["kubernetes.io/hostname", "node.kubernetes.io/gpu", "a.kubelet.kubernetes.io/b", "mine/x"])
def test_labels_of_its_own(label: str, scene: Scene) -> None:
    assert merge(scene, {"metadata": {"labels": {label: "1"}}}, N1).code == 200


def test_a_node_makes_itself(scene: Scene) -> None:
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": {"kubernetes.io/role": "master"}}}
    words = 'node "n2" is not allowed to set the following labels: kubernetes.io/role'
    assert refused(scene.send("POST", NODES, body=body, user=N2)) == words
    body["metadata"] = {"name": "n2"}
    assert scene.send("POST", NODES, body=body, user=N2).code == 201


def test_leases(scene: Scene) -> None:
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "n1"}}
    words = 'can only access leases in the "kube-node-lease" system namespace'
    assert refused(scene.send("POST", LEASES, body=body, user=N1)) == words
    words = "can only access node lease with the same name as the requesting node"
    assert refused(scene.send("POST", LEASES, body=body, namespace="kube-node-lease", user=N2)) == words
    assert scene.send("POST", LEASES, body=body, namespace="kube-node-lease", user=N1).code == 201


def test_slices(scene: Scene) -> None:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    body = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    body["spec"] = {"driver": "d", "nodeName": "n1", "pool": pool}  # type: ignore[assignment]
    words = "can only create ResourceSlice with the same NodeName as the requesting node"
    assert refused(scene.send("POST", SLICES, body=body, user=N2)) == words
    assert scene.send("POST", SLICES, body=body, user=N1).code == 201
    words = "can only delete ResourceSlice with the same NodeName as the requesting node"
    assert refused(scene.send("DELETE", SLICES, "s", user=N2)) == words
    assert scene.send("DELETE", SLICES, "s", user=N1).code == 200


def test_nodes_are_looked_at_before_webhooks_and_after_they_have_changed_something(scene: Scene, start: Start) -> None:
    webhook = start(hooks.patch({"op": "add", "path": "/metadata/labels/late", "value": "x"}))
    rule = {**hooks.PODS, "resources": ["pods/status"]}
    again = {"reinvocationPolicy": "IfNeeded"}
    quiet = start()
    scene.register(hooks.mutating("m", quiet.entry("quiet", rules=[rule], **again), webhook.entry("late", rules=[rule])))
    assert scene.merge("web", {"status": {"phase": "Running"}}, "status", user=N2).code == 403
    assert quiet.requests == []
    words = 'node "n1" cannot update labels through pod status'
    assert refused(scene.merge("web", {"status": {"phase": "Running"}}, "status", user=N1)) == words
