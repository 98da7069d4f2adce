"""The live view in a real browser: what changes in the cluster changes on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.answer import MERGE_PATCH
from podstrat.kubeclient.sync import Client
from podstrat.live.board import Board
from podstrat.live.command import site
from podstrat.live.following import ClusterView, Follower
from podstrat.testing.server import Server
from podstrat.up import scene
from podstrat.up.scheduler import Scheduler
from podstrat.up.system import Settings, System
from podstrat.web.server import PageServer
from tests.browser.conftest import serious

pytest.importorskip("playwright", reason="playwright is not installed: make browser")

from playwright.sync_api import Page, expect

Visit = Callable[..., Page]

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Client, PageServer]]:
    """A server, and the live view of it."""
    board = Board()
    with Server() as server, Client(server.kubeconfig) as client, site(board) as page:
        follower = Follower(ClusterView(board), lambda: kubeconfig.load(server.kubeconfig))
        follower.start()
        yield client, page
        follower.stopping.set()


def pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.com/a:1", "resources": {"limits": {"example.com/gpu": "1"}}}
    spec = {"nodeName": "node-1", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def report(client: Client, name: str, health: str, message: str) -> None:
    """What a node would write of a device."""
    resources = [{"resourceID": "gpu-1", "health": health, "message": message}]
    status = {"name": "main", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
    status["allocatedResourcesStatus"] = [{"name": "example.com/gpu", "resources": resources}]
    written = {"phase": "Running", "observedGeneration": 1, "containerStatuses": [status]}
    client.call("PATCH", f"{PODS}/{name}/status", {"status": written}, MERGE_PATCH)


def test_generations_and_devices_move(cluster: tuple[Client, PageServer], visit: Visit) -> None:
    client, page = cluster
    shown = visit(page.url)
    client.call("POST", PODS, pod("training"))
    row = shown.locator('[data-pod="pod/default/training"]')
    expect(row.locator(".cell-generation")).to_have_text("1")
    expect(row.locator(".cell-observed")).to_have_text("–")
    report(client, "training", "Healthy", "fine")
    expect(row.locator(".cell-observed")).to_have_text("1")
    tile = shown.locator('[data-node="node-1"] [data-device="gpu-1"]')
    expect(tile).to_have_attribute("data-health", "Healthy")
    client.call("PATCH", f"{PODS}/training", {"spec": {"activeDeadlineSeconds": 600}}, MERGE_PATCH)
    expect(row.locator(".cell-generation")).to_have_text("2")
    expect(row.locator(".cell-observed.lags")).to_have_text("1")
    report(client, "training", "Unhealthy", "XID 79")
    expect(tile).to_have_attribute("data-health", "Unhealthy")
    expect(tile.locator(".spoken")).to_have_text("Unhealthy: XID 79")
    client.call("DELETE", f"{PODS}/training?gracePeriodSeconds=0")
    expect(row).to_have_count(0)


def test_hostile_texts_are_texts(cluster: tuple[Client, PageServer], visit: Visit) -> None:
    client, page = cluster
    shown = visit(page.url)
    hostile = "<img src=x onerror=alert(1)>\u202egnp"
    about = {"kind": "Pod", "name": hostile, "namespace": "default"}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "hostile"}, "involvedObject": about}
    client.call("POST", "/api/v1/namespaces/default/events", {**event, "reason": hostile, "type": "Warning", "message": hostile})
    expect(shown.locator("#timeline .event .badge")).to_contain_text(["<img src=x onerror=alert(1)>\\u202egnp"])
    assert shown.locator("main img").count() == 0
    assert "\u202e" not in shown.locator("body").inner_text()


@pytest.mark.long
def test_a_gpu_is_broken_by_its_driver_and_turns_red(visit: Visit) -> None:
    """The whole system: the driver says it, the node writes it, the watch brings it, the tile is red. Then axe looks at it."""
    with System(Settings(web=True)) as system, Scheduler(system.api(), scene.NODE):
        scene.apply(system.api(), system.credentials.webhook_bundle)
        page = visit(system.page, bypass_csp=True)
        tile = page.locator('[data-node="node-1"] [data-device="gpu-1"]')
        expect(tile).to_have_attribute("data-health", "Healthy")
        green = tile.evaluate("(each) => getComputedStyle(each).color")
        system.process("driver-sim").tell("health gpu-1 Unhealthy XID 79: the GPU has fallen off the bus")
        expect(tile).to_have_attribute("data-health", "Unhealthy")
        expect(tile).to_have_class("tile bad")
        red = tile.evaluate(
            "async (each) => { await Promise.all(each.getAnimations().map((one) => one.finished));"
            " return getComputedStyle(each).color }"
        )
        assert red != green
        expect(page.locator("#timeline .event", has_text="DeviceUnhealthy")).to_contain_text("XID 79")
        expect(page.locator("#timeline .decision", has_text="mutate.podstrat.dev").first).to_be_visible()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(500)  # for the colours to have changed, which are animated
            assert serious(page) == []
