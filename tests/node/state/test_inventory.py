"""Whose devices they are: pods, claims, and pods that have ended."""

from __future__ import annotations

import copy

import pytest

from podstrat import Engine
from podstrat.node.model import NOT_KNOWN, Device, DeviceHealth, PodDevices
from podstrat.node.state.devices import HeldDevice, Holding
from podstrat.node.status import patch
from podstrat.strategy.rules.health import CLAIM
from tests.node.fixtures import ENGINE, NODE, claim, gpu, pod, running
from tests.node.state_harness import StateHarness, shares, using

GPU = [f"gpu.example.com/{NODE}/gpu-{number}" for number in range(8)]
RESOURCE = "example.com/gpu"


@pytest.mark.scenario(54)
def test_a_shared_claim_is_both_pods_business():
    harness = StateHarness()
    first = pod("a", **using("shared"))
    second = pod("b", **using("shared"))
    harness.see(first)
    harness.see(second)
    harness.give(claim("shared", ["gpu-0"], first, second))
    harness.set(gpu(0), "Unhealthy")
    assert harness.shown("uid-a") == harness.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}


@pytest.mark.scenario(55)
def test_a_claim_may_be_used_whole_and_by_request():
    harness = StateHarness()
    made = pod(
        containers=[
            {"name": "all", "resources": {"claims": [{"name": "c"}]}},
            {"name": "one", "resources": {"claims": [{"name": "c", "request": "r"}]}},
            {"name": "none", "resources": {}},
        ],
        spec=shares("claim", "c"),
    )
    uid = harness.see(made)
    harness.give(claim("claim", [("r", "gpu-0"), ("s", "gpu-1")], made))
    assert harness.shown(uid, "all") == {"claim:c": {GPU[0]: "Unknown", GPU[1]: "Unknown"}}
    assert harness.shown(uid, "one") == {"claim:c/r": {GPU[0]: "Unknown"}}
    assert harness.shown(uid, "none") == {}
    harness.set(gpu(1), "Healthy")
    assert harness.writes == [uid, uid]


@pytest.mark.scenario(56)
@pytest.mark.parametrize(
    "reference, result", [("r", "r/small"), ("r/small", "r/small"), ("r/small", "r"), ("r/small", "r/large")]
)
def test_a_sub_request_is_its_requests(reference, result):
    made = pod(
        containers=[{"name": "main", "resources": {"claims": [{"name": "c", "request": reference}]}}], spec=shares("claim", "c")
    )
    harness = StateHarness()
    harness.claims.pod_seen(made, 0.0)
    harness.claims.claim_seen(claim("claim", [(result, "gpu-0"), ("other", "gpu-1")], made), 0.0)
    assert harness.claims.share("uid-train", 0.0).holdings == (Holding("main", f"{CLAIM}c/{reference}", (HeldDevice(gpu(0)),)),)


@pytest.mark.scenario(57)
def test_a_claim_that_is_still_to_be_made_is_waited_for():
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "template"}]}
    containers = [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]
    made = pod(containers=containers, spec=spec)
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu-x7k2p", ["gpu-0"], made), claim("template", ["gpu-1"], made))
    assert harness.shown(uid) == {}
    assert harness.writes == []
    named = pod(
        containers=containers,
        spec=spec,
        status={"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "train-gpu-x7k2p"}]},
    )
    harness.see(named)
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}
    assert harness.writes == [uid]


def test_a_template_that_needs_no_claim_has_none():
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "template"}]}
    made = pod(
        containers=[{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
        spec=spec,
        status={"resourceClaimStatuses": [{"name": "gpu"}]},
    )
    harness = StateHarness()
    uid = harness.see(made)
    assert harness.shown(uid) == {}


@pytest.mark.scenario(58)
def test_a_claim_that_was_made_anew_is_another_one():
    made = pod(claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Unhealthy")
    other = pod("other")
    harness.give(claim("train-gpu", ["gpu-0"], other, uid="another"))
    assert harness.shown(uid) == {}
    harness.claims.claim_gone("default", "train-gpu", "uid-train-gpu", 0.0)  # the old one's end, late
    harness.give(claim("train-gpu", ["gpu-1"], made, uid="another"))
    assert harness.shown(uid) == {"claim:gpu": {GPU[1]: "Unknown"}}
    harness.write(harness.claims.claim_gone("default", "train-gpu", "another", 0.0))
    assert harness.shown(uid) == {}


@pytest.mark.scenario(59)
def test_a_sidecars_device_is_shown_with_the_init_containers():
    sidecar = {"name": "side", "restartPolicy": "Always", "resources": {"claims": [{"name": "gpu"}]}}
    made = pod(containers=[{"name": "main"}], init=[sidecar], spec=shares("claim"))
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("claim", ["gpu-0"], made))
    harness.set(gpu(0), "Unhealthy", "broken")
    assert harness.shown(uid, "side", "initContainerStatuses") == {"claim:gpu": {GPU[0]: ("Unhealthy", "broken")}}


@pytest.mark.parametrize(
    "state, shows",
    [
        pytest.param({"running": {}}, True, id="running"),
        pytest.param({"waiting": {"reason": "CrashLoopBackOff"}}, True, id="crash-looping"),
        pytest.param({"terminated": {"exitCode": 1}}, True, id="failed"),
        pytest.param({"terminated": {"exitCode": 0}}, False, id="done"),
    ],
)
def test_an_init_container_shows_its_device_until_it_is_done(state, shows):
    made = pod(
        containers=[{"name": "main"}], init=[{"name": "init", "resources": {"claims": [{"name": "gpu"}]}}], spec=shares("claim")
    )
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("claim", ["gpu-0"], made))
    later = copy.deepcopy(harness.pods[uid])
    later["status"]["initContainerStatuses"][0]["state"] = state
    harness.see(later)
    assert harness.shown(uid, "init", "initContainerStatuses") == ({"claim:gpu": {GPU[0]: "Unknown"}} if shows else {})


@pytest.mark.scenario(60)
def test_an_ephemeral_container_never_has_an_entry():
    debug = {"name": "debug", "image": "debug:1", "targetContainerName": "main"}
    made = pod(claims=["gpu"], status={"ephemeralContainerStatuses": [running("debug")]}, spec={"ephemeralContainers": [debug]})
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "train-gpu"}]
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    assert "allocatedResourcesStatus" not in harness.pods[uid]["status"]["ephemeralContainerStatuses"][0]
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}


@pytest.mark.scenario(61)
@pytest.mark.parametrize(
    "version, entries",
    [
        pytest.param("1.37", {"claim:ext/container-0-request-0": {GPU[0]: "Healthy"}}, id="1.37"),
        pytest.param("1.36", {}, id="1.36"),
    ],
)
def test_an_extended_resource_served_by_dra_is_shown_where_the_server_takes_it(version, entries):
    mapping = {"containerName": "main", "resourceName": RESOURCE, "requestName": "container-0-request-0"}
    made = pod(
        containers=[{"name": "main", "resources": {"requests": {RESOURCE: "1"}, "limits": {RESOURCE: "1"}}}],
        status={"extendedResourceClaimStatus": {"resourceClaimName": "ext", "requestMappings": [mapping]}},
    )
    harness = StateHarness(engine=Engine(version, gates={"DRAExtendedResource": True}), extended=version == "1.37")
    uid = harness.see(made)
    harness.give(claim("ext", [("container-0-request-0", "gpu-0")], made))
    harness.set(gpu(0), "Healthy")
    assert harness.shown(uid) == entries


@pytest.mark.scenario(64)
def test_a_bad_device_is_shown_while_the_container_waits_to_be_started_again():
    made = pod(claims=["gpu"])
    made["status"]["containerStatuses"][0] |= {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "restartCount": 7,
        "ready": False,
    }
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Unhealthy", "XID 79")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}


def test_a_patch_fails_if_the_container_is_another_one():
    made = pod(claims=["gpu"])
    operations = patch.guarded(made, [Holding("main", "claim:gpu", (HeldDevice(gpu(0)),))], {gpu(0): NOT_KNOWN}, patch.Settings())
    assert operations == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-train"},
        {"op": "test", "path": "/status/containerStatuses/0/name", "value": "main"},
        {"op": "test", "path": "/status/containerStatuses/0/containerID", "value": "containerd://main"},
        {
            "op": "add",
            "path": "/status/containerStatuses/0/allocatedResourcesStatus",
            "value": [{"name": "claim:gpu", "resources": [{"resourceID": GPU[0], "health": "Unknown"}]}],
        },
    ]
    restarted = copy.deepcopy(made)
    restarted["status"]["containerStatuses"][0]["containerID"] = "containerd://other"
    assert ENGINE.patch(operations, restarted, type="json", subresource="status").pod is None


@pytest.mark.scenario(66)
def test_a_pod_of_the_same_name_is_another_pod():
    made, again = pod(claims=["gpu"]), pod(uid="uid-2", claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    share = harness.claims.share(uid, 0.0)
    harness.health[gpu(0)] = DeviceHealth("Unhealthy")
    late = patch.guarded(made, share.holdings, {gpu(0): DeviceHealth("Unhealthy")}, patch.Settings())
    assert ENGINE.patch(late, made, type="json", subresource="status").pod is not None
    assert ENGINE.patch(late, again, type="json", subresource="status").pod is None
    harness.see(again)
    assert harness.claims.share(uid, 0.0) is None
    assert harness.claims.pods_using([gpu(0)], 0.0) == set()
    assert harness.shown("uid-2") == {}
    harness.give(claim("train-gpu", ["gpu-0"], again))
    assert harness.shown("uid-2") == {"claim:gpu": {GPU[0]: "Unhealthy"}}


@pytest.mark.scenario(67)
def test_a_static_pods_health_is_written_to_its_mirror_and_no_generation():
    resources = {"requests": {RESOURCE: "1"}, "limits": {RESOURCE: "1"}}
    mirror = pod(
        containers=[{"name": "main", "resources": resources}],
        metadata={"annotations": {"kubernetes.io/config.mirror": "abc", "kubernetes.io/config.hash": "abc"}},
        status={"observedGeneration": 0},
    )
    harness = StateHarness()
    listing = [PodDevices("default", "train", {"main": {RESOURCE: ("gpu-0",)}}, {})]
    assert harness.claims.devices_listed(listing, harness.claims.uids(), 0.0) == set()  # the mirror is still to come
    uid = harness.see(mirror)
    harness.write(harness.claims.devices_listed(listing, harness.claims.uids(), 0.0))
    harness.set(Device(RESOURCE, "", "gpu-0"), "Unhealthy")
    assert harness.shown(uid) == {RESOURCE: {"gpu-0": "Unhealthy"}}
    assert "observedGeneration" not in harness.pods[uid]["status"]


@pytest.mark.scenario(68)
@pytest.mark.parametrize("node", ["", "node-2"])
def test_another_nodes_pods_are_not_touched(node):
    made = pod(claims=["gpu"], node=node)
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Unhealthy")
    assert harness.writes == []
    assert harness.claims.share(uid, 0.0) is None


@pytest.mark.scenario(69)
@pytest.mark.parametrize(
    "cdi, entries",
    [
        pytest.param(False, {GPU[0]: "Healthy", GPU[1]: "Unhealthy"}, id="our-form"),
        pytest.param(True, {"vendor.com/gpu=both": "Unhealthy"}, id="as-the-kubelet"),
    ],
)
def test_two_devices_with_one_cdi_id_do_not_hide_each_other(cdi, entries):
    made = pod(claims=["gpu"])
    harness = StateHarness(settings=patch.Settings(cdi=cdi))
    uid = harness.see(made)
    given = claim("train-gpu", ["gpu-0", "gpu-1"], made)
    harness.give(given)
    harness.write(harness.claims.claim_prepared(given, {gpu(0): "vendor.com/gpu=both", gpu(1): "vendor.com/gpu=both"}, 0.0))
    harness.set(gpu(0), "Healthy")
    harness.set(gpu(1), "Unhealthy")
    assert harness.shown(uid) == {"claim:gpu": entries}


def test_a_device_that_is_shared_out_is_one_entry():
    made = pod(claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0", "gpu-0"], made))
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}


# Device plugins beside a kubelet


def requesting(name, count="1", **more):
    resources = {"requests": {RESOURCE: count}, "limits": {RESOURCE: count}}
    return pod(name, containers=[{"name": "main", "resources": resources}], **more)


def listed(**pods):
    return [PodDevices("default", name, {"main": {RESOURCE: ids}}, {}) for name, ids in pods.items()]


def test_what_the_kubelet_lists_is_joined_by_name_only_if_the_pod_is_still_the_same():
    harness = StateHarness()
    harness.see(requesting("a"))
    before = harness.claims.uids()
    harness.see(requesting("a", uid="uid-2"))
    assert harness.claims.devices_listed(listed(a=("gpu-0",)), before, 0.0) == set()
    assert harness.claims.devices_listed(listed(a=("gpu-0",)), harness.claims.uids(), 0.0) == {"uid-2"}


def test_a_pod_that_is_not_listed_any_more_keeps_its_devices_until_another_has_them():
    harness = StateHarness()
    first, second = harness.see(requesting("a", "2")), harness.see(requesting("b"))
    harness.write(harness.claims.devices_listed(listed(a=("gpu-0", "gpu-1")), harness.claims.uids(), 0.0))
    harness.write(harness.claims.devices_listed([], harness.claims.uids(), 1.0))
    assert harness.shown(first) == {RESOURCE: {"gpu-0": "Unknown", "gpu-1": "Unknown"}}
    harness.write(harness.claims.devices_listed(listed(b=("gpu-1",)), harness.claims.uids(), 2.0))
    assert harness.shown(first) == {RESOURCE: {"gpu-0": "Unknown"}}
    assert harness.shown(second) == {RESOURCE: {"gpu-1": "Unknown"}}


def test_a_resource_that_the_container_does_not_request_is_not_shown():
    harness = StateHarness()
    uid = harness.see(pod())
    assert harness.claims.plugins_given(uid, {"main": {RESOURCE: ["gpu-0"]}}, 0.0) == set()
    assert harness.claims.plugins_given("stranger", {"main": {RESOURCE: ["gpu-0"]}}, 0.0) == set()


# The rest


def test_nothing_is_said_before_everything_is_listed():
    made = pod(claims=["gpu"])
    harness = StateHarness(listed=False)
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    assert harness.claims.share(uid, 0.0) is None
    assert harness.claims.listed("claims") == set()
    assert harness.claims.listed("pods") == {uid}


def test_a_pod_that_is_gone_leaves_nothing_behind():
    made = pod(claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.phase(uid, "Failed")
    harness.claims.pod_gone(uid, 0.0)
    harness.claims.claim_gone("default", "train-gpu", "uid-train-gpu", 0.0)
    claims = harness.claims
    assert not any(
        (
            claims._pods,
            claims._names,
            claims._claims,
            claims._users,
            claims._plugins,
            claims._holdings,
            claims._holders,
            claims._tombs,
        )
    )
    assert claims.pod_gone(uid, 0.0) == set()


def test_what_belongs_to_no_container_is_shown_only_with_the_switch():
    made = pod(containers=[{"name": "main"}], spec=shares("claim"))
    engine = Engine("1.37", switches=["PodLevelResourceHealth"])
    for pod_level in (False, True):
        harness = StateHarness(engine=engine, settings=patch.Settings(pod_level=pod_level))
        uid = harness.see(made)
        harness.give(claim("claim", ["gpu-0"], made))
        harness.set(gpu(0), "Unhealthy")
        entries = harness.pods[uid]["status"].get("allocatedResourcesStatus")
        wanted = [{"name": "claim:gpu", "resources": [{"resourceID": GPU[0], "health": "Unhealthy"}]}]
        assert entries == (wanted if pod_level else None)


@pytest.mark.scenario(112)
def test_unchanged_state_is_not_written_again_in_whatever_order_things_come():
    spec = {"resourceClaims": [{"name": name, "resourceClaimName": f"claim-{name}"} for name in "abc"]}
    resources = {"claims": [{"name": name} for name in "cab"], "requests": {RESOURCE: "2"}, "limits": {RESOURCE: "2"}}
    made = pod(containers=[{"name": "main", "resources": resources}], spec=spec)
    harness = StateHarness()
    uid = harness.see(made)
    claims = [claim(f"claim-{name}", [f"gpu-{number}", f"gpu-{number + 1}"], made) for number, name in enumerate("abc")]
    harness.give(*claims)
    harness.write(harness.claims.plugins_given(uid, {"main": {RESOURCE: ["z", "a"]}}, 0.0))
    assert list(harness.shown(uid)) == ["claim:a", "claim:b", "claim:c", RESOURCE]
    assert list(harness.shown(uid)[RESOURCE]) == ["a", "z"]
    writes = len(harness.writes)
    for round_ in range(3600):
        harness.now += 1.0
        if round_ % 600 == 0:
            for each in reversed(claims):
                each["status"]["allocation"]["devices"]["results"].reverse()
                harness.give(each)
            harness.write(harness.claims.plugins_given(uid, {"main": {RESOURCE: ["a", "z"]}}, 0.0))
            harness.see(harness.pods[uid])
        harness.write([uid])
    assert len(harness.writes) == writes
