"""Device health in the pod's own list, which is known only with the switch PodLevelResourceHealth."""

from __future__ import annotations

from podstrat.strategy.engine import Engine
from tests.strategy import make

AT = "status.allocatedResourcesStatus"


def test_devices_and_names_are_judged_as_in_a_containers_list() -> None:
    engine = Engine(switches=["PodLevelResourceHealth", "UniqueResourceHealthNames"])
    stored = engine.create(make.pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}])).pod or {}
    device = {"resourceID": "g0", "health": "Poorly"}
    said = [{"name": "claim:gpu", "resources": [device]}, {"name": "claim:gpu"}]
    outcome = engine.update_status(make.status(stored, allocatedResourcesStatus=said), stored)
    assert [str(error) for error in outcome.errors] == [
        f'{AT}[0].resources[0].health: Unsupported value: "Poorly": supported values: "Healthy", "Unhealthy", "Unknown"',
        f'{AT}[1].name: Duplicate value: "claim:gpu"',
    ]
