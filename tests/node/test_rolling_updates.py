"""Rolling updates of DRA drivers: two of them at a time, and values that never flicker."""

from __future__ import annotations

import pytest

from podstrat.node.simulator.driver import DraDriver
from podstrat.node.state import health
from tests.node.fixtures import NodeHarness, gpu
from tests.node.test_dra_health import GPU, NAME, says, shows, train


@pytest.mark.scenario(41)
async def test_a_rolling_update_never_wipes_what_is_known(root):
    async with NodeHarness(root) as harness:
        uid = train(harness)
        old = DraDriver(root, instance="a", devices=[says(0, "Unhealthy", "old")])
        new = DraDriver(root, instance="b", devices=[says(0, "Unhealthy", "old")])
        await old.start()
        await harness.look()
        await shows(harness, uid, ("Unhealthy", "old"))
        writes = harness.writes[uid]
        await new.start()
        await harness.look()
        await new.audience.until(1)
        await old.stop()
        await harness.look()
        new.set("gpu-0", "Unhealthy", "new")
        await shows(harness, uid, ("Unhealthy", "new"))
        assert harness.writes[uid] == writes + 1
        await new.stop()


@pytest.mark.scenario(42)
async def test_a_new_driver_that_never_reports_does_not_keep_the_old_ones_word_for_ever(root):
    async with NodeHarness(root, health=health.Settings(handover=10.0)) as harness:
        uid = train(harness)
        old = DraDriver(root, instance="a", devices=[says(0, timeout=3600)])
        new = DraDriver(root, instance="b")
        new.trouble["NodeWatchResources"] = "hang"
        await old.start()
        await harness.look()
        await shows(harness, uid, "Healthy")
        await new.start()
        await harness.look()
        await new.until_asked("NodeWatchResources")
        await old.stop()
        await harness.until(lambda: harness.health.next_deadline() < harness.clock.now() + 100)
        harness.clock.advance(9.0)
        assert harness.health.look(gpu(0), harness.clock.now()).health == "Healthy"
        harness.clock.advance(1.0)
        await shows(harness, uid, "Unknown")
        await new.stop()


@pytest.mark.scenario(43)
async def test_of_two_drivers_that_disagree_the_newest_is_believed(root):
    async with NodeHarness(root) as harness:
        uid = train(harness)
        old = DraDriver(root, instance="a", devices=[says(0, "Unhealthy", "old")])
        new = DraDriver(root, instance="b")
        await old.start()
        await harness.look()
        await shows(harness, uid, ("Unhealthy", "old"))
        await new.start()
        await harness.look()
        await shows(harness, uid, "Healthy")
        writes = harness.writes[uid]
        for number in range(5):
            old.set("gpu-0", "Unhealthy", f"old {number}")
            new.tell()
        refreshes = harness.health.refreshes
        new.set("gpu-0", "Healthy", "agreed")
        await shows(harness, uid, ("Healthy", "agreed"))
        assert harness.writes[uid] == writes + 1
        assert harness.health.refreshes > refreshes
        await new.stop()
        await old.stop()


@pytest.mark.scenario(44)
async def test_a_driver_that_loses_the_health_service_leaves_its_devices_unknown(root):
    async with NodeHarness(root) as harness:
        uid = train(harness)
        old = DraDriver(root, instance="a", devices=[says(0, timeout=3600)])
        new = DraDriver(root, instance="b", health=())
        await old.start()
        await harness.look()
        await shows(harness, uid, "Healthy")
        await new.start()
        await harness.look()
        await new.until_asked("NotifyRegistrationStatus")
        assert harness.shown(uid)[NAME][GPU[0]] == "Healthy"
        await old.stop()
        await shows(harness, uid, "Unknown")
        await new.stop()
