"""What the recorded cases do not reach: other kinds than pods, worlds that are not complete, configurations."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.admission import Admission, Settings, World, WorldError
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request, StoreOther, User
from podstrat.strategy.verbs.reviewers import Proposal
from tests.strategy import make

Object = dict[str, Any]


def obj(kind: str, name: str, namespace: str = "", api: str = "v1", metadata: Object | None = None, **rest: Any) -> Object:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **where, **(metadata or {})}, **rest}


BASE = [obj("Namespace", "default"), obj("ServiceAccount", "default", "default")]


def cluster(*objects: Object, complete: Any = "*", version: str = "1.37", **settings: Any) -> Engine:
    return Engine(version, admission=Admission(World([*BASE, *objects], complete=complete), Settings(**settings)))


def said(engine: Engine, pod: Object) -> str:
    return str(engine.create(pod).status().get("message", ""))


# ---- claims --------------------------------------------------------------------------------------------------

CLAIM = obj(
    "PersistentVolumeClaim",
    "data",
    "default",
    metadata={"uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"},
    spec={
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
        "volumeMode": "Filesystem",
    },
    status={"phase": "Bound", "capacity": {"storage": "1Gi"}},
)
RESIZE = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


def storage_class(name: str, **more: Any) -> Object:
    return obj("StorageClass", name, api="storage.k8s.io/v1", provisioner="example.com/disk", **more)


@pytest.mark.parametrize(
    "objects, code",
    [
        pytest.param([], 403, id="no-class"),
        pytest.param([storage_class("fast")], 403, id="class-says-nothing"),
        pytest.param([storage_class("fast", allowVolumeExpansion=False)], 403, id="class-forbids"),
        pytest.param([storage_class("fast", allowVolumeExpansion=True)], 200, id="class-allows"),
    ],
)
def test_a_claim_grows_if_its_class_allows(objects: list[Object], code: int) -> None:
    bigger = {**CLAIM, "spec": {**CLAIM["spec"], "resources": {"requests": {"storage": "2Gi"}}}}
    request = Request("update", body=bigger, name="data", resource="persistentvolumeclaims")
    answer = cluster(*objects).answer(request, CLAIM)
    assert answer.code == code
    if code == 403:
        assert answer.body["message"] == f'persistentvolumeclaims "data" is forbidden: {RESIZE}'


def test_the_newest_default_class_is_taken() -> None:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    classes = [
        storage_class(name, metadata={"annotations": marked, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"})
        for name, day in (("old", 1), ("newer", 2), ("also-newer", 2))
    ]
    spec = {key: value for key, value in CLAIM["spec"].items() if key != "storageClassName"}
    created = cluster(*classes).create_object(obj("PersistentVolumeClaim", "data", "default", spec=spec))
    assert created.pod is not None
    assert created.pod["spec"]["storageClassName"] == "also-newer"
    assert created.pod["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


@pytest.mark.parametrize(
    "hard, used, words",
    [
        pytest.param({"persistentvolumeclaims": "1"}, {"persistentvolumeclaims": "1"}, "persistentvolumeclaims=1", id="number"),
        pytest.param({"requests.storage": "1Gi"}, {"requests.storage": "1Gi"}, "requests.storage=1Gi", id="storage"),
        pytest.param(
            {"fast.storageclass.storage.k8s.io/requests.storage": "1Gi"},
            {"fast.storageclass.storage.k8s.io/requests.storage": "1"},
            "fast.storageclass.storage.k8s.io/requests.storage=1Gi",
            id="storage-of-a-class",
        ),
        pytest.param(
            {"count/persistentvolumeclaims": "0"},
            {"count/persistentvolumeclaims": "0"},
            "count/persistentvolumeclaims=1",
            id="count",
        ),
    ],
)
def test_quotas_count_claims(hard: Object, used: Object, words: str) -> None:
    quota = obj("ResourceQuota", "q", "default", spec={"hard": hard}, status={"hard": hard, "used": used})
    refused = cluster(quota).create_object(obj("PersistentVolumeClaim", "data", "default", spec=CLAIM["spec"]))
    assert refused.code == 403
    assert f"exceeded quota: q, requested: {words}" in refused.status()["message"]


def test_quotas_count_objects_of_every_kind() -> None:
    hard = {"count/configmaps": "1", "configmaps": "5"}
    quota = obj("ResourceQuota", "q", "default", spec={"hard": hard}, status={"hard": hard, "used": dict.fromkeys(hard, "0")})
    accepted = cluster(quota).create_object(obj("ConfigMap", "c", "default"))
    effects = [effect for effect in accepted.answer.effects if isinstance(effect, StoreOther)]
    assert [effect.obj["status"]["used"] for effect in effects] == [{"configmaps": "1", "count/configmaps": "1"}]


def test_a_dry_run_is_not_charged() -> None:
    hard = {"pods": "1"}
    quota = obj("ResourceQuota", "q", "default", spec={"hard": hard}, status={"hard": hard, "used": {"pods": "0"}})
    outcome = cluster(quota).create(make.pod(), options={"dryRun": "All"})
    assert outcome.ok
    assert outcome.answer.effects == ()


# ---- worlds that are not complete ------------------------------------------------------------------------------


def test_an_unknown_account_still_gets_a_token() -> None:
    outcome = Engine("1.37", admission=World([BASE[0]], complete=["Namespace"])).create(make.pod())
    assert outcome.ok
    assert outcome.pod is not None
    assert outcome.admission is not None
    assert outcome.pod["spec"]["serviceAccountName"] == "default"
    assert outcome.pod["spec"]["volumes"][-1]["name"].startswith("kube-api-access-")
    assert "ServiceAccount: cannot be known from what was given: ServiceAccount default in namespace default" in map(
        str, outcome.admission.hints
    )


def test_a_world_may_be_complete_for_some_namespaces_only() -> None:
    world = World(BASE, complete="*", namespaces=["other"])
    assert world.is_complete(("v1", "ServiceAccount"), "other")
    assert not world.is_complete(("v1", "ServiceAccount"), "default")
    assert world.is_complete(("v1", "Node"))


def test_an_unknown_runtime_class_is_a_hint() -> None:
    outcome = cluster(complete=["Namespace", "ServiceAccount"]).create({**make.pod(), "spec": _spec(runtimeClassName="x")})
    assert outcome.ok
    assert outcome.admission is not None
    assert "RuntimeClass: cannot be known from what was given: RuntimeClass x" in map(str, outcome.admission.hints)


def _spec(**more: Any) -> Object:
    return {**make.pod()["spec"], **more}


# ---- hostile worlds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken, words",
    [
        pytest.param(
            obj("LimitRange", "l", "default", spec={"limits": [{"type": "Container", "max": {"cpu": "much"}}]}),
            "LimitRange l in namespace default of the world: .*quantities must match",
            id="bad-quantity",
        ),
        pytest.param(
            obj("LimitRange", "l", "default", spec={"limits": "all"}),
            "LimitRange l in namespace default of the world: .*cannot unmarshal string",
            id="bad-type",
        ),
        pytest.param(
            obj("ResourceQuota", "q", "default", status={"hard": {"pods": {}}}),
            "ResourceQuota q in namespace default of the world: ",
            id="quota",
        ),
        pytest.param(
            obj("PriorityClass", "c", api="scheduling.k8s.io/v1", value="high"),
            "PriorityClass c of the world: .*cannot unmarshal string",
            id="priority-class",
        ),
        pytest.param(
            obj("ServiceAccount", "default", "default", imagePullSecrets=["a"]),
            "ServiceAccount default in namespace default of the world: ",
            id="service-account",
        ),
    ],
)
def test_objects_that_do_not_have_the_shape_of_their_kind(broken: Object, words: str) -> None:
    engine = cluster(broken)
    with pytest.raises(WorldError, match=words) as caught:
        engine.create(make.pod())
    assert caught.value.obj is not None
    assert engine.plugins is not None
    assert [str(fault) for fault in engine.plugins.world.faults()] == [str(caught.value)]  # type: ignore[attr-defined]


def test_a_node_with_a_bad_quantity() -> None:
    node = obj("Node", "n", status={"allocatable": {"cpu": "much"}})
    with pytest.raises(WorldError, match=r"Node n of the world: status.allocatable\[cpu\]: quantities must match"):
        cluster(node).create({**make.pod(), "spec": _spec(nodeName="n")})


def test_half_written_objects_are_read_as_empty() -> None:
    halves = [
        obj("LimitRange", "l", "default"),
        obj("ResourceQuota", "q", "default"),
        obj("RuntimeClass", "r", api="node.k8s.io/v1", handler="h"),
        obj("PriorityClass", "c", api="scheduling.k8s.io/v1"),
    ]
    outcome = cluster(*halves).create({**make.pod(), "spec": _spec(runtimeClassName="r", priorityClassName="c")})
    assert outcome.ok
    assert outcome.pod is not None
    assert outcome.pod["spec"]["priority"] == 0


def test_of_two_default_priority_classes_the_lower_counts() -> None:
    classes = [
        obj("PriorityClass", name, api="scheduling.k8s.io/v1", value=value, globalDefault=True)
        for name, value in (("a", 9), ("b", 5))
    ]
    outcome = cluster(*classes).create(make.pod())
    assert outcome.pod is not None
    assert outcome.pod["spec"]["priorityClassName"] == "b"


# ---- configurations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, configuration, words",
    [
        pytest.param(
            "PodNodeSelector", {"podNodeSelectorPluginConfig": ["a"]}, "PodNodeSelector: podNodeSelectorPluginConfig is not"
        ),
        pytest.param("PodTolerationRestriction", {"default": "x"}, "PodTolerationRestriction: default and whitelist are lists"),
        pytest.param("PodTolerationRestriction", "x", "PodTolerationRestriction: the configuration is not an object"),
        pytest.param("ResourceQuota", {"limitedResources": ["pods"]}, "ResourceQuota: limitedResources is not a list of objects"),
    ],
    ids=["selectors", "tolerations", "text", "quota"],
)
def test_configurations_that_cannot_be_read(name: str, configuration: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cluster(configurations={name: configuration})


def test_the_cluster_has_default_tolerations_and_a_whitelist() -> None:
    spare = {"key": "spare", "operator": "Exists"}
    config = {"default": [spare], "whitelist": [{"operator": "Exists"}]}
    engine = cluster(enable=frozenset({"PodTolerationRestriction"}), configurations={"PodTolerationRestriction": config})
    outcome = engine.create(make.pod())
    assert outcome.pod is not None
    assert spare in outcome.pod["spec"]["tolerations"]
    strict = cluster(
        enable=frozenset({"PodTolerationRestriction"}),
        configurations={"PodTolerationRestriction": {"whitelist": [spare]}},
    )
    assert said(strict, make.pod()).endswith("conflict with its cluster whitelist")


@pytest.mark.parametrize(
    "selector, words",
    [
        pytest.param("env in (a)", "invalid selector: [env in (a)]", id="not-a-pair"),
        pytest.param("a b=c", '<nil>: Invalid value: "a b": name part must consist of', id="key"),
        pytest.param("a=b c", '[a]: Invalid value: "b c": a valid label must be', id="value"),
    ],
)
def test_node_selectors_of_namespaces_that_cannot_be_read(selector: str, words: str) -> None:
    metadata = {"annotations": {"scheduler.alpha.kubernetes.io/node-selector": selector}}
    outcome = cluster(obj("Namespace", "default", metadata=metadata), enable=frozenset({"PodNodeSelector"})).create(make.pod())
    assert outcome.code == 500
    assert outcome.status()["message"].startswith(words)


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("{", "unexpected end of JSON input", id="json"),
        pytest.param('"a"', "json: cannot unmarshal string into Go value of type []v1.Toleration", id="not-a-list"),
        pytest.param("[7]", "json: cannot unmarshal number into Go value of type v1.Toleration", id="not-an-object"),
        pytest.param(
            '[{"key": 7}]', "json: cannot unmarshal number into Go struct field Toleration.key of type string", id="not-a-text"
        ),
    ],
)
def test_tolerations_of_namespaces_that_cannot_be_read(text: str, words: str) -> None:
    metadata = {"annotations": {"scheduler.alpha.kubernetes.io/defaultTolerations": text}}
    namespace = obj("Namespace", "default", metadata=metadata)
    outcome = cluster(namespace, enable=frozenset({"PodTolerationRestriction"})).create(make.pod())
    assert outcome.code == 500
    assert outcome.status()["message"] == words


# ---- others ----------------------------------------------------------------------------------------------------


def test_always_deny() -> None:
    engine = cluster(enable=frozenset({"AlwaysDeny"}))
    assert said(engine, make.pod()) == 'pods "p" is forbidden: admission control is denying all modifications'


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_the_default_chain_of_every_release(version: str) -> None:
    outcome = cluster(version=version).create(make.pod())
    assert outcome.ok
    assert outcome.admission is not None
    assert outcome.admission.hints == []


ROLE = obj(
    "Role",
    "r",
    "default",
    api="rbac.authorization.k8s.io/v1",
    rules=[{"apiGroups": ["apps"], "resources": ["replicasets/finalizers"], "verbs": ["update"], "resourceNames": ["r"]}],
)


@pytest.mark.parametrize(
    "subject, code",
    [
        pytest.param({"kind": "User", "name": "dev"}, 201, id="user"),
        pytest.param({"kind": "Group", "name": "devs"}, 201, id="group"),
        pytest.param({"kind": "User", "name": "other"}, 403, id="another-user"),
        pytest.param({"kind": "ServiceAccount", "name": "dev", "namespace": "default"}, 403, id="service-account"),
    ],
)
def test_roles_decide_who_blocks_the_deletion_of_owners(subject: Object, code: int) -> None:
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    binding = obj("RoleBinding", "b", "default", api="rbac.authorization.k8s.io/v1", roleRef=ref, subjects=[subject])
    pod = make.pod()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "blockOwnerDeletion": True}
    pod["metadata"] = {**pod["metadata"], "ownerReferences": [owner]}
    engine = cluster(ROLE, binding, enable=frozenset({"OwnerReferencesPermissionEnforcement"}), authorization_mode="RBAC")
    assert engine.answer(Request("create", body=pod, user=User("dev", ("devs",))), None).code == code


@pytest.mark.parametrize(
    "kind, words",
    [
        pytest.param(
            "Nonsense",
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 "
            'Kind Nonsense: no matches for kind "Nonsense" in version "example.com/v1"',
            id="unknown",
        ),
        pytest.param(
            "Widget",
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
            id="custom",
        ),
    ],
)
def test_owners_of_custom_kinds(kind: str, words: str) -> None:
    names = {"kind": "Widget", "plural": "widgets"}
    spec = {"group": "example.com", "names": names, "versions": [{"name": "v1"}]}
    definition = obj("CustomResourceDefinition", "widgets.example.com", api="apiextensions.k8s.io/v1", spec=spec)
    pod = make.pod()
    owner = {"apiVersion": "example.com/v1", "kind": kind, "name": "r", "uid": "u", "blockOwnerDeletion": True}
    pod["metadata"] = {**pod["metadata"], "ownerReferences": [owner]}
    engine = cluster(definition, enable=frozenset({"OwnerReferencesPermissionEnforcement"}), authorization_mode="RBAC")
    answer = engine.answer(Request("create", body=pod, user=User("dev")), None)
    assert answer.body["message"] == f'pods "p" is forbidden: {words}'


def test_images_that_somebody_set_back_are_refused() -> None:
    """Only a webhook could do that: it runs behind the plugin."""

    class Meddler:
        def mutate(self, asked: Proposal, number: int) -> tuple[bool, tuple[str, ...]]:
            assert asked.draft is not None
            asked.draft.value["spec"]["containers"][0]["imagePullPolicy"] = "Never"
            return False, ()

        def validate(self, asked: Proposal) -> tuple[str, ...]:
            return ()

    engine = cluster(enable=frozenset({"AlwaysPullImages"}))
    answer = engine.answer(Request("create", body=make.pod(), webhooks=Meddler()), None)
    words = 'spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"'
    assert (answer.code, answer.body["message"]) == (403, f'pods "p" is forbidden: {words}')
