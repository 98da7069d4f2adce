"""Webhooks, policies, quotas and plugins see custom objects as they see all others."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.strategy.admission import Settings
from tests.apiserver import widgets
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import BY_PLURAL, Scene, said

Object = dict[str, Any]

RULES = [{"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["widgets", "widgets/*"]}]
MERGE = "application/merge-patch+json"


def define(scene: Scene, **more: Any) -> CustomKind:
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer", "maximum": 9, "default": 1}, "colour": {"type": "string"}},
    }
    schema = {
        "type": "object",
        "properties": {"spec": spec, "status": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
    version = widgets.version(schema, subresources={"status": {}, "scale": scale})
    body = widgets.definition(version, {**version, "name": "v1alpha1", "storage": False}, **more)
    assert scene.send("POST", BY_PLURAL["customresourcedefinitions"], body=body).code == 201
    kind = scene.api.custom.find("example.com", "v1", "widgets")
    assert kind is not None
    return kind


def widget(name: str = "w", **spec: Any) -> Object:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def test_mutating_webhooks_come_before_the_schema_and_validating_ones_after_it(scene: Scene, start: Start) -> None:
    kind = define(scene)
    painter = start(
        hooks.patch({"op": "add", "path": "/spec/colour", "value": "blue"}, {"op": "add", "path": "/spec/x", "value": 1})
    )
    viewer = start()
    scene.register(hooks.mutating("m", painter.entry(rules=RULES)), hooks.validating("v", viewer.entry(rules=RULES)))
    made = scene.send("POST", kind, body=widget())
    assert made.code == 201
    assert made.body is not None
    # What the schema does not know is pruned, as if the client had sent it.
    assert made.body["spec"] == {"size": 1, "colour": "blue"}
    assert painter.requests[0]["object"]["spec"] == {"size": 1}
    assert viewer.requests[0]["object"]["spec"] == {"size": 1, "colour": "blue"}
    assert viewer.requests[0]["kind"] == {"group": "example.com", "version": "v1", "kind": "Widget"}
    assert viewer.requests[0]["resource"] == {"group": "example.com", "version": "v1", "resource": "widgets"}

    painter.behave = hooks.patch({"op": "replace", "path": "/spec/size", "value": 10})
    refused = scene.send("POST", kind, body=widget("large"))
    assert said(refused).endswith("spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9")
    assert len(viewer.requests) == 1


@pytest.mark.parametrize("verb", ["create", "update", "patch", "status", "delete"])
def test_a_validating_webhook_refuses(scene: Scene, start: Start, verb: str) -> None:
    kind = define(scene)
    webhook = start(hooks.allow)
    scene.register(hooks.validating("v", webhook.entry(rules=RULES)))
    made = scene.send("POST", kind, body=widget()).body
    assert made is not None
    webhook.behave = hooks.deny("not today")
    reply = {
        "create": lambda: scene.send("POST", kind, body=widget("other")),
        "update": lambda: scene.send("PUT", kind, "w", body={**made, "spec": {"size": 2}}),
        "patch": lambda: scene.send("PATCH", kind, "w", body={"spec": {"size": 2}}, content_type=MERGE),
        "status": lambda: scene.send("PATCH", kind, "w", "status", {"status": {"n": 2}}, content_type=MERGE),
        "delete": lambda: scene.send("DELETE", kind, "w"),
    }[verb]()
    assert said(reply) == 'admission webhook "hook.example.com" denied the request: not today'
    request = webhook.requests[-1]
    assert request["operation"] == {"create": "CREATE", "delete": "DELETE"}.get(verb, "UPDATE")
    assert request.get("subResource", "") == ("status" if verb == "status" else "")
    assert scene.send("GET", kind, "w").body == made


def test_a_webhook_knows_a_resource_by_another_version(scene: Scene, start: Start) -> None:
    define(scene)
    kind = scene.api.custom.find("example.com", "v1alpha1", "widgets")
    assert kind is not None
    painter, exact = start(hooks.patch({"op": "add", "path": "/spec/colour", "value": "blue"})), start(hooks.deny())
    entries = (painter.entry(rules=RULES), exact.entry("exact.example.com", rules=RULES, matchPolicy="Exact"))
    scene.register(hooks.mutating("m", *entries))
    made = scene.send("POST", kind, body={**widget(), "apiVersion": "example.com/v1alpha1"})
    assert made.code == 201
    assert made.body is not None
    assert (made.body["apiVersion"], made.body["spec"]["colour"]) == ("example.com/v1alpha1", "blue")
    [request] = painter.requests
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v1", "v1alpha1")
    assert request["object"]["apiVersion"] == "example.com/v1"
    assert exact.requests == []


def test_a_webhook_is_not_sent_what_only_another_webhook_could_convert(scene: Scene, start: Start) -> None:
    service = {"namespace": "default", "name": "converter"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}
    define(scene, conversion={"strategy": "Webhook", "webhook": webhook})
    kind = scene.api.custom.find("example.com", "v1alpha1", "widgets")
    assert kind is not None
    viewer = start()
    scene.register(hooks.validating("v", viewer.entry(rules=RULES)))
    scene.send("POST", kind, body={**widget(), "apiVersion": "example.com/v1alpha1"})
    assert viewer.requests == []


def test_a_policy_refuses(scene: Scene) -> None:
    kind = define(scene)
    rules = [{"operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["widgets"]}]
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "small"},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "object.spec.size < 5", "message": "too large"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "small"},
        "spec": {"policyName": "small", "validationActions": ["Deny"]},
    }
    for each in (policy, binding):
        plural = "validatingadmissionpolicies" if each is policy else "validatingadmissionpolicybindings"
        assert scene.send("POST", BY_PLURAL[plural], body=each).code == 201
    assert scene.send("POST", kind, body=widget(size=4)).code == 201
    refused = scene.send("POST", kind, body=widget("large", size=5))
    assert said(refused) == (
        'widgets.example.com "large" is forbidden: '
        "ValidatingAdmissionPolicy 'small' with binding 'small' denied request: too large"
    )


def test_a_quota_counts_them() -> None:
    with Scene(plugins=Settings()) as scene:
        kind = define(scene)
        quotas = BY_PLURAL["resourcequotas"]
        hard = {"count/widgets.example.com": "1"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
        made = scene.send("POST", quotas, body=quota).body
        assert made is not None
        status = {**made, "status": {"hard": hard, "used": {"count/widgets.example.com": "0"}}}
        assert scene.send("PUT", quotas, "q", "status", status).code == 200
        assert scene.send("POST", kind, body=widget()).code == 201
        refused = scene.send("POST", kind, body=widget("second"))
        assert said(refused) == (
            'widgets.example.com "second" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, '
            "used: count/widgets.example.com=1, limited: count/widgets.example.com=1"
        )


def test_a_namespace_that_is_not_there(scene: Scene) -> None:
    kind = define(scene)
    assert said(scene.send("POST", kind, body=widget(), namespace="nowhere")) == 'namespaces "nowhere" not found'
