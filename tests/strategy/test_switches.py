"""What the documents ask for beyond the server, behind switches."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.switches import SWITCHES, SwitchError
from tests.strategy import make

GPU = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}


def reported(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "resources": [{"resourceID": "g0", "health": "Healthy"}]} for name in names]


def container_status(*names: str) -> dict[str, Any]:
    said = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    return {**said, "allocatedResourcesStatus": reported(*names)}


def test_every_switch_is_off_by_default() -> None:
    assert Engine().context.switches == frozenset()


def test_a_switch_that_is_not_there_is_named() -> None:
    with pytest.raises(SwitchError, match="unknown switch 'Nope'; choose one of " + ", ".join(SWITCHES)):
        Engine(switches=["Nope"])


@pytest.mark.parametrize(
    "switches, generation",
    [pytest.param([], 1, id="as-the-server"), pytest.param(["BindingBumpsGeneration"], 2, id="as-the-document")],
)
def test_binding_and_generation(switches: list[str], generation: int) -> None:
    engine = Engine(switches=switches)
    bound = engine.bind(engine.create(make.pod()).pod or {}, "n1").pod or {}
    assert bound["metadata"]["generation"] == generation


def test_names_may_repeat_unless_the_switch_is_on() -> None:
    pod = make.pod(containers=[{"name": "c", "image": "i", **GPU}])
    twice = [container_status("nvidia.com/gpu", "nvidia.com/gpu")]
    for engine, texts in (
        (Engine(), []),
        (
            Engine(switches=["UniqueResourceHealthNames"]),
            ['status.containerStatuses[0].allocatedResourcesStatus[1].name: Duplicate value: "nvidia.com/gpu"'],
        ),
    ):
        stored = engine.create(pod).pod or {}
        assert [str(e) for e in engine.update_status(make.status(stored, containerStatuses=twice), stored).errors] == texts


def test_the_pods_own_list_is_unknown_to_the_server() -> None:
    engine = Engine()
    stored = engine.create(make.pod()).pod or {}
    outcome = engine.update_status(make.status(stored, allocatedResourcesStatus=reported("claim:gpu")), stored)
    assert outcome.warnings == ('unknown field "status.allocatedResourcesStatus"',)
    assert "allocatedResourcesStatus" not in (outcome.pod or {})["status"]


@pytest.mark.parametrize(
    "name, text",
    [
        pytest.param("claim:gpu", None, id="a-claim"),
        pytest.param("claim:gpu/r0", None, id="a-request-of-a-claim"),
        pytest.param("cpu", None, id="a-request-of-the-pod"),
        pytest.param("memory", "must match one of the pod's resource requests", id="no-request"),
        pytest.param(
            "claim:other",
            "must match one of the pod's resource claims as 'claim:<claimName>' or 'claim:<claimName>/<requestName>'",
            id="no-claim",
        ),
    ],
)
def test_the_pods_own_list_with_the_switch(name: str, text: str | None) -> None:
    engine = Engine(switches=["PodLevelResourceHealth", "UniqueResourceHealthNames"])
    claims = [{"name": "gpu", "resourceClaimName": "gpu-claim"}]
    stored = engine.create(make.pod(resourceClaims=claims, resources={"requests": {"cpu": "1"}})).pod or {}
    outcome = engine.update_status(make.status(stored, allocatedResourcesStatus=reported(name)), stored)
    assert [e.detail for e in outcome.errors] == ([] if text is None else [text])


def test_the_gate_guards_the_pods_own_list_too() -> None:
    off = {"ResourceHealthStatus": False, "ResourceHealthStatusMessage": False}
    engine = Engine(gates=off, switches=["PodLevelResourceHealth"])
    stored = engine.create(make.pod()).pod or {}
    outcome = engine.update_status(make.status(stored, allocatedResourcesStatus=reported("anything")), stored)
    assert outcome.ok
    assert "allocatedResourcesStatus" not in (outcome.pod or {})["status"]
