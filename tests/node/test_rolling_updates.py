"""Rolling updates of DRA drivers: two of them at a time, and values that never flicker."""

from __future__ import annotations

import pytest

from node import health
from node.simulator import DraDriver
from tests.node.test_dra_health import GPU, NAME, says, shows, train
from tests.node.world import Scene, gpu


@pytest.mark.scenario(41)
async def test_a_rolling_update_never_wipes_what_is_known(root):
    async with Scene(root) as scene:
        uid = train(scene)
        old = DraDriver(root, instance="a", devices=[says(0, "Unhealthy", "old")])
        new = DraDriver(root, instance="b", devices=[says(0, "Unhealthy", "old")])
        await old.start()
        await scene.look()
        await shows(scene, uid, ("Unhealthy", "old"))
        writes = scene.writes[uid]
        await new.start()
        await scene.look()
        await new.audience.until(1)
        await old.stop()
        await scene.look()
        new.set("gpu-0", "Unhealthy", "new")
        await shows(scene, uid, ("Unhealthy", "new"))
        assert scene.writes[uid] == writes + 1
        await new.stop()


@pytest.mark.scenario(42)
async def test_a_new_driver_that_never_reports_does_not_keep_the_old_ones_word_for_ever(root):
    async with Scene(root, health=health.Settings(handover=10.0)) as scene:
        uid = train(scene)
        old = DraDriver(root, instance="a", devices=[says(0, timeout=3600)])
        new = DraDriver(root, instance="b")
        new.trouble["NodeWatchResources"] = "hang"
        await old.start()
        await scene.look()
        await shows(scene, uid, "Healthy")
        await new.start()
        await scene.look()
        await new.until_asked("NodeWatchResources")
        await old.stop()
        await scene.until(lambda: scene.health.next_deadline() < scene.clock.now() + 100)
        scene.clock.advance(9.0)
        assert scene.health.look(gpu(0), scene.clock.now()).health == "Healthy"
        scene.clock.advance(1.0)
        await shows(scene, uid, "Unknown")
        await new.stop()


@pytest.mark.scenario(43)
async def test_of_two_drivers_that_disagree_the_newest_is_believed(root):
    async with Scene(root) as scene:
        uid = train(scene)
        old = DraDriver(root, instance="a", devices=[says(0, "Unhealthy", "old")])
        new = DraDriver(root, instance="b")
        await old.start()
        await scene.look()
        await shows(scene, uid, ("Unhealthy", "old"))
        await new.start()
        await scene.look()
        await shows(scene, uid, "Healthy")
        writes = scene.writes[uid]
        for number in range(5):
            old.set("gpu-0", "Unhealthy", f"old {number}")
            new.tell()
        refreshes = scene.health.refreshes
        new.set("gpu-0", "Healthy", "agreed")
        await shows(scene, uid, ("Healthy", "agreed"))
        assert scene.writes[uid] == writes + 1
        assert scene.health.refreshes > refreshes
        await new.stop()
        await old.stop()


@pytest.mark.scenario(44)
async def test_a_driver_that_loses_the_health_service_leaves_its_devices_unknown(root):
    async with Scene(root) as scene:
        uid = train(scene)
        old = DraDriver(root, instance="a", devices=[says(0, timeout=3600)])
        new = DraDriver(root, instance="b", health=())
        await old.start()
        await scene.look()
        await shows(scene, uid, "Healthy")
        await new.start()
        await scene.look()
        await new.until_asked("NotifyRegistrationStatus")
        assert scene.shown(uid)[NAME][GPU[0]] == "Healthy"
        await old.stop()
        await shows(scene, uid, "Unknown")
        await new.stop()
