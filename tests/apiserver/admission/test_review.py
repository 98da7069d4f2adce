"""What a webhook is told, word for word."""

from __future__ import annotations

from typing import Any

from podstrat.apiserver.auth import User
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import Scene

PODS = {"group": "", "version": "v1", "resource": "pods"}
POD = {"group": "", "version": "v1", "kind": "Pod"}


def told(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key not in ("uid", "object", "oldObject")}


def test_a_create(scene: Scene, start: Start) -> None:
    webhook = start()
    scene.register(hooks.mutating("m", webhook.entry()))
    user = User("jane", ("dev", "system:authenticated"))
    scene.create(hooks.pod(), user=user, query={"fieldManager": "kubectl-create", "fieldValidation": "Strict"})
    [request] = webhook.requests
    assert list(request) == [
        "uid",
        "kind",
        "resource",
        "requestKind",
        "requestResource",
        "name",
        "namespace",
        "operation",
        "userInfo",
        "object",
        "oldObject",
        "dryRun",
        "options",
    ]
    assert told(request) == {
        "kind": POD,
        "resource": PODS,
        "requestKind": POD,
        "requestResource": PODS,
        "name": "web",
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "jane", "groups": ["dev", "system:authenticated"]},
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "kubectl-create",
            "fieldValidation": "Strict",
        },
    }
    assert request["oldObject"] is None
    assert request["object"]["metadata"]["namespace"] == "default"


def test_a_name_that_is_still_to_be_made(scene: Scene, start: Start) -> None:
    mutator, judge = start(), start()
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry()))
    pod = hooks.pod()
    pod["metadata"] = {"generateName": "web-"}
    made = scene.create(pod).body
    assert made is not None
    assert "name" not in mutator.requests[0]
    assert judge.requests[0]["name"] == made["metadata"]["name"]


def test_a_status(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    webhook = start()
    scene.register(hooks.validating("v", webhook.entry(rules=[{**hooks.PODS, "resources": ["pods/status"]}])))
    assert scene.merge("web", {"status": {"phase": "Running"}}, "status", query={"dryRun": "All"}).code == 200
    [request] = webhook.requests
    assert (request["subResource"], request["requestSubResource"], request["operation"]) == ("status", "status", "UPDATE")
    assert (request["dryRun"], request["options"]["dryRun"]) == (True, ["All"])
    assert (request["object"]["status"]["phase"], request["oldObject"]["status"]["phase"]) == ("Running", "Pending")


def test_an_apply_that_makes_a_pod_is_a_create(scene: Scene, start: Start) -> None:
    webhook = start()
    scene.register(hooks.mutating("m", webhook.entry()))
    apply = {"content_type": "application/apply-patch+yaml", "query": {"fieldManager": "me"}}
    assert scene.send("PATCH", name="web", body=hooks.pod(), **apply).code == 201
    assert scene.send("PATCH", name="web", body=hooks.pod(image="web:2"), **apply).code == 200
    assert [(each["operation"], each["options"]["kind"]) for each in webhook.requests] == [
        ("CREATE", "CreateOptions"),
        ("UPDATE", "UpdateOptions"),
    ]


def test_an_older_review(scene: Scene, start: Start) -> None:
    webhook = start()
    versions: list[str] = []
    answer = webhook.answer

    def noted(review: dict[str, Any]) -> dict[str, Any]:
        versions.append(review["apiVersion"])
        return answer(review)

    webhook.answer = noted  # type: ignore[method-assign]
    scene.register(hooks.mutating("m", webhook.entry(admissionReviewVersions=["v1beta1", "v1"])))
    assert scene.create(hooks.pod()).code == 201
    assert versions == ["admission.k8s.io/v1beta1"]


def test_what_a_namespace_takes_with_it_is_told_as_the_controllers_doing(scene: Scene, start: Start) -> None:
    from podstrat.apiserver.kinds import NAMESPACE

    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}}
    assert scene.send("POST", NAMESPACE, body=body).code == 201
    assert scene.create(hooks.pod(), namespace="gone").code == 201
    webhook = start()
    scene.register(hooks.validating("v", webhook.entry()))
    assert scene.send("DELETE", NAMESPACE, "gone").code == 200
    names = {request["userInfo"]["username"] for request in webhook.requests}
    assert names == {"system:serviceaccount:kube-system:namespace-controller"}
    assert ["name" in request for request in webhook.requests] == [False, False], "the controller deletes whole collections"
    assert scene.send("GET", NAMESPACE, "gone").code == 404
