"""Beside a kubelet: what its podresources say."""

from __future__ import annotations

import pytest

from podstrat.node.drivers.generated import podresources_pb2
from podstrat.node.drivers.podresources import PodResources
from podstrat.node.drivers.protocols import wire
from podstrat.node.drivers.protocols.serving import CallRefused, Server
from podstrat.node.model import Device
from tests.node.fixtures import VirtualClock
from tests.node.state.test_inventory import RESOURCE, requesting
from tests.node.state_harness import StateHarness


class Podresources:
    """A kubelet's podresources service, as one wants it."""

    def __init__(self, path):
        self.path = str(path)
        self.devices = ["gpu-0"]
        self.trouble = None
        self.server = None

    async def __aenter__(self):
        self.server = Server(self.path, {wire.LIST_PODS: self._list})
        await self.server.start()
        return self

    async def __aexit__(self, *_):
        await self.server.stop()

    async def _list(self, _):
        if self.trouble:
            raise self.trouble
        container = {"name": "main", "devices": [{"resource_name": RESOURCE, "device_ids": self.devices}]}
        return podresources_pb2.ListPodResourcesResponse(
            pod_resources=[{"name": "train", "namespace": "default", "containers": [container]}]
        )


@pytest.mark.scenario(111)
async def test_while_the_kubelet_does_not_answer_what_it_said_is_kept_and_marked(root):
    harness, clock = StateHarness(), VirtualClock()
    uid = harness.see(requesting("train"))
    kubelet = PodResources(str(root / "pod.sock"), harness.claims, clock)
    missing = await kubelet.ask()
    assert missing.note.startswith(f"{kubelet.socket}: podresources unavailable: ")
    assert harness.claims.stale_since == 1000.0
    async with Podresources(root / "pod.sock") as service:
        told = await kubelet.ask()
        assert told[:2] == ({uid}, f"{kubelet.socket}: podresources available again")
        harness.write(told.pods)
        assert harness.claims.stale_since is None
        service.trouble = CallRefused("RESOURCE_EXHAUSTED", "rejected by rate limit")
        clock.advance(10.0)
        assert "rejected by rate limit (RESOURCE_EXHAUSTED)" in (await kubelet.ask()).note
        assert (await kubelet.ask())[:2] == (set(), None)
        assert harness.claims.stale_since == 1010.0
        assert harness.shown(uid) == {RESOURCE: {"gpu-0": "Unknown"}}
    clock.advance(10.0)
    assert (await kubelet.ask())[:2] == (set(), None)  # it restarts: the socket is gone
    assert harness.claims.stale_since == 1010.0
    harness.set(Device(RESOURCE, "", "gpu-0"), "Unhealthy")
    assert harness.shown(uid) == {RESOURCE: {"gpu-0": "Unhealthy"}}
    async with Podresources(root / "pod.sock"):
        assert (await kubelet.ask())[:2] == (set(), f"{kubelet.socket}: podresources available again")
    assert harness.claims.stale_since is None


async def test_the_kubelet_is_asked_now_and_then_and_when_pods_have_changed(root):
    harness, clock = StateHarness(), VirtualClock()
    uid = harness.see(requesting("train", "2"))
    async with Podresources(root / "pod.sock") as service:
        kubelet = PodResources(service.path, harness.claims, clock)
        tellings = kubelet.run()
        assert (await anext(tellings)).pods == {uid}
        service.devices = ["gpu-0", "gpu-1"]
        clock.advance(10.0)
        kubelet.wake()
        assert (await anext(tellings)).pods == {uid}
        await tellings.aclose()
    assert [each.device.name for holding in harness.claims.share(uid, 0.0).holdings for each in holding.devices] == [
        "gpu-0",
        "gpu-1",
    ]
