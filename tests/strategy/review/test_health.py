"""Device health in a review, wherever it stands: in the status of any kind of container, and of the pod itself."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.review import health
from podstrat.strategy.review.reviewed import Reviewed
from tests.strategy import make

Pod = dict[str, Any]
GPU = "nvidia.com/gpu"
SWITCHES = ("PodLevelResourceHealth", "UniqueResourceHealthNames")


def report(name: str, health: str = "Healthy") -> list[Pod]:
    return [{"name": name, "resources": [{"resourceID": "g0", "health": health}]}]


def container(name: str, **fields: Any) -> Pod:
    return {"name": name, "image": "i", "resources": {"limits": {GPU: "1"}, "requests": {GPU: "1"}}, **fields}


def status(name: str, found: list[Pod]) -> Pod:
    said = {"name": name, "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    return {**said, "allocatedResourcesStatus": found}


STORED = make.pod(
    nodeName="n1",
    initContainers=[container("i")],
    containers=[container("c")],
    ephemeralContainers=[{"name": "e", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}],
)
KNOWN = 'supported values: "Healthy", "Unhealthy", "Unknown"'


@pytest.mark.parametrize(
    "written, errors",
    [
        pytest.param({"containerStatuses": [status("c", report(GPU))]}, [], id="a-container"),
        pytest.param({"initContainerStatuses": [status("i", report(GPU))]}, [], id="an-init-container"),
        pytest.param({"ephemeralContainerStatuses": [status("e", [])]}, [], id="an-ephemeral-container-without"),
        pytest.param(
            {"containerStatuses": [status("c", report(GPU, "Fine"))]},
            [f'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": {KNOWN}'],
            id="no-such-health-of-a-container",
        ),
        pytest.param(
            {"initContainerStatuses": [status("i", report("other"))]},
            [
                'status.initContainerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "other": '
                "must match one of the container's resource requests"
            ],
            id="not-requested-by-an-init-container",
        ),
        pytest.param(
            {"ephemeralContainerStatuses": [status("e", report(GPU))]},
            [
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: "
                "must not be specified in container status"
            ],
            id="an-ephemeral-container",
        ),
        pytest.param(
            {"allocatedResourcesStatus": report("other")},
            ['status.allocatedResourcesStatus[0].name: Invalid value: "other": must match one of the pod\'s resource requests'],
            id="not-requested-by-the-pod",
        ),
        pytest.param(
            {
                "ephemeralContainerStatuses": [status("e", report(GPU))],
                "initContainerStatuses": [status("i", report(GPU, "Fine"))],
                "containerStatuses": [status("c", report(GPU, "Fine"))],
                "allocatedResourcesStatus": report("other"),
            },
            [
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: "
                f'Unsupported value: "Fine": {KNOWN}',
                "status.initContainerStatuses[0].allocatedResourcesStatus[0].resources[0].health: "
                f'Unsupported value: "Fine": {KNOWN}',
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: "
                "must not be specified in container status",
                'status.allocatedResourcesStatus[0].name: Invalid value: "other": must match one of the pod\'s resource requests',
            ],
            id="all-at-once",
        ),
    ],
)
def test_health_wherever_it_stands(written: Pod, errors: list[str]) -> None:
    engine = Engine("1.37", switches=SWITCHES)
    reviewed = Reviewed(engine, {**STORED, "status": written}, STORED, "status")
    assert list(map(str, health.errors(reviewed))) == errors


@pytest.mark.parametrize("key, name", [("containerStatuses", "c"), ("initContainerStatuses", "i")])
def test_the_stricter_rules_look_at_both_lists(key: str, name: str) -> None:
    unnamed = [{"name": GPU, "resources": [{"resourceID": "", "health": "Healthy"}]}]
    pod = {**STORED, "status": {key: [status(name, unnamed), status("nobody", report(GPU))]}}
    found = health.stricter_errors(
        Reviewed(Engine("1.37"), pod, STORED, "status"), frozenset(("known-containers", "named-devices"))
    )
    assert list(map(str, found)) == [
        f'status.{key}[1].name: Not found: "nobody"',
        f"status.{key}[0].allocatedResourcesStatus[0].resources[0].resourceID: Required value",
    ]
