"""Every pod goes to the one node, with the first devices that are free; what is left by pods that are gone is free again."""

from __future__ import annotations

import pytest

from podstrat.testing.server import Server
from podstrat.up import scene
from podstrat.up.client import CLAIMS, MERGE, PODS, SLICES, ApiClient
from podstrat.up.scheduler import Scheduler


@pytest.fixture(scope="module")
def server():
    with Server() as made:
        yield made


@pytest.fixture
def api(server):
    api = ApiClient(server.kubeconfig)
    api.create(SLICES, scene.machine()[2])
    yield api
    for path in (PODS, CLAIMS, SLICES):
        api.delete(path if path != PODS else f"{path}?gracePeriodSeconds=0")
    api.close()


@pytest.fixture
def scheduler(api):
    return Scheduler(api, scene.NODE)


def claimed(api, name, count):
    api.create(CLAIMS, scene.claim(name, count))
    return api.create(PODS, scene.pod(name, claims=(name,)))


def devices(api, claim):
    status = api.get(f"{CLAIMS}/{claim}").get("status") or {}
    return [each["device"] for each in ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()]


def node_of(api, name):
    return api.get(f"{PODS}/{name}")["spec"].get("nodeName")


def scheduled(api, name):
    return next(each for each in api.get(f"{PODS}/{name}")["status"]["conditions"] if each["type"] == "PodScheduled")


def test_first_come_first_served(api, scheduler):
    claimed(api, "zebra", 2)
    claimed(api, "ant", 3)
    api.create(PODS, scene.pod("plain"))
    scheduler.look()
    assert (devices(api, "zebra"), devices(api, "ant")) == (["gpu-0", "gpu-1"], ["gpu-2", "gpu-3", "gpu-4"])
    assert {node_of(api, name) for name in ("zebra", "ant", "plain")} == {scene.NODE}
    holders = api.get(f"{CLAIMS}/zebra")["status"]["reservedFor"]
    assert [(each["resource"], each["name"]) for each in holders] == [("pods", "zebra")]


def test_a_claim_that_two_pods_share(api, scheduler):
    claimed(api, "one", 2)
    api.create(PODS, scene.pod("two", claims=("one",)))
    scheduler.look()
    assert devices(api, "one") == ["gpu-0", "gpu-1"]
    assert [each["name"] for each in api.get(f"{CLAIMS}/one")["status"]["reservedFor"]] == ["one", "two"]


def test_what_a_pod_leaves_is_free_again(api, scheduler):
    claimed(api, "first", 8)
    scheduler.look()
    claimed(api, "second", 1)
    scheduler.look()
    assert node_of(api, "second") is None
    assert scheduled(api, "second")["message"] == "1 devices requested, 0 free"
    api.delete(f"{PODS}/first?gracePeriodSeconds=0")
    scheduler.look()
    assert (devices(api, "first"), devices(api, "second")) == ([], ["gpu-0"])
    assert (node_of(api, "second"), scheduled(api, "second")["status"]) == (scene.NODE, "True")


def test_a_complaint_is_written_once(api, scheduler):
    api.create(PODS, scene.pod("lost", claims=("nowhere",)))
    scheduler.look()
    assert scheduled(api, "lost")["message"] == 'resourceclaim "nowhere" not found'
    before = api.get(f"{PODS}/lost")["metadata"]["resourceVersion"]
    scheduler.look()
    assert api.get(f"{PODS}/lost")["metadata"]["resourceVersion"] == before


def test_a_template_is_not_for_us(api, scheduler):
    made = scene.pod("templated")
    made["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "t"}]
    api.create(PODS, made)
    scheduler.look()
    assert "not claim templates" in scheduled(api, "templated")["message"]


def test_a_gate_holds_a_pod_back(api, scheduler):
    api.create(PODS, scene.pod("held", spec={"schedulingGates": [{"name": "example.com/wait"}]}))
    scheduler.look()
    assert node_of(api, "held") is None
    api.patch(f"{PODS}/held", {"spec": {"schedulingGates": []}}, MERGE)
    scheduler.look()
    assert node_of(api, "held") == scene.NODE
