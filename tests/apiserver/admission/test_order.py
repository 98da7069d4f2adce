"""Who is asked when: those that mutate by the names of their configurations, once more, the strategy, those that validate."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import Scene, said


@pytest.mark.parametrize("names", [pytest.param(each, id="-".join(each)) for each in itertools.permutations("abc")])
def test_configurations_are_asked_by_name_whatever_the_order_of_their_making(
    names: tuple[str, str, str], scene: Scene, start: Start
) -> None:
    first, second, judge = start(hooks.note("one")), start(hooks.note("two")), start()
    scene.register(
        hooks.mutating(names[0], first.entry("one.example.com")),
        hooks.mutating(names[1], second.entry("two.example.com")),
        hooks.validating(names[2], judge.entry("judge.example.com")),
    )
    made = scene.create(hooks.pod())
    expected = "one two" if names[0] < names[1] else "two one"
    assert made.code == 201
    assert made.body is not None
    assert made.body["metadata"]["annotations"]["path"] == expected
    [seen] = judge.requests
    assert seen["object"]["metadata"]["annotations"]["path"] == expected


@pytest.mark.parametrize("order", ["first", "last"])
def test_webhooks_of_one_configuration_are_asked_as_they_stand(order: str, scene: Scene, start: Start) -> None:
    one, two = start(hooks.note("one")).entry("z.example.com"), start(hooks.note("two")).entry("a.example.com")
    scene.register(hooks.mutating("c", *((one, two) if order == "first" else (two, one))))
    made = scene.create(hooks.pod())
    assert made.body is not None
    assert made.body["metadata"]["annotations"]["path"] == ("one two" if order == "first" else "two one")


def test_the_strategy_comes_between_those_that_mutate_and_those_that_validate(scene: Scene, start: Start) -> None:
    mutator, judge = start(), start()
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry()))
    scene.create(hooks.pod())
    [before], [after] = mutator.requests, judge.requests
    assert before["object"]["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"  # defaulted already
    assert before["object"].get("status") in (None, {})
    assert "generation" not in before["object"]["metadata"]
    assert "uid" not in before["object"]["metadata"]
    assert after["object"]["metadata"]["generation"] == 1
    assert after["object"]["status"]["phase"] == "Pending"
    assert after["object"]["metadata"]["uid"]


def test_what_a_webhook_makes_wrong_is_refused_by_the_strategy(scene: Scene, start: Start) -> None:
    wrong = {"op": "replace", "path": "/spec/containers/0/image", "value": ""}
    judge = start()
    scene.register(hooks.mutating("m", start(hooks.patch(wrong)).entry()), hooks.validating("v", judge.entry()))
    refused = scene.create(hooks.pod())
    assert (refused.code, said(refused)) == (422, 'Pod "web" is invalid: spec.containers[0].image: Required value')
    assert judge.requests == []


def test_what_a_webhook_adds_is_defaulted(scene: Scene, start: Start) -> None:
    sidecar = {"op": "add", "path": "/spec/containers/-", "value": {"name": "proxy", "image": "proxy:2"}}
    scene.register(hooks.mutating("m", start(hooks.patch(sidecar)).entry()))
    made = scene.create(hooks.pod()).body
    assert made is not None
    assert made["spec"]["containers"][1]["terminationMessagePath"] == "/dev/termination-log"


def test_a_field_that_nobody_knows_is_dropped(scene: Scene, start: Start) -> None:
    scene.register(hooks.mutating("m", start(hooks.patch({"op": "add", "path": "/spec/novelty", "value": 1})).entry()))
    made = scene.create(hooks.pod())
    assert made.code == 201
    assert made.body is not None
    assert "novelty" not in made.body["spec"]


# ---- once more -------------------------------------------------------------------------------------


def test_who_wants_it_is_asked_once_more_after_a_later_change(scene: Scene, start: Start) -> None:
    first, second = start(hooks.note("one")), start(hooks.note("two"))
    again = {"reinvocationPolicy": "IfNeeded"}
    scene.register(hooks.mutating("a", first.entry("one", **again), second.entry("two", **again)))
    made = scene.create(hooks.pod())
    # The second one has changed nothing after itself in the first round; in the second round it is not due.
    assert made.body is not None
    assert made.body["metadata"]["annotations"]["path"] == "one two one"
    assert (len(first.requests), len(second.requests)) == (2, 1)
    assert json.loads(made.annotations["mutation.webhook.admission.k8s.io/round_1_index_0"])["mutated"] is True


@pytest.mark.parametrize(
    "policy, second, calls",
    [
        pytest.param("Never", hooks.note("two"), 1, id="never"),
        pytest.param("IfNeeded", hooks.allow, 1, id="nothing-changed-later"),
        pytest.param("IfNeeded", hooks.patch({"op": "test", "path": "/kind", "value": "Pod"}), 1, id="patch-without-effect"),
        pytest.param("IfNeeded", hooks.note("two"), 2, id="changed-later"),
    ],
)
def test_once_more_only_if_needed(policy: str, second: hooks.Behaviour, calls: int, scene: Scene, start: Start) -> None:
    first = start(hooks.once("one"))
    scene.register(hooks.mutating("a", first.entry("one", reinvocationPolicy=policy), start(second).entry("two")))
    assert scene.create(hooks.pod()).code == 201
    assert len(first.requests) == calls


def test_there_is_no_third_round(scene: Scene, start: Start) -> None:
    again = {"reinvocationPolicy": "IfNeeded"}
    first, second = start(hooks.note("one")), start(hooks.note("two"))
    third = start(hooks.note("three"))
    scene.register(hooks.mutating("a", first.entry("1", **again), second.entry("2", **again), third.entry("3", **again)))
    made = scene.create(hooks.pod())
    assert made.body is not None
    assert made.body["metadata"]["annotations"]["path"] == "one two three one two"


def test_a_webhook_that_matched_late_is_not_called_in_the_second_round(scene: Scene, start: Start) -> None:
    labelled = {"objectSelector": {"matchLabels": {"late": "yes"}}, "reinvocationPolicy": "IfNeeded"}
    late = start()
    label = hooks.patch({"op": "add", "path": "/metadata/labels", "value": {"late": "yes"}})
    scene.register(hooks.mutating("a", late.entry("late", **labelled), start(label).entry("label")))
    assert scene.create(hooks.pod()).code == 201
    assert late.requests == []


# ---- other writes ----------------------------------------------------------------------------------


def test_an_update_shows_what_is_stored_and_what_comes(scene: Scene, start: Start) -> None:
    made = scene.create(hooks.pod()).body
    assert made is not None
    mutator, judge = start(hooks.note("seen")), start()
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry()))
    changed = scene.merge("web", {"spec": {"containers": [{"name": "main", "image": "web:2"}]}})
    assert changed.code == 200
    [before], [after] = mutator.requests, judge.requests
    assert before["operation"] == after["operation"] == "UPDATE"
    assert before["oldObject"]["spec"]["containers"][0]["image"] == "registry.example.com/web:1"
    assert after["object"]["metadata"]["generation"] == 2
    assert after["object"]["metadata"]["annotations"] == {"path": "seen"}
    assert before["options"]["kind"] == "UpdateOptions"


def test_a_delete_asks_both(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    mutator, judge = start(), start(hooks.deny("keep it"))
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry("keeper.example.com")))
    refused = scene.delete("web")
    assert said(refused) == 'admission webhook "keeper.example.com" denied the request: keep it'
    [seen] = mutator.requests
    assert (seen["operation"], seen["object"], seen["oldObject"]["metadata"]["name"]) == ("DELETE", None, "web")
    assert seen["options"] == {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
    judge.behave = hooks.allow
    assert scene.delete("web").code == 200


def test_a_delete_at_once_asks_twice(scene: Scene, start: Start) -> None:
    """The pod is marked, and then removed."""
    scene.create(hooks.pod())
    webhook = start()
    scene.register(hooks.validating("v", webhook.entry()))
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
    assert scene.delete("web", body={**options, "dryRun": ["All"]}).code == 200
    assert len(webhook.requests) == 1
    assert scene.delete("web", body=options).code == 200
    _, before, marked = webhook.requests
    assert ["deletionTimestamp" in each["oldObject"]["metadata"] for each in (before, marked)] == [False, True]
    assert before["options"] == {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "gracePeriodSeconds": 0}


def test_a_delete_with_a_deadline_asks_once(scene: Scene, start: Start) -> None:
    pod = hooks.pod()
    pod["spec"]["nodeName"] = "n"
    scene.create(pod)
    webhook = start()
    scene.register(hooks.validating("v", webhook.entry()))
    assert scene.delete("web").code == 200
    assert len(webhook.requests) == 1


def test_a_delete_of_many_names_none(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    webhook = start()
    scene.register(hooks.validating("v", webhook.entry()))
    assert scene.send("DELETE").code == 200
    assert [("name" in each, each["oldObject"]["metadata"]["name"]) for each in webhook.requests] == [(False, "web")] * 2


def test_a_delete_cannot_be_patched(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    eager = start(hooks.patch({"op": "add", "path": "/metadata/labels", "value": {}}))
    scene.register(hooks.mutating("m", eager.entry("eager.example.com")))
    refused = scene.delete("web")
    words = 'admission webhook "eager.example.com" attempted to modify the object, which is not supported for this operation'
    assert (refused.code, said(refused)) == (500, f"Internal error occurred: {words}")


def test_a_binding_can_be_redirected(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    rule = {**hooks.PODS, "resources": ["pods/binding"]}
    elsewhere = start(hooks.patch({"op": "replace", "path": "/target/name", "value": "other"}))
    scene.register(hooks.mutating("m", elsewhere.entry(rules=[rule])))
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n"}}
    assert scene.send("POST", name="web", subresource="binding", body=body).code == 201
    [seen] = elsewhere.requests
    assert (seen["kind"]["kind"], seen["resource"]["resource"], seen["subResource"]) == ("Binding", "pods", "binding")
    stored = scene.send("GET", name="web").body
    assert stored is not None
    assert stored["spec"]["nodeName"] == "other"


def test_an_eviction_can_be_refused(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    rule = {**hooks.PODS, "resources": ["pods/eviction"]}
    judge = start(hooks.deny("not now", code=429, reason="TooManyRequests"))
    scene.register(hooks.validating("v", judge.entry(rules=[rule])))
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    refused = scene.send("POST", name="web", subresource="eviction", body=body)
    assert (refused.code, refused.body["reason"]) == (429, "TooManyRequests")  # type: ignore[index]
    assert judge.requests[0]["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert scene.send("GET", name="web").code == 200


def test_other_kinds_are_asked_about_too(scene: Scene, start: Start) -> None:
    rule = {"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"]}
    hook = start(hooks.patch({"op": "add", "path": "/data", "value": {"added": "yes"}}))
    scene.register(hooks.mutating("m", hook.entry(rules=[rule])))
    from tests.apiserver.admission.scene import BY_PLURAL

    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    made = scene.send("POST", BY_PLURAL["configmaps"], body=body)
    assert made.code == 201
    assert made.body is not None
    assert made.body["data"] == {"added": "yes"}


def test_a_name_that_is_taken_is_found_out_last_and_asked_about_once(scene: Scene, start: Start) -> None:
    scene.create(hooks.pod())
    hook = start()
    scene.register(hooks.mutating("m", hook.entry()))
    assert said(scene.create(hooks.pod())) == 'pods "web" already exists'
    assert len(hook.requests) == 1


def test_nobody_is_asked_about_a_pod_in_no_namespace(scene: Scene, start: Start) -> None:
    hook = start()
    scene.register(hooks.mutating("m", hook.entry()))
    refused = scene.create(hooks.pod(), namespace="nowhere")
    assert (refused.code, said(refused)) == (404, 'namespaces "nowhere" not found')
    assert hook.requests == []


def test_webhooks_are_never_asked_about_webhooks(scene: Scene, start: Start) -> None:
    everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    hook = start(hooks.deny("no"))
    scene.register(hooks.validating("v", hook.entry(rules=[everything])))
    scene.register(hooks.mutating("m", hook.entry(rules=[everything])))
    assert hook.requests == []


def test_a_server_without_a_strategy_asks_too(start: Start) -> None:
    hook = start(hooks.patch({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}))
    with Scene(pod_strategy=False) as scene:
        scene.register(hooks.mutating("m", hook.entry()))
        made = scene.create(hooks.pod()).body
    assert made is not None
    assert made["metadata"]["labels"] == {"a": "b"}
    assert "status" not in made
