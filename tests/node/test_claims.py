"""Whose devices they are: pods, claims, and pods that have ended."""

from __future__ import annotations

import copy

import pytest

from node import status
from node.holdings import Held, Holding
from node.protocols.podresources import PodDevices
from node.reports import NOT_KNOWN, Device, Verdict
from podstrat import Engine
from strategy.rules.health import CLAIM
from tests.node.books import Books, shares, using
from tests.node.world import ENGINE, NODE, claim, gpu, pod, running

GPU = [f"gpu.example.com/{NODE}/gpu-{number}" for number in range(8)]
RESOURCE = "example.com/gpu"


@pytest.mark.scenario(54)
def test_a_shared_claim_is_both_pods_business():
    books = Books()
    first = pod("a", **using("shared"))
    second = pod("b", **using("shared"))
    books.see(first)
    books.see(second)
    books.give(claim("shared", ["gpu-0"], first, second))
    books.set(gpu(0), "Unhealthy")
    assert books.shown("uid-a") == books.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}


@pytest.mark.scenario(55)
def test_a_claim_may_be_used_whole_and_by_request():
    books = Books()
    made = pod(
        containers=[
            {"name": "all", "resources": {"claims": [{"name": "c"}]}},
            {"name": "one", "resources": {"claims": [{"name": "c", "request": "r"}]}},
            {"name": "none", "resources": {}},
        ],
        spec=shares("claim", "c"),
    )
    uid = books.see(made)
    books.give(claim("claim", [("r", "gpu-0"), ("s", "gpu-1")], made))
    assert books.shown(uid, "all") == {"claim:c": {GPU[0]: "Unknown", GPU[1]: "Unknown"}}
    assert books.shown(uid, "one") == {"claim:c/r": {GPU[0]: "Unknown"}}
    assert books.shown(uid, "none") == {}
    books.set(gpu(1), "Healthy")
    assert books.writes == [uid, uid]


@pytest.mark.scenario(56)
@pytest.mark.parametrize(
    "reference, result", [("r", "r/small"), ("r/small", "r/small"), ("r/small", "r"), ("r/small", "r/large")]
)
def test_a_sub_request_is_its_requests(reference, result):
    made = pod(
        containers=[{"name": "main", "resources": {"claims": [{"name": "c", "request": reference}]}}], spec=shares("claim", "c")
    )
    books = Books()
    books.claims.pod_seen(made, 0.0)
    books.claims.claim_seen(claim("claim", [(result, "gpu-0"), ("other", "gpu-1")], made), 0.0)
    assert books.claims.share("uid-train", 0.0).holdings == (Holding("main", f"{CLAIM}c/{reference}", (Held(gpu(0)),)),)


@pytest.mark.scenario(57)
def test_a_claim_that_is_still_to_be_made_is_waited_for():
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "template"}]}
    containers = [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]
    made = pod(containers=containers, spec=spec)
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu-x7k2p", ["gpu-0"], made), claim("template", ["gpu-1"], made))
    assert books.shown(uid) == {}
    assert books.writes == []
    named = pod(
        containers=containers,
        spec=spec,
        status={"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "train-gpu-x7k2p"}]},
    )
    books.see(named)
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}
    assert books.writes == [uid]


def test_a_template_that_needs_no_claim_has_none():
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "template"}]}
    made = pod(
        containers=[{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
        spec=spec,
        status={"resourceClaimStatuses": [{"name": "gpu"}]},
    )
    books = Books()
    uid = books.see(made)
    assert books.shown(uid) == {}


@pytest.mark.scenario(58)
def test_a_claim_that_was_made_anew_is_another_one():
    made = pod(claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Unhealthy")
    other = pod("other")
    books.give(claim("train-gpu", ["gpu-0"], other, uid="another"))
    assert books.shown(uid) == {}
    books.claims.claim_gone("default", "train-gpu", "uid-train-gpu", 0.0)  # the old one's end, late
    books.give(claim("train-gpu", ["gpu-1"], made, uid="another"))
    assert books.shown(uid) == {"claim:gpu": {GPU[1]: "Unknown"}}
    books.write(books.claims.claim_gone("default", "train-gpu", "another", 0.0))
    assert books.shown(uid) == {}


@pytest.mark.scenario(59)
def test_a_sidecars_device_is_shown_with_the_init_containers():
    sidecar = {"name": "side", "restartPolicy": "Always", "resources": {"claims": [{"name": "gpu"}]}}
    made = pod(containers=[{"name": "main"}], init=[sidecar], spec=shares("claim"))
    books = Books()
    uid = books.see(made)
    books.give(claim("claim", ["gpu-0"], made))
    books.set(gpu(0), "Unhealthy", "broken")
    assert books.shown(uid, "side", "initContainerStatuses") == {"claim:gpu": {GPU[0]: ("Unhealthy", "broken")}}


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
    books = Books()
    uid = books.see(made)
    books.give(claim("claim", ["gpu-0"], made))
    later = copy.deepcopy(books.pods[uid])
    later["status"]["initContainerStatuses"][0]["state"] = state
    books.see(later)
    assert books.shown(uid, "init", "initContainerStatuses") == ({"claim:gpu": {GPU[0]: "Unknown"}} if shows else {})


@pytest.mark.scenario(60)
def test_an_ephemeral_container_never_has_an_entry():
    debug = {"name": "debug", "image": "debug:1", "targetContainerName": "main"}
    made = pod(claims=["gpu"], status={"ephemeralContainerStatuses": [running("debug")]}, spec={"ephemeralContainers": [debug]})
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "train-gpu"}]
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    assert "allocatedResourcesStatus" not in books.pods[uid]["status"]["ephemeralContainerStatuses"][0]
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}


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
    books = Books(engine=Engine(version, gates={"DRAExtendedResource": True}), extended=version == "1.37")
    uid = books.see(made)
    books.give(claim("ext", [("container-0-request-0", "gpu-0")], made))
    books.set(gpu(0), "Healthy")
    assert books.shown(uid) == entries


@pytest.mark.scenario(64)
def test_a_bad_device_is_shown_while_the_container_waits_to_be_started_again():
    made = pod(claims=["gpu"])
    made["status"]["containerStatuses"][0] |= {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "restartCount": 7,
        "ready": False,
    }
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Unhealthy", "XID 79")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}


def test_a_patch_fails_if_the_container_is_another_one():
    made = pod(claims=["gpu"])
    patch = status.patch(made, [Holding("main", "claim:gpu", (Held(gpu(0)),))], {gpu(0): NOT_KNOWN}, status.Settings())
    assert patch == [
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
    assert ENGINE.patch(patch, restarted, type="json", subresource="status").pod is None


@pytest.mark.scenario(66)
def test_a_pod_of_the_same_name_is_another_pod():
    made, again = pod(claims=["gpu"]), pod(uid="uid-2", claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    share = books.claims.share(uid, 0.0)
    books.health[gpu(0)] = Verdict("Unhealthy")
    late = status.patch(made, share.holdings, {gpu(0): Verdict("Unhealthy")}, status.Settings())
    assert ENGINE.patch(late, made, type="json", subresource="status").pod is not None
    assert ENGINE.patch(late, again, type="json", subresource="status").pod is None
    books.see(again)
    assert books.claims.share(uid, 0.0) is None
    assert books.claims.pods_using([gpu(0)], 0.0) == set()
    assert books.shown("uid-2") == {}
    books.give(claim("train-gpu", ["gpu-0"], again))
    assert books.shown("uid-2") == {"claim:gpu": {GPU[0]: "Unhealthy"}}


@pytest.mark.scenario(67)
def test_a_static_pods_health_is_written_to_its_mirror_and_no_generation():
    resources = {"requests": {RESOURCE: "1"}, "limits": {RESOURCE: "1"}}
    mirror = pod(
        containers=[{"name": "main", "resources": resources}],
        metadata={"annotations": {"kubernetes.io/config.mirror": "abc", "kubernetes.io/config.hash": "abc"}},
        status={"observedGeneration": 0},
    )
    books = Books()
    listing = [PodDevices("default", "train", {"main": {RESOURCE: ("gpu-0",)}}, {})]
    assert books.claims.plugins_listed(listing, books.claims.uids(), 0.0) == set()  # the mirror is still to come
    uid = books.see(mirror)
    books.write(books.claims.plugins_listed(listing, books.claims.uids(), 0.0))
    books.set(Device(RESOURCE, "", "gpu-0"), "Unhealthy")
    assert books.shown(uid) == {RESOURCE: {"gpu-0": "Unhealthy"}}
    assert "observedGeneration" not in books.pods[uid]["status"]


@pytest.mark.scenario(68)
@pytest.mark.parametrize("node", ["", "node-2"])
def test_another_nodes_pods_are_not_touched(node):
    made = pod(claims=["gpu"], node=node)
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Unhealthy")
    assert books.writes == []
    assert books.claims.share(uid, 0.0) is None


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
    books = Books(settings=status.Settings(cdi=cdi))
    uid = books.see(made)
    given = claim("train-gpu", ["gpu-0", "gpu-1"], made)
    books.give(given)
    books.write(books.claims.claim_prepared(given, {gpu(0): "vendor.com/gpu=both", gpu(1): "vendor.com/gpu=both"}, 0.0))
    books.set(gpu(0), "Healthy")
    books.set(gpu(1), "Unhealthy")
    assert books.shown(uid) == {"claim:gpu": entries}


def test_a_device_that_is_shared_out_is_one_entry():
    made = pod(claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0", "gpu-0"], made))
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unknown"}}


# Device plugins beside a kubelet


def requesting(name, count="1", **more):
    resources = {"requests": {RESOURCE: count}, "limits": {RESOURCE: count}}
    return pod(name, containers=[{"name": "main", "resources": resources}], **more)


def listed(**pods):
    return [PodDevices("default", name, {"main": {RESOURCE: ids}}, {}) for name, ids in pods.items()]


def test_what_the_kubelet_lists_is_joined_by_name_only_if_the_pod_is_still_the_same():
    books = Books()
    books.see(requesting("a"))
    before = books.claims.uids()
    books.see(requesting("a", uid="uid-2"))
    assert books.claims.plugins_listed(listed(a=("gpu-0",)), before, 0.0) == set()
    assert books.claims.plugins_listed(listed(a=("gpu-0",)), books.claims.uids(), 0.0) == {"uid-2"}


def test_a_pod_that_is_not_listed_any_more_keeps_its_devices_until_another_has_them():
    books = Books()
    first, second = books.see(requesting("a", "2")), books.see(requesting("b"))
    books.write(books.claims.plugins_listed(listed(a=("gpu-0", "gpu-1")), books.claims.uids(), 0.0))
    books.write(books.claims.plugins_listed([], books.claims.uids(), 1.0))
    assert books.shown(first) == {RESOURCE: {"gpu-0": "Unknown", "gpu-1": "Unknown"}}
    books.write(books.claims.plugins_listed(listed(b=("gpu-1",)), books.claims.uids(), 2.0))
    assert books.shown(first) == {RESOURCE: {"gpu-0": "Unknown"}}
    assert books.shown(second) == {RESOURCE: {"gpu-1": "Unknown"}}


def test_a_resource_that_the_container_does_not_request_is_not_shown():
    books = Books()
    uid = books.see(pod())
    assert books.claims.plugins_given(uid, {"main": {RESOURCE: ["gpu-0"]}}, 0.0) == set()
    assert books.claims.plugins_given("stranger", {"main": {RESOURCE: ["gpu-0"]}}, 0.0) == set()


# The rest


def test_nothing_is_said_before_everything_is_listed():
    made = pod(claims=["gpu"])
    books = Books(listed=False)
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    assert books.claims.share(uid, 0.0) is None
    assert books.claims.listed("claims") == set()
    assert books.claims.listed("pods") == {uid}


def test_a_pod_that_is_gone_leaves_nothing_behind():
    made = pod(claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.phase(uid, "Failed")
    books.claims.pod_gone(uid, 0.0)
    books.claims.claim_gone("default", "train-gpu", "uid-train-gpu", 0.0)
    claims = books.claims
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
        books = Books(engine=engine, settings=status.Settings(pod_level=pod_level))
        uid = books.see(made)
        books.give(claim("claim", ["gpu-0"], made))
        books.set(gpu(0), "Unhealthy")
        entries = books.pods[uid]["status"].get("allocatedResourcesStatus")
        wanted = [{"name": "claim:gpu", "resources": [{"resourceID": GPU[0], "health": "Unhealthy"}]}]
        assert entries == (wanted if pod_level else None)


@pytest.mark.scenario(112)
def test_unchanged_state_is_not_written_again_in_whatever_order_things_come():
    spec = {"resourceClaims": [{"name": name, "resourceClaimName": f"claim-{name}"} for name in "abc"]}
    resources = {"claims": [{"name": name} for name in "cab"], "requests": {RESOURCE: "2"}, "limits": {RESOURCE: "2"}}
    made = pod(containers=[{"name": "main", "resources": resources}], spec=spec)
    books = Books()
    uid = books.see(made)
    claims = [claim(f"claim-{name}", [f"gpu-{number}", f"gpu-{number + 1}"], made) for number, name in enumerate("abc")]
    books.give(*claims)
    books.write(books.claims.plugins_given(uid, {"main": {RESOURCE: ["z", "a"]}}, 0.0))
    assert list(books.shown(uid)) == ["claim:a", "claim:b", "claim:c", RESOURCE]
    assert list(books.shown(uid)[RESOURCE]) == ["a", "z"]
    writes = len(books.writes)
    for round_ in range(3600):
        books.now += 1.0
        if round_ % 600 == 0:
            for each in reversed(claims):
                each["status"]["allocation"]["devices"]["results"].reverse()
                books.give(each)
            books.write(books.claims.plugins_given(uid, {"main": {RESOURCE: ["a", "z"]}}, 0.0))
            books.see(books.pods[uid])
        books.write([uid])
    assert len(books.writes) == writes
