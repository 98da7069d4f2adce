"""Rules of alpha gates: volume health, node-allocatable claims, sizes of volumes in memory."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from tests.strategy import make

engine = Engine("1.37", {"AllAlpha": True, "AllBeta": True})
MEMORY = {"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}
CLAIM = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "claim"}]}


def status_errors(stored: dict[str, Any], **fields: Any) -> list[str]:
    return [str(error) for error in engine.update_status(make.status(stored, **fields), stored).errors]


HEALTH = "status.volumeHealth"
STATUSES = 'supported values: "DataLoss", "Degraded", "Inaccessible"'
GOOD = {"status": "Degraded", "reason": "Slow"}


@pytest.mark.parametrize(
    "health, errors",
    [
        pytest.param([{"name": "v", "healthConditions": [GOOD]}], [], id="fine"),
        pytest.param([{"name": ""}], [f"{HEALTH}[0].name: Required value"], id="no-name"),
        pytest.param([{"name": "w"}], [f'{HEALTH}[0].name: Not found: "w"'], id="no-volume"),
        pytest.param([{"name": "v"}, {"name": "v"}], [f'{HEALTH}[1].name: Duplicate value: "v"'], id="twice"),
        pytest.param(
            [{"name": "v", "healthConditions": [{"status": "x", "reason": ""}]}],
            [
                f"{HEALTH}[0].healthConditions[0].reason: Required value",
                f'{HEALTH}[0].healthConditions[0].status: Unsupported value: "x": {STATUSES}',
            ],
            id="reason-before-status",
        ),
        pytest.param(
            [{"name": "v", "healthConditions": [{"status": "", "reason": "A"}, GOOD, GOOD]}],
            [
                f'{HEALTH}[0].healthConditions[2]: Duplicate value: {{"status":"Degraded","reason":"Slow"}}',
                f"{HEALTH}[0].healthConditions[0].status: Required value",
            ],
            id="same-condition-twice",
        ),
    ],
)
def test_volume_health(health: Any, errors: list[str]) -> None:
    stored = engine.create(make.pod(volumes=[{"name": "v", "emptyDir": {}}])).pod or {}
    assert status_errors(stored, volumeHealth=health) == errors


def test_a_reason_has_a_form() -> None:
    stored = engine.create(make.pod(volumes=[{"name": "v", "emptyDir": {}}])).pod or {}
    conditions = [{"status": "Degraded", "reason": "a b"}]
    (error,) = status_errors(stored, volumeHealth=[{"name": "v", "healthConditions": conditions}])
    assert error.startswith(f'{HEALTH}[0].healthConditions[0].reason: Invalid value: "a b": a condition reason must start with')


AT = "status.nodeAllocatableResourceClaimStatuses"
ALLOCATABLE = "must be a node allocatable resource name"


@pytest.mark.parametrize(
    "claim, errors",
    [
        pytest.param({"mapping": [{"name": "cpu", "quantity": "1"}, {"name": "hugepages-2Mi", "quantity": "0"}]}, [], id="fine"),
        pytest.param({"resourceClaimName": ""}, [f"{AT}[0].resourceClaimName: Required value"], id="no-claim"),
        pytest.param(
            {"resourceClaimName": "x"},
            [f'{AT}[0].resourceClaimName: Invalid value: "x": no mapping found in pod reference'],
            id="unknown",
        ),
        pytest.param(
            {"mapping": [{"name": "", "quantity": "-1"}, {"name": "cpu"}]},
            [
                f'{AT}[0].mapping[0].name: Invalid value: "": {ALLOCATABLE}',
                f'{AT}[0].mapping[0].quantity: Invalid value: "-1": must be non-negative',
                f"{AT}[0].mapping[0].name: Required value",
                f"{AT}[0].mapping[1].quantity: Required value",
            ],
            id="mapping",
        ),
        pytest.param(
            {"overhead": [{"name": "x"}, {"name": "cpu", "perPod": "-1"}, {"name": "memory", "perContainer": "-2"}]},
            [
                f'{AT}[0].overhead[0].name: Invalid value: "x": {ALLOCATABLE}',
                f'{AT}[0].overhead[0]: Invalid value: "": at least one of perPod or perContainer must be set',
                f'{AT}[0].overhead[1].perPod: Invalid value: "-1": must be non-negative',
                f'{AT}[0].overhead[2].perContainer: Invalid value: "-2": must be non-negative',
            ],
            id="overhead",
        ),
        pytest.param(
            {"containers": ["c", "c"], "overhead": [{"name": "cpu", "perPod": "1"}] * 2},
            [
                f'{AT}[0].containers[1]: Duplicate value: "c"',
                f'{AT}[0].overhead[1]: Duplicate value: {{"name":"cpu","perPod":"1"}}',
            ],
            id="twice",
        ),
    ],
)
def test_node_allocatable_claims(claim: Any, errors: list[str]) -> None:
    stored = engine.create(make.pod(**CLAIM)).pod or {}
    entry = {"resourceClaimName": "claim", **claim}
    assert status_errors(stored, nodeAllocatableResourceClaimStatuses=[entry]) == errors


def test_a_claim_is_told_once() -> None:
    stored = engine.create(make.pod(**CLAIM)).pod or {}
    twice = [{"resourceClaimName": "claim"}] * 2
    assert status_errors(stored, nodeAllocatableResourceClaimStatuses=twice) == [
        f'{AT}[1].resourceClaimName: Duplicate value: "claim"'
    ]


@pytest.mark.parametrize(
    "claim, cpu, refused",
    [
        pytest.param({"mapping": [{"name": "cpu", "quantity": "3"}]}, "3", False, id="enough"),
        pytest.param({"mapping": [{"name": "cpu", "quantity": "3"}]}, "2", True, id="mapping"),
        pytest.param({"overhead": [{"name": "cpu", "perPod": "1", "perContainer": "1"}]}, "1", False, id="overhead-of-the-pod"),
        pytest.param(
            {"containers": ["c"], "overhead": [{"name": "cpu", "perPod": "1", "perContainer": "1"}]}, "1", True, id="overhead"
        ),
    ],
)
def test_a_resize_covers_claims(claim: Any, cpu: str, refused: bool) -> None:
    resources = {"requests": {"cpu": "4", "memory": "4Gi"}, "limits": {"cpu": "8", "memory": "8Gi"}}
    stored = engine.create(make.pod(**CLAIM, resources=resources)).pod or {}
    entry = {"resourceClaimName": "claim", **claim}
    stored = engine.update_status(make.status(stored, nodeAllocatableResourceClaimStatuses=[entry]), stored).pod or {}
    outcome = engine.patch({"spec": {"resources": {"requests": {"cpu": cpu}}}}, stored, subresource="resize")
    text = "pod level request for cpu is insufficient to cover the aggregated container and node-allocatable DRA requests"
    assert [error.detail for error in outcome.errors] == ([text] if refused else [])


ONLY = "only sizeLimit of memory-backed emptyDir volumes is mutable on resize"
PRESENT = "adding or removing sizeLimit on an existing volume is not allowed"


@pytest.mark.parametrize(
    "before, after, errors",
    [
        pytest.param([MEMORY], [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}], [], id="size"),
        pytest.param([MEMORY], [], ["spec.volumes: Forbidden: volumes may not be added or removed on resize"], id="removed"),
        pytest.param(
            [MEMORY],
            [{**MEMORY, "name": "w"}],
            ["spec.volumes[0].name: Forbidden: volumes may not be renamed or reordered on resize"],
            id="renamed",
        ),
        pytest.param(
            [MEMORY],
            [{"name": "v", "emptyDir": {"medium": "Memory"}}],
            [f"spec.volumes[0].emptyDir.sizeLimit: Forbidden: {PRESENT}"],
            id="no-size",
        ),
        pytest.param(
            [MEMORY], [{"name": "v", "emptyDir": {"sizeLimit": "64Mi"}}], [f"spec.volumes[0]: Forbidden: {ONLY}"], id="medium"
        ),
        pytest.param([MEMORY], [{"name": "v", "hostPath": {"path": "/x"}}], [f"spec.volumes[0]: Forbidden: {ONLY}"], id="source"),
        pytest.param(
            [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}],
            [{"name": "v", "emptyDir": {"sizeLimit": "2Mi"}}],
            ["spec.volumes[0].emptyDir.sizeLimit: Forbidden: sizeLimit is only mutable for memory-backed emptyDir volumes"],
            id="on-disk",
        ),
    ],
)
def test_volumes_on_resize(before: Any, after: Any, errors: list[str]) -> None:
    stored = engine.create(make.pod(volumes=before)).pod or {}
    sent = {**stored, "spec": {**stored["spec"], "volumes": after}}
    assert [str(error) for error in engine.resize(sent, stored).errors] == errors
