"""Each concern, from review to response; and the patches, applied by somebody else's code."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy.engine import Engine
from tests.strategy import make, strategies
from tests.webhook.reviews import ADMIN, NODE, UID, Webhook, causes, patch, review

Pod = dict[str, Any]
ENGINE = Engine("1.37")
WEBHOOK = Webhook()
MIRROR = {"kubernetes.io/config.mirror": "x"}


def stored(**spec: Any) -> Pod:
    made = ENGINE.create(make.pod(**spec)).pod
    assert made is not None
    return made


def with_meta(pod: Pod, **fields: Any) -> Pod:
    return {**pod, "metadata": {**pod["metadata"], **fields}}


def with_image(pod: Pod, image: str) -> Pod:
    new = copy.deepcopy(pod)
    new["spec"]["containers"][0]["image"] = image
    return new


OLD = stored(nodeName="n1", containers=[{"name": "c", "image": "i:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}])


def applied(pod: Pod, response: Pod) -> Pod:
    made: Pod = jsonpatch.apply_patch(pod, patch(response))
    return made


# ---- generation ------------------------------------------------------------------------------------


def test_a_new_pod_has_generation_1() -> None:
    response = WEBHOOK.mutate(make.pod())
    assert patch(response) == [{"op": "add", "path": "/metadata/generation", "value": 1}]
    assert response["auditAnnotations"] == {"changed-by": "generation"}


def test_a_changed_spec_has_the_next_generation() -> None:
    response = WEBHOOK.mutate(with_image(OLD, "i:2"), OLD)
    assert patch(response) == [{"op": "replace", "path": "/metadata/generation", "value": 2}]
    new = with_image(OLD, "i:2")
    assert applied(new, response)["metadata"]["generation"] == ENGINE.update(new, OLD).pod["metadata"]["generation"]  # type: ignore[index]


def test_nothing_to_do_is_no_patch() -> None:
    assert WEBHOOK.mutate(OLD, OLD) == {"uid": review(OLD)["request"]["uid"], "allowed": True}


def test_auto_leaves_it_to_the_server() -> None:
    assert patch(Webhook(generation="auto").mutate(make.pod())) == []


def test_an_old_server_gets_the_count_in_an_annotation() -> None:
    webhook = Webhook(generation="auto", server_version="1.30")
    created = applied(make.pod(), webhook.mutate(make.pod()))
    assert created["metadata"]["generation"] == 1
    assert created["metadata"]["annotations"]["podstrat.dev/generation"] == "1"
    # Such a server puts the stored generation back; the annotation stays.
    updated = applied(with_image(created, "i:2"), webhook.mutate(with_image(created, "i:2"), created))
    assert updated["metadata"]["annotations"] == {**created["metadata"]["annotations"], "podstrat.dev/generation": "2"}


def counts(webhook: Webhook, new: Pod, old: Pod, part: str = "") -> str:
    """The count after a write, as a server before 1.33 stores it: subresources keep the stored metadata."""
    stored = applied(new, webhook.mutate(new, old, part))
    return (stored if part in ("", "status") else old)["metadata"]["annotations"]["podstrat.dev/generation"]


def test_what_subresources_change_is_counted_by_the_next_write() -> None:
    webhook = Webhook(generation="auto", observed_generation="auto", server_version="1.32")
    created = applied(make.pod(), webhook.mutate(make.pod()))
    # Neither can write annotations: real servers keep those that are stored.
    debugged = {**created, "spec": {**created["spec"], "ephemeralContainers": [{"name": "d", "image": "d"}]}}
    resized_to = [{**each, "resources": {"requests": {"cpu": "2"}}} for each in created["spec"]["containers"]]
    resized = {**debugged, "spec": {**debugged["spec"], "containers": resized_to}}
    assert counts(webhook, debugged, created, "ephemeralcontainers") == "1"
    for changed in (debugged, resized):
        # The kubelet's next status write counts, once; a change of the spec counts besides.
        reported = {**changed, "status": {"phase": "Running"}}
        assert counts(webhook, reported, changed, "status") == "2"
        seen = applied(reported, webhook.mutate(reported, changed, "status"))
        assert counts(webhook, {**seen, "status": {"phase": "Failed"}}, seen, "status") == "2"
        assert counts(webhook, with_image(changed, "i:9"), changed) == "3"
    # The same amount written in another way is the same.
    same = [{**each, "resources": {"requests": {"cpu": "2000m"}}} for each in created["spec"]["containers"]]
    seen = applied(resized, webhook.mutate(resized, resized, "status"))
    rewritten = {**seen, "spec": {**seen["spec"], "containers": same}}
    assert counts(webhook, rewritten, rewritten, "status") == "2"


def test_the_annotation_keeps_its_neighbours() -> None:
    pod = with_meta(make.pod(), annotations={"a/b": "c"})
    count, basis = [each for each in patch(Webhook(server_version="1.30").mutate(pod)) if "annotations" in each["path"]]
    assert basis["path"] == "/metadata/annotations/podstrat.dev~1generation-basis"
    assert count == {"op": "add", "path": "/metadata/annotations/podstrat.dev~1generation", "value": "1"}


# ---- observedGeneration ----------------------------------------------------------------------------

OBSERVED = {
    **OLD,
    "status": {
        **OLD["status"],
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}, {"type": "a/b", "status": "True"}],
    },
}


def test_what_was_observed_is_kept() -> None:
    new = {**OBSERVED, "status": {"conditions": [{"type": "a/b", "status": "True"}, {"type": "Ready", "status": "False"}]}}
    response = WEBHOOK.mutate(new, OBSERVED, "status", NODE)
    assert patch(response) == [
        {"op": "add", "path": "/status/observedGeneration", "value": 1},
        {"op": "add", "path": "/status/conditions/1/observedGeneration", "value": 1},
    ]


def test_a_status_without_anything_gets_it_back() -> None:
    new = {key: value for key, value in OBSERVED.items() if key != "status"}
    assert patch(WEBHOOK.mutate(new, OBSERVED, "status")) == [
        {"op": "add", "path": "/status", "value": {"observedGeneration": 1}}
    ]


def test_validation_tells_when_it_has_been_lost_again() -> None:
    new = {**OBSERVED, "status": {}}
    response = WEBHOOK.observed(new, OBSERVED, "status")
    assert response["allowed"]
    assert response["warnings"] == ["status.observedGeneration: was kept, and has been cleared by another webhook"]
    assert causes(Webhook(confirm="deny").observed(new, OBSERVED, "status")) == [
        "status.observedGeneration: Required value: another writer has cleared it"
    ]
    assert "warnings" not in Webhook(confirm="off").observed(new, OBSERVED, "status")


# ---- gates -----------------------------------------------------------------------------------------

SIGNAL = make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}])
PATH = "spec.containers[0].lifecycle.stopSignal"


@pytest.mark.parametrize(
    "settings, allowed, operations, warnings",
    [
        pytest.param(
            {}, True, [], [f"{PATH}: the feature gate ContainerStopSignals is off; the server may drop this field"], id="warn"
        ),
        pytest.param(
            {"gated_action": "drop"},
            True,
            [{"op": "remove", "path": "/spec/containers/0/lifecycle"}],
            [f"{PATH}: dropped, because the feature gate ContainerStopSignals is off"],
            id="drop",
        ),
        pytest.param({"gated_action": "refuse"}, False, [], None, id="refuse"),
        pytest.param({"gated_actions": {"ContainerStopSignals": "refuse"}}, False, [], None, id="refuse-this-one"),
        pytest.param({"gated_action": "refuse", "gated_fields": "off"}, True, [], None, id="off"),
        pytest.param({"gated_action": "refuse", "feature_gates": {"ContainerStopSignals": True}}, True, [], None, id="gate-on"),
    ],
)
def test_gated_fields(settings: Pod, allowed: bool, operations: list[Pod], warnings: list[str] | None) -> None:
    response = Webhook(generation="off", **settings).mutate(SIGNAL)
    assert response["allowed"] is allowed
    assert patch(response) == operations
    assert response.get("warnings") == warnings
    if not allowed:
        text = f"{PATH}: Forbidden: the feature gate ContainerStopSignals is off in this cluster"
        assert causes(response) == [text]
        assert response["status"]["message"] == f'Pod "p" is invalid: {text}'
        assert (response["status"]["code"], response["status"]["reason"]) == (422, "Invalid")
        assert response["auditAnnotations"] == {"refused-by": "gated_fields"}


def test_a_policy_is_not_bound_to_what_a_server_can_switch_off() -> None:
    pod = make.pod(volumes=[{"name": "v", "image": {"reference": "r"}}, {"name": "w", "emptyDir": {}}])
    response = Webhook(feature_gates="ImageVolume=false", gated_action="drop", generation="off").mutate(pod)
    assert patch(response) == [{"op": "remove", "path": "/spec/volumes/0"}]


def test_a_stored_pod_that_uses_it_may_go_on() -> None:
    webhook = Webhook(gated_action="refuse")
    assert webhook.mutate(with_image(SIGNAL, "i:2"), SIGNAL)["allowed"]


def test_what_is_dropped_is_not_counted() -> None:
    new = copy.deepcopy(OLD)
    new["spec"]["containers"][0]["lifecycle"] = {"stopSignal": "SIGTERM"}
    response = Webhook(gated_action="drop").mutate(new, OLD)
    assert patch(response) == [{"op": "remove", "path": "/spec/containers/0/lifecycle"}]
    assert applied(new, response) == OLD


def test_validation_refuses_what_has_come_back() -> None:
    assert causes(Webhook(gated_action="refuse").policy(SIGNAL)) == [
        f"{PATH}: Forbidden: the feature gate ContainerStopSignals is off in this cluster"
    ]
    assert Webhook(gated_action="drop").policy(SIGNAL)["warnings"] == [f"{PATH}: was dropped, and has come back"]
    assert not Webhook(gated_action="drop", confirm="deny").policy(SIGNAL)["allowed"]
    assert "warnings" not in WEBHOOK.policy(SIGNAL)


# ---- health ----------------------------------------------------------------------------------------


def reporting(health: str = "Healthy", container: str = "c", device: str = "g0", times: int = 1) -> Pod:
    report = [{"name": "nvidia.com/gpu", "resources": [{"resourceID": device, "health": health}]}] * times
    status = {
        "name": container,
        "ready": True,
        "restartCount": 0,
        "image": "i",
        "imageID": "",
        "allocatedResourcesStatus": report,
    }
    return {**OLD, "status": {**OLD["status"], "containerStatuses": [status]}}


AT = "status.containerStatuses[0].allocatedResourcesStatus"
TWICE = f'{AT}[1].name: Duplicate value: "nvidia.com/gpu"'


@pytest.mark.parametrize(
    "new, settings, expected",
    [
        pytest.param(reporting(), {}, None, id="healthy"),
        pytest.param(
            reporting("Fine"),
            {},
            [f'{AT}[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"'],
            id="no-such-health",
        ),
        pytest.param(reporting("Fine"), {"health": "off"}, None, id="switched-off"),
        pytest.param(reporting("Fine"), {"health": "auto"}, [], id="auto-is-on"),
        pytest.param(reporting(times=2), {}, [TWICE], id="a-name-twice"),
        pytest.param(reporting(times=2), {"strict_rules": ["named-devices"]}, None, id="a-name-twice-for-the-server"),
        pytest.param(reporting(container="x"), {}, ['status.containerStatuses[0].name: Not found: "x"'], id="no-such-container"),
        pytest.param(
            reporting("Fine", device=""), {}, [f"{AT}[0].resources[0].resourceID: Required value"], id="all-causes-at-once"
        ),
    ],
)
def test_rules_of_health(new: Pod, settings: Pod, expected: list[str] | None) -> None:
    response = Webhook(**settings).validate(new, OLD, "status", NODE)
    if expected is None:
        assert response["allowed"], response
    else:
        assert [cause for cause in expected if cause not in causes(response)] == []
        assert response["status"]["code"] == 422


FOREIGN = f"{AT}: Forbidden: only node 'n1' reports the health of this pod's devices, and "


def account(name: str, **extra: list[str]) -> Pod:
    groups = ["system:serviceaccounts", "system:authenticated"]
    return {"username": f"system:serviceaccount:default:{name}", "groups": groups, "extra": extra}


BOUND = {"authentication.kubernetes.io/node-name": ["n1"]}


@pytest.mark.parametrize(
    "user, settings, complaint",
    [
        pytest.param(NODE, {}, None, id="its-own-kubelet"),
        pytest.param({**NODE, "username": "system:node:n2"}, {}, FOREIGN + "'system:node:n2' is node 'n2'", id="another-kubelet"),
        pytest.param({**NODE, "groups": []}, {}, FOREIGN + "'system:node:n1' is not a node's", id="a-name-like-a-nodes"),
        pytest.param(account("agent", **BOUND), {}, None, id="a-token-bound-to-the-node"),
        pytest.param(
            account("agent", **{"authentication.kubernetes.io/node-name": ["n2"]}),
            {},
            FOREIGN + "'system:serviceaccount:default:agent' is node 'n2'",
            id="a-token-bound-to-another-node",
        ),
        pytest.param(
            account("agent"), {}, FOREIGN + "'system:serviceaccount:default:agent' is not a node's", id="a-token-bound-to-none"
        ),
        pytest.param(
            {"username": "eve", "extra": BOUND}, {}, FOREIGN + "'eve' is not a node's", id="extras-of-another-kind-of-user"
        ),
        pytest.param(ADMIN, {}, None, id="an-administrator"),
        pytest.param(
            ADMIN, {"health_writers": []}, FOREIGN + "'kubernetes-admin' is not a node's", id="an-administrator-who-may-not"
        ),
        pytest.param({"username": "kwok"}, {"health_writers": "user:kwok"}, None, id="a-writer-who-may"),
        pytest.param({"username": "eve"}, {"node_restriction": "off"}, None, id="switched-off"),
    ],
)
def test_who_writes_health(user: Pod, settings: Pod, complaint: str | None) -> None:
    response = Webhook(**settings).validate(reporting(), OLD, "status", user)
    if complaint is None:
        assert response["allowed"], response
        return
    assert causes(response) == [complaint]
    status = response["status"]
    assert (status["code"], status["reason"], status["message"]) == (403, "Forbidden", f'pods "p" is forbidden: {complaint}')


def test_anybody_may_write_the_rest_of_a_status() -> None:
    new = {**reporting(), "status": {**reporting()["status"], "message": "x"}}
    assert WEBHOOK.validate(new, reporting(), "status", {"username": "eve"})["allowed"]


def test_several_concerns_refuse_in_one_answer() -> None:
    response = WEBHOOK.validate(reporting("Fine"), OLD, "status", {"username": "eve"})
    assert len(causes(response)) == 2
    assert response["status"]["code"] == 403
    assert response["auditAnnotations"] == {"refused-by": "node_restriction,health"}


# ---- preflight -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, phase, warnings",
    [
        pytest.param({}, "preflight", None, id="off-out-of-the-box"),
        pytest.param(
            {"preflight": "on"},
            "preflight",
            [
                'Kubernetes 1.37 would refuse this pod: spec.restartPolicy: Unsupported value: "Often": '
                'supported values: "Always", "OnFailure", "Never"'
            ],
            id="warn",
        ),
        pytest.param({"preflight": "on", "preflight_phase": "mutate"}, "preflight", None, id="in-the-other-phase"),
        pytest.param({"preflight": "auto"}, "preflight", None, id="auto-with-a-server-of-that-release"),
    ],
)
def test_preflight(settings: Pod, phase: str, warnings: list[str] | None) -> None:
    response = Webhook(**settings).ask(phase, review(make.pod(restartPolicy="Often")))
    assert response["allowed"]
    assert response.get("warnings") == warnings


def test_preflight_denies_with_all_causes_in_the_words_of_that_release() -> None:
    bad = make.pod(restartPolicy="Often", dnsPolicy="Mine")
    response = Webhook(preflight="on", preflight_version="1.36", preflight_action="deny").preflight(bad)
    own = Engine("1.36").create(bad).status()
    assert response["status"]["message"] == f"Kubernetes 1.36 would refuse it: {own['message']}"
    assert response["status"]["details"] == own["details"]
    assert (response["status"]["code"], response["status"]["reason"]) == (422, "Invalid")
    assert len(causes(response)) == 2


def test_preflight_of_another_release_names_what_it_would_drop() -> None:
    pod = make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}], os={"name": "linux"})
    response = Webhook(
        preflight="auto", preflight_version="1.36", gated_fields="off", feature_gates={"ContainerStopSignals": True}
    ).preflight(pod)
    assert response["warnings"] == [f"Kubernetes 1.36 would drop {PATH}: the feature gate ContainerStopSignals is off"]


def test_many_warnings_fit_into_what_the_server_passes_on() -> None:
    containers = [{"name": f"c{i}", "image": "i", "imagePullPolicy": "x" * 300} for i in range(100)]
    warnings = Webhook(preflight="on").preflight(make.pod(containers=containers))["warnings"]
    assert all(len(each) <= 256 for each in warnings)
    assert sum(map(len, warnings)) <= 4096
    assert warnings[-1].startswith("podstrat: and ")


# ---- what is left alone ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(review(with_meta(make.pod(), annotations=MIRROR)), id="a-mirror-pod"),
        pytest.param(review(None, OLD, operation="DELETE"), id="a-deletion"),
        pytest.param(review(make.pod(), operation="CONNECT", subResource="exec"), id="a-connection"),
        pytest.param(
            review(make.pod(), kind={"group": "", "version": "v1", "kind": "Binding"}, subResource="binding"), id="a-binding"
        ),
        pytest.param(review(make.pod(), resource={"group": "x.y", "version": "v1", "resource": "pods"}), id="another-group"),
        pytest.param(review(make.pod(), kind={"group": "", "version": "v2", "kind": "Pod"}), id="another-version"),
    ],
)
def test_what_is_not_for_us_passes(sent: Pod) -> None:
    assert WEBHOOK.ask("mutate", sent) == {"uid": sent["request"]["uid"], "allowed": True}


def test_unknown_fields_stay() -> None:
    pod = copy.deepcopy(SIGNAL)
    pod["spec"]["someday"] = {"a": [1]}
    pod["spec"]["containers"][0]["someday"] = 1.5
    pod["metadata"]["someday"] = None
    response = Webhook(gated_action="drop").mutate(pod)
    made = applied(pod, response)
    assert made["spec"]["someday"] == {"a": [1]}
    assert made["spec"]["containers"][0] == {"name": "c", "image": "i", "someday": 1.5}
    assert made["metadata"] == {**pod["metadata"], "generation": 1}


def test_fields_of_a_review_that_are_not_known_do_no_harm() -> None:
    sent = review(make.pod(), someday={"a": 1})
    sent["someday"] = [1]
    sent["request"]["userInfo"]["someday"] = 1
    assert WEBHOOK.ask("mutate", sent)["allowed"]


@pytest.mark.parametrize("phase, allowed", [("mutate", True), ("observed", False)])
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(review({**OLD, "status": "x"}, OBSERVED, "status"), id="no-pod"),
        pytest.param(review({**OLD, "spec": "x", "status": {"conditions": 1}}, OBSERVED, "status"), id="even-less"),
        pytest.param(review(OLD, {"status": {"conditions": 1}}, "status"), id="nothing-that-was-stored"),
        pytest.param(review(OLD, None, "status", operation="UPDATE"), id="an-update-of-nothing"),
        pytest.param(review(None, OLD, "status"), id="an-update-to-nothing"),
    ],
)
def test_what_cannot_be_read_is_left_alone_or_refused(phase: str, allowed: bool, sent: Pod) -> None:
    response = WEBHOOK.ask(phase, sent)
    assert response["allowed"] is allowed
    if allowed:
        assert patch(response) == []
    else:
        assert response["status"]["code"] == 400


# ---- properties ------------------------------------------------------------------------------------

EVERYTHING = Webhook(gated_action="drop", backport="on", server_version="1.34")
ALLOWED_PLACES = (
    "/metadata/generation",
    "/metadata/annotations",
    "/status/observedGeneration",
    "/status/conditions/",
    "/status",
    "/spec/",
)


@settings(max_examples=150, deadline=None)
@given(strategies.pods, st.sampled_from([{}, {"hostnameOverride": "h"}, {"hostUsers": False}]))
def test_doing_it_twice_is_doing_it_once(pod: Pod, more: Pod) -> None:
    pod = {**pod, "spec": {**pod["spec"], **more}}
    once = applied(pod, EVERYTHING.mutate(pod))
    response = EVERYTHING.mutate(once)
    assert patch(response) == []
    assert all(each["path"].startswith(ALLOWED_PLACES) for each in patch(EVERYTHING.mutate(pod)))


@settings(max_examples=100, deadline=None)
@given(strategies.pods, strategies.pods)
def test_updating_twice_is_updating_once(pod: Pod, old: Pod) -> None:
    old = {**old, "metadata": {**old["metadata"], "generation": 3}}
    once = applied(pod, EVERYTHING.mutate(pod, old))
    assert patch(EVERYTHING.mutate(once, old)) == []
    assert once["metadata"].get("generation") in (3, 4)


@settings(max_examples=150, deadline=None)
@given(strategies.pods)
def test_a_valid_pod_stays_valid_and_comes_out_the_same(pod: Pod) -> None:
    pod = {**pod, "metadata": {**pod["metadata"], "namespace": "default"}}
    engine = EVERYTHING.chain.engine
    changed = applied(pod, Webhook(gated_action="drop", server_version="1.34").mutate(pod))
    before, after = engine.create(pod), engine.create(changed)
    assert before.ok == after.ok
    if before.ok:
        assert before.pod == after.pod


# ---- preflight of workloads --------------------------------------------------------------------------


def workload(kind: str, group: str, resource: str, obj: Pod, old: Pod | None = None) -> Pod:
    made = {"group": group, "version": "v1", "kind": kind}, {"group": group, "version": "v1", "resource": resource}
    return review(obj, old, kind=made[0], resource=made[1])


def test_preflight_judges_the_template_of_a_workload() -> None:
    """Its author sees it there; what becomes of the pods is seen by a controller only."""
    spec = {"containers": [{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}], "os": {"name": "linux"}}
    good = {"metadata": {"name": "d"}, "spec": {"template": {"metadata": {}, "spec": spec}}}
    bad = {"metadata": {"name": "d"}, "spec": {"template": {"metadata": {}, "spec": {**spec, "dnsPolicy": "No"}}}}
    webhook = Webhook(preflight="on", preflight_version="1.36", preflight_gates={"ContainerStopSignals": False})
    path = "spec.template.spec.containers[0].lifecycle.stopSignal"
    dropped = f"Kubernetes 1.36 would drop {path}: the feature gate ContainerStopSignals is off"
    assert webhook.ask("preflight", workload("Deployment", "apps", "deployments", good))["warnings"] == [dropped]
    (warning,) = webhook.ask("preflight", workload("Deployment", "apps", "deployments", bad, good))["warnings"]
    assert warning.startswith('Kubernetes 1.36 would refuse this template: spec.template.spec.dnsPolicy: Unsupported value: "No"')
    cron = {
        "metadata": {"name": "d"},
        "spec": {"jobTemplate": {"spec": {"template": {"spec": {**spec, "restartPolicy": "Always"}}}}},
    }
    (warning, *_) = webhook.ask("preflight", workload("CronJob", "batch", "cronjobs", cron))["warnings"]
    assert "spec.jobTemplate.spec.template.spec.restartPolicy" in warning
    denying = Webhook(preflight="on", preflight_version="1.36", preflight_action="deny")
    assert not denying.ask("preflight", workload("Deployment", "apps", "deployments", bad))["allowed"]
    # Only there, and only what has a template.
    assert webhook.ask("validate", workload("Deployment", "apps", "deployments", bad)) == {"uid": UID, "allowed": True}
    assert "warnings" not in webhook.ask("preflight", workload("Deployment", "example.com", "deployments", bad))
    assert "warnings" not in webhook.ask("preflight", workload("Deployment", "apps", "deployments", {"metadata": {"name": "d"}}))


def test_a_probe_is_told_which_release_is_worked_for() -> None:
    probe = with_meta(make.pod(), annotations={"podstrat.dev/probe": "create"})
    for phase in ("mutate", "validate", "observed", "policy", "preflight"):
        told = Webhook(server_version="1.36").ask(phase, review(probe, dryRun=True))
        assert told["warnings"] == [f"podstrat.dev/probe {phase}: release 1.36"]
    assert "warnings" not in Webhook(server_version="1.36").validate(probe, dryRun=False)
