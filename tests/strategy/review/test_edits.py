"""What can be done to a pod from outside the server, and said about it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings

from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import BadRequest
from podstrat.strategy.gates import history
from podstrat.strategy.review import edits, health, policy, reviewed
from podstrat.strategy.review.edits import ABSENT, Edit
from podstrat.strategy.review.policy import PolicyEngine, PolicyError
from podstrat.strategy.review.reviewed import Reviewed
from tests.strategy import make, strategies

ENGINE = Engine("1.37")
Pod = dict[str, Any]


def stored(**spec: Any) -> Pod:
    """A pod as the server stores it, with its generation."""
    made = ENGINE.create(make.pod(**spec)).pod
    assert made is not None
    return made


def changed(pod: Pod, **container: Any) -> Pod:
    new = copy.deepcopy(pod)
    new["spec"]["containers"][0] |= container
    return new


def with_meta(pod: Pod, **fields: Any) -> Pod:
    return {**pod, "metadata": {**pod["metadata"], **fields}}


def with_status(pod: Pod, **fields: Any) -> Pod:
    return {**pod, "status": {**pod.get("status", {}), **fields}}


# ---- generation ------------------------------------------------------------------------------------

OLD = with_meta(stored(), generation=4)


@pytest.mark.parametrize(
    "new, old, part, values",
    [
        pytest.param(make.pod(), None, "", [1], id="a-new-pod"),
        pytest.param(with_meta(make.pod(), generation=9), None, "", [1], id="a-new-pod-with-a-number-of-its-own"),
        pytest.param(with_meta(make.pod(), generation=1), None, "", [], id="a-new-pod-that-has-it-already"),
        pytest.param(changed(OLD, image="busybox:2"), OLD, "", [5], id="another-image"),
        pytest.param(OLD, OLD, "", [], id="the-same"),
        pytest.param(with_meta(OLD, labels={"a": "b"}), OLD, "", [], id="another-label"),
        pytest.param(with_meta(OLD, generation=77), OLD, "", [4], id="the-client-does-not-count"),
        pytest.param(changed(OLD, image="busybox:2"), OLD, "status", [], id="a-status-write-does-not-count"),
        pytest.param(changed(OLD, resources={"limits": {"cpu": "1"}}), OLD, "resize", [5], id="a-resize"),
        pytest.param(changed(OLD, imagePullPolicy=None), OLD, "", [], id="the-default-left-out"),
        pytest.param(with_meta(make.pod(), generation=3), with_meta(OLD, generation=0), "", [ABSENT], id="nothing-to-count-from"),
    ],
)
def test_generation(new: Pod, old: Pod | None, part: str, values: list[Any]) -> None:
    found = list(edits.generation(Reviewed(ENGINE, new, old, part)))
    assert found == [Edit(("metadata", "generation"), value) for value in values]


def test_another_spelling_of_a_quantity_is_no_change() -> None:
    old = stored(containers=[{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1000m"}}}])
    new = changed(old, resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}})
    assert not edits.spec_changed(Reviewed(ENGINE, new, old))


@pytest.mark.parametrize(
    "a, b, differ",
    [
        pytest.param({"hostname": "a"}, {"hostname": "b"}, True, id="a-scalar"),
        pytest.param({"hostname": "a"}, {}, False, id="left-out"),
        pytest.param({"tolerations": [{}]}, {"tolerations": [{}, {}]}, True, id="a-longer-list"),
        pytest.param({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "2"}}, True, id="a-value-of-a-map"),
        pytest.param({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "1"}}, False, id="keys-of-a-map-may-be-defaults"),
        pytest.param({"overhead": {"cpu": "1"}}, {"overhead": {"cpu": "1000m"}}, False, id="quantities-by-value"),
        pytest.param({"overhead": {"cpu": "1"}}, {"overhead": {"cpu": "nonsense"}}, False, id="no-quantity"),
        pytest.param({"hostname": "a"}, {"hostname": {}}, False, id="other-shapes-are-not-for-us-to-judge"),
        pytest.param({"someday": 1}, {"someday": 2}, False, id="unknown-fields"),
    ],
)
def test_what_surely_differs(a: Pod, b: Pod, differ: bool) -> None:
    assert edits.surely_differ(a, b, "PodSpec", ENGINE.context.types) is differ


@settings(max_examples=150)
@given(strategies.pods, strategies.pods)
def test_what_surely_differs_is_a_change_for_the_server(one: Pod, other: Pod) -> None:
    changes = edits.surely_differ(one["spec"], other["spec"], "PodSpec", ENGINE.context.types)
    if changes and (one["spec"].get("terminationGracePeriodSeconds") or 0) >= 0:
        pods = [ENGINE.stored({**each, "metadata": {"name": "p"}}) for each in (one, other)]
        assert pods[0]["spec"] != pods[1]["spec"]


COUNT = "podstrat.dev/generation"
SIX = with_meta(OLD, annotations={COUNT: "6"})


@pytest.mark.parametrize(
    "new, old, values",
    [
        pytest.param(make.pod(), None, ["1"], id="a-new-pod"),
        pytest.param(changed(SIX, image="x"), SIX, ["7"], id="up"),
        pytest.param(OLD, SIX, ["6"], id="taken-away"),
        pytest.param(SIX, SIX, [], id="as-it-is"),
        pytest.param(changed(OLD, image="x"), with_meta(OLD, annotations={COUNT: "six"}), ["5"], id="no-number"),
        pytest.param(changed(make.pod(), image="x"), make.pod(), ["1"], id="a-pod-that-was-there-before"),
        pytest.param(make.pod(), make.pod(), [], id="a-pod-that-was-there-before-and-stays"),
        pytest.param(with_meta(make.pod(), annotations={COUNT: "8"}), make.pod(), [ABSENT], id="made-up"),
    ],
)
def test_the_count_in_an_annotation(new: Pod, old: Pod | None, values: list[Any]) -> None:
    found = list(edits.counted(Reviewed(ENGINE, new, old), COUNT))
    basis = [edit.value for edit in found if edit.place[-1] == COUNT + edits.BASIS]
    assert basis == ([edits.basis(new)] if values not in ([], [ABSENT]) or new is SIX else [])
    assert [edit for edit in found if edit.place[-1] == COUNT] == [
        Edit(("metadata", "annotations", COUNT), value) for value in values
    ]


# ---- status ----------------------------------------------------------------------------------------


def conditions(*pairs: tuple[str, int | None]) -> list[Pod]:
    return [{"type": kind, "status": "True"} | ({} if seen is None else {"observedGeneration": seen}) for kind, seen in pairs]


OBSERVED = with_status(OLD, observedGeneration=3, conditions=conditions(("Ready", 2), ("x.y/a", None), ("Ready", 3)))


@pytest.mark.parametrize(
    "status, values",
    [
        pytest.param({}, {("status",): 3}, id="cleared"),
        pytest.param({"observedGeneration": 0}, {("status",): 3}, id="zero"),
        pytest.param({"observedGeneration": 4}, {}, id="newer"),
        pytest.param({"observedGeneration": 1}, {}, id="older-is-the-writers-word"),
        pytest.param(
            {"observedGeneration": 3, "conditions": conditions(("Ready", None), ("Ready", None), ("Ready", None))},
            {("status", "conditions", 0): 2, ("status", "conditions", 1): 3},
            id="conditions-by-type-and-order",
        ),
        pytest.param(
            {"observedGeneration": 3, "conditions": conditions(("x.y/a", None), ("New", None))}, {}, id="nothing-stored"
        ),
    ],
)
def test_observed_generation(status: Pod, values: dict[Any, int]) -> None:
    new = {**OBSERVED, "status": status}
    found = list(edits.observed(Reviewed(ENGINE, new, OBSERVED, "status")))
    assert found == [Edit((*place, "observedGeneration"), value) for place, value in values.items()]
    # The very thing that the engine does.
    judged = ENGINE.update_status(new, OBSERVED).pod
    edited = edits.edited(Reviewed(ENGINE, new, OBSERVED, "status"), found).pod
    assert judged is not None
    assert judged["status"].get("observedGeneration") == edited["status"].get("observedGeneration")
    assert [c.get("observedGeneration") for c in judged["status"].get("conditions") or ()] == [
        c.get("observedGeneration") for c in edited["status"].get("conditions") or ()
    ]


def test_only_status_writes_are_looked_at() -> None:
    assert list(edits.observed(Reviewed(ENGINE, with_status(OLD), OBSERVED, ""))) == []


def gpu(*devices: tuple[str, str], name: str = "nvidia.com/gpu") -> list[Pod]:
    return [{"name": name, "resources": [{"resourceID": device, "health": health} for device, health in devices]}]


REQUESTS = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
ON_NODE = {**stored(nodeName="n1", containers=[{"name": "c", "image": "i", "resources": REQUESTS}])}


def reporting(report: list[Pod] | None, container: str = "c", key: str = "containerStatuses") -> Pod:
    status = {"name": container, "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    if report is not None:
        status["allocatedResourcesStatus"] = report
    return with_status(ON_NODE, **{key: [status]})


AT = "status.containerStatuses[0].allocatedResourcesStatus"


@pytest.mark.parametrize(
    "report, errors",
    [
        pytest.param(gpu(("g0", "Healthy")), [], id="healthy"),
        pytest.param(
            gpu(("g0", "Fine")),
            [f'{AT}[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown"'],
            id="no-such-health",
        ),
        pytest.param(
            gpu(("g0", "Healthy"), name="other"),
            [f'{AT}[0].name: Invalid value: "other": must match one of the container\'s resource requests'],
            id="not-requested",
        ),
        pytest.param(
            [*gpu(("g0", "Healthy")), *gpu(("g1", "Healthy"))], [f'{AT}[1].name: Duplicate value: "nvidia.com/gpu"'], id="twice"
        ),
    ],
)
def test_health(report: list[Pod], errors: list[str]) -> None:
    engine = Engine("1.37", switches=["UniqueResourceHealthNames"])
    pod = reporting(report)
    assert list(map(str, health.errors(Reviewed(engine, pod, ON_NODE, "status")))) == errors
    assert list(map(str, engine.update_status(pod, ON_NODE).errors)) == errors


STRICT = frozenset(("known-containers", "named-devices", "seen-generation"))


@pytest.mark.parametrize(
    "pod, rules, errors",
    [
        pytest.param(reporting(gpu(("g0", "Healthy"))), STRICT, [], id="nothing-wrong"),
        pytest.param(
            reporting(gpu(("g0", "Healthy")), "d"),
            STRICT,
            ['status.containerStatuses[0].name: Not found: "d"'],
            id="unknown-container",
        ),
        pytest.param(reporting(gpu(("g0", "Healthy")), "d"), STRICT - {"known-containers"}, [], id="not-asked-for"),
        pytest.param(reporting(None, "d"), STRICT, [], id="unknown-container-without-health"),
        pytest.param(reporting(gpu(("", "Healthy"))), STRICT, [f"{AT}[0].resources[0].resourceID: Required value"], id="no-id"),
        pytest.param(
            with_status(OLD, observedGeneration=5, conditions=conditions(("Ready", 6), ("PodScheduled", 4))),
            STRICT,
            [
                "status.observedGeneration: Invalid value: 5: must not be greater than metadata.generation (4)",
                "status.conditions[0].observedGeneration: Invalid value: 6: must not be greater than metadata.generation (4)",
            ],
            id="from-the-future",
        ),
        pytest.param(with_status(make.pod(), observedGeneration=5), STRICT, [], id="nothing-to-compare-with"),
        pytest.param(
            with_meta(with_status(OLD, observedGeneration=5), annotations={"kubernetes.io/config.mirror": "x"}),
            STRICT,
            [],
            id="mirror",
        ),
    ],
)
def test_stricter_rules(pod: Pod, rules: frozenset[str], errors: list[str]) -> None:
    found = health.stricter_errors(Reviewed(ENGINE, pod, pod, "status"), rules)
    assert list(map(str, found)) == errors


@pytest.mark.parametrize(
    "new, old, paths",
    [
        pytest.param(reporting(gpu(("g0", "Healthy"))), reporting(gpu(("g0", "Healthy"))), [], id="the-same"),
        pytest.param(reporting(None), reporting([]), [], id="none-and-none"),
        pytest.param(reporting(gpu(("g0", "Healthy"))), ON_NODE, [AT], id="new"),
        pytest.param(reporting(gpu(("g0", "Unhealthy"))), reporting(gpu(("g0", "Healthy"))), [AT], id="another"),
        pytest.param(reporting(None), reporting(gpu(("g0", "Healthy"))), [AT], id="cleared"),
        pytest.param(
            ON_NODE,
            reporting(gpu(("g0", "Healthy"))),
            ["status.containerStatuses[c].allocatedResourcesStatus"],
            id="gone-with-its-status",
        ),
        pytest.param(
            reporting(gpu(("g0", "Healthy")), key="initContainerStatuses"),
            reporting(gpu(("g0", "Healthy"))),
            ["status.containerStatuses[c].allocatedResourcesStatus", "status.initContainerStatuses[0].allocatedResourcesStatus"],
            id="moved-to-another-list",
        ),
    ],
)
def test_health_that_is_written(new: Pod, old: Pod, paths: list[str]) -> None:
    assert list(health.changes(Reviewed(ENGINE, new, old, "status"))) == paths


@pytest.mark.parametrize(
    "old, node, error",
    [
        pytest.param(ON_NODE, "n1", None, id="its-own-node"),
        pytest.param(
            ON_NODE, "n2", "only node 'n1' reports the health of this pod's devices, and 'me' is node 'n2'", id="another-node"
        ),
        pytest.param(
            ON_NODE, None, "only node 'n1' reports the health of this pod's devices, and 'me' is not a node's", id="no-node"
        ),
        pytest.param(OLD, "n1", "the pod is on no node yet, and 'me' is node 'n1'", id="not-scheduled"),
    ],
)
def test_whose_health_it_is(old: Pod, node: str | None, error: str | None) -> None:
    # What the request says about the node does not count.
    found = list(map(str, health.foreign(Reviewed(ENGINE, reporting(gpu(("g0", "Healthy"))), old, "status"), "me", node)))
    assert found == ([] if error is None else [f"{AT}: Forbidden: {error}"])


def test_a_write_that_leaves_health_alone_is_anybodys() -> None:
    pod = reporting(gpu(("g0", "Healthy")))
    assert list(health.foreign(Reviewed(ENGINE, with_status(pod, reason="x"), pod, "status"), "me", None)) == []


# ---- gates -----------------------------------------------------------------------------------------

GATED = make.pod(
    hostnameOverride="h",
    volumes=[
        {"name": "a", "emptyDir": {}},
        {"name": "i", "image": {"reference": "r"}},
        {"name": "p", "projected": {"sources": [{"podCertificate": {"signerName": "a/b", "keyType": "ED25519"}}]}},
        {"name": "j", "image": {"reference": "r"}},
    ],
    containers=[
        {
            "name": "c",
            "image": "i",
            "lifecycle": {"stopSignal": "SIGTERM"},
            "securityContext": {"procMount": "Unmasked"},
            "volumeMounts": [
                {"name": "j", "mountPath": "/j"},
                {"name": "a", "mountPath": "/a"},
                {"name": "i", "mountPath": "/i"},
            ],
        },
        {"name": "d", "image": "i", "lifecycle": {"stopSignal": "SIGTERM", "preStop": {"sleep": {"seconds": 1}}}},
    ],
)
OFF = ("HostnameOverride", "ContainerStopSignals", "ImageVolume", "PodCertificateRequest", "ProcMountType")


def off(version: str) -> Engine:
    """With as many of these gates off as the release lets one switch off."""
    return Engine(version, {gate: False for gate, stage in history.known(version).items() if gate in OFF and not stage.locked})


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_gated_fields_are_dropped_as_the_server_drops_them(version: str) -> None:
    engine = off(version)
    reviewed = Reviewed(engine, GATED)
    found = edits.gated_fields(reviewed)
    assert found
    before = copy.deepcopy(GATED)
    edited = edits.edited(reviewed, (each.edit for each in found)).pod
    assert before == GATED, "what is reviewed is not changed"
    assert engine.stored(edited)["spec"] == _spec(engine, GATED)
    assert edits.gated_fields(Reviewed(engine, edited)) == []


def _spec(engine: Engine, pod: Pod) -> Any:
    made = engine.create(pod).pod
    assert made is not None
    # Of the server's preparations only dropping is meant here.
    return engine.stored({**pod, "spec": made["spec"]})["spec"]


def test_a_policy_switches_off_what_no_server_can() -> None:
    engine = PolicyEngine("1.37", {"ImageVolume": False, "ContainerStopSignals": True})
    found = edits.gated_fields(Reviewed(engine, GATED))
    assert {each.gate for each in found} >= {"ImageVolume"}
    assert "ContainerStopSignals" not in {each.gate for each in found}
    edited = edits.edited(Reviewed(engine, GATED), (each.edit for each in found)).pod
    assert [volume["name"] for volume in edited["spec"]["volumes"]] == ["a", "p"]
    assert [mount["name"] for mount in edited["spec"]["containers"][0]["volumeMounts"]] == ["a"]


def test_a_policy_about_nothing_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"feature gate PodDeletionCost does not guard a pod field in 1\.37"):
        PolicyEngine("1.37", {"PodDeletionCost": False})


def test_what_a_gate_takes_along() -> None:
    pod = make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}])
    (found,) = edits.gated_fields(Reviewed(Engine("1.37"), pod))
    assert found == (
        "ContainerStopSignals",
        "spec.containers[0].lifecycle.stopSignal",
        (("spec", "containers", 0, "lifecycle"), ABSENT),
    )


def test_what_is_in_use_stays() -> None:
    pod = make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}])
    assert edits.gated_fields(Reviewed(Engine("1.37"), pod, pod)) == []


@pytest.mark.parametrize(
    "part, paths",
    [
        pytest.param("", ["spec.containers[0].lifecycle.stopSignal"], id="the-pod"),
        pytest.param("status", ["status.volumeHealth"], id="its-status"),
    ],
)
def test_only_what_the_request_writes_is_looked_at(part: str, paths: list[str]) -> None:
    pod = with_status(
        make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}]), volumeHealth=[{"name": "v"}]
    )
    found = edits.gated_fields(Reviewed(Engine("1.37"), pod, make.pod(), part))
    assert [each.path for each in found] == paths


# ---- another release -------------------------------------------------------------------------------


def test_a_new_pod_is_judged() -> None:
    outcome = reviewed.judged(Reviewed(Engine("1.34"), make.pod(restartPolicy="Often")))
    assert outcome is not None
    assert outcome.code == 422


def test_an_update_is_judged_whatever_its_version() -> None:
    new = with_meta(changed(OLD, image="busybox:2"), resourceVersion="1")
    outcome = reviewed.judged(Reviewed(ENGINE, new, with_meta(OLD, resourceVersion="2")))
    assert outcome is not None
    assert outcome.ok


@pytest.mark.parametrize("part", ["status", "resize", "ephemeralcontainers"])
def test_a_part_is_judged_as_itself(part: str) -> None:
    outcome = reviewed.judged(Reviewed(ENGINE, changed(OLD, name="other"), OLD, part))
    assert outcome is not None
    assert outcome.ok is (part != "resize")


def test_other_parts_are_not_judged() -> None:
    assert reviewed.judged(Reviewed(ENGINE, make.pod(), None, "binding")) is None
    assert reviewed.judged(Reviewed(ENGINE, make.pod(), make.pod(), "proxy")) is None


# ---- what is no pod --------------------------------------------------------------------------------


def test_what_is_no_pod_is_refused() -> None:
    with pytest.raises(BadRequest, match="cannot unmarshal string into Go struct field"):
        Reviewed(ENGINE, {"spec": "x"}).read()


def test_mirror_pods_are_known() -> None:
    assert reviewed.is_mirror(Reviewed(ENGINE, with_meta(make.pod(), annotations={"kubernetes.io/config.mirror": "x"})))
    assert not reviewed.is_mirror(Reviewed(ENGINE, make.pod()))


def test_places_as_text() -> None:
    assert edits.path(("status", "conditions", 3, "type")) == "status.conditions[3].type"


# ---- scanning --------------------------------------------------------------------------------------

EVERY_GATE_OFF = {release: PolicyEngine(release, dict.fromkeys(policy.guarding(release), False)) for release in history.RELEASES}


@pytest.mark.parametrize("release", history.RELEASES)
@settings(max_examples=60, deadline=None)
@given(pod=strategies.pods)
def test_a_scan_sees_what_reading_sees(release: str, pod: Pod) -> None:
    engine = EVERY_GATE_OFF[release]
    whole = {**pod, "spec": {**GATED["spec"], **pod["spec"]}, "status": {"observedGeneration": 1, "conditions": []}}
    assert engine.seen(whole, "spec") | engine.seen(whole, "status") == engine.decoder.decode(whole, "Pod").seen
    assert engine.seen({"spec": [], "status": {"conditions": [1], "containerStatuses": {"x": 1}}}, "status") == set()
