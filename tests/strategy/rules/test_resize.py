"""What a resize may change."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from tests.strategy import make

NO_RESIZE = ["spec: Forbidden: pods with node allocatable resource claims cannot be resized"]


@pytest.mark.parametrize(
    "version, errors", [pytest.param("1.36", NO_RESIZE, id="1.36"), pytest.param("1.37", [], id="allowed-since-1.37")]
)
def test_claims_of_what_a_node_can_allocate(version: str, errors: list[str]) -> None:
    engine = Engine(version, gates={"DRANodeAllocatableResources": True})
    claimed: list[dict[str, Any]] = [{"resourceClaimName": "claim", "containers": ["c"], "resources": {"cpu": "1"}}]
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    stored = engine.create(make.pod(containers=[{"name": "c", "image": "i", "resources": resources}])).pod or {}
    stored["status"]["nodeAllocatableResourceClaimStatuses"] = claimed
    patch = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}}
    outcome = engine.patch(patch, stored, subresource="resize")
    assert [str(error) for error in outcome.errors] == errors
