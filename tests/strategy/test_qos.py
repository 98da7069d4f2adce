"""The quality-of-service class, by release and gate."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy import qos
from tests.strategy.make import context_with_only

POD_LEVEL = "PodLevelResources"
FIX = "PodLevelResourcesFixKubeletQOSClass"

FULL = {"cpu": "1", "memory": "1Gi"}
HALF = {"cpu": "500m", "memory": "512Mi"}


def both(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}


def pod(*main: dict[str, Any], initial: tuple[dict[str, Any], ...] = (), pod_level: dict[str, Any] | None = None) -> Any:
    spec: dict[str, Any] = {"containers": [{"name": f"c{i}", "resources": each} for i, each in enumerate(main)]}
    if initial:
        spec["initContainers"] = [{"name": f"i{i}", "resources": each} for i, each in enumerate(initial)]
    if pod_level is not None:
        spec["resources"] = pod_level
    return {"spec": spec}


@pytest.mark.parametrize(
    "of, wanted",
    [
        pytest.param(pod(), "BestEffort", id="no-containers"),
        pytest.param({"spec": {"containers": None}}, "BestEffort", id="null-containers"),
        pytest.param(pod({}), "BestEffort", id="nothing"),
        pytest.param(pod(both({"cpu": "0"}, {"memory": "0"})), "BestEffort", id="zeros"),
        pytest.param(pod(both({"cpu": "-1"})), "Burstable", id="negative-counts-since-1.37"),
        pytest.param(pod(both({"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1"})), "BestEffort", id="other-resources"),
        pytest.param(pod(both(FULL, FULL)), "Guaranteed", id="limits-and-equal-requests"),
        pytest.param(pod(both({"cpu": "1000m", "memory": "1024Mi"}, FULL)), "Guaranteed", id="equal-by-value"),
        pytest.param(pod(both({**FULL, "a.b/c": "1"}, {**FULL, "a.b/c": "2"})), "Guaranteed", id="others-do-not-matter"),
        pytest.param(pod(both(FULL, FULL), both(HALF, HALF)), "Guaranteed", id="two-containers"),
        pytest.param(pod(both(FULL, FULL), initial=(both(HALF, HALF),)), "Guaranteed", id="init-container"),
        pytest.param(pod(both(HALF, FULL)), "Burstable", id="smaller-requests"),
        pytest.param(pod(both({"cpu": "1", "memory": "1"}, FULL)), "Burstable", id="smaller-memory-request"),
        pytest.param(pod(both(None, FULL)), "Burstable", id="no-requests"),
        pytest.param(pod(both({"cpu": "0", "memory": "0"}, FULL)), "Burstable", id="requests-of-zero"),
        pytest.param(pod(both({"cpu": "-1", "memory": "1Gi"}, FULL)), "Burstable", id="negative-request"),
        pytest.param(pod(both({"cpu": "1"}, {"cpu": "1"})), "Burstable", id="no-memory"),
        pytest.param(pod(both({"cpu": "0", "memory": "1"}, {"cpu": "0", "memory": "1"})), "Burstable", id="cpu-limit-of-zero"),
        pytest.param(pod(both(FULL)), "Burstable", id="no-limits"),
        pytest.param(pod(both(FULL, FULL), {}), "Burstable", id="one-of-two"),
        pytest.param(pod(both(FULL, FULL), initial=({},)), "Burstable", id="init-container-without"),
        pytest.param(pod(both(HALF, FULL), both(FULL, HALF)), "Guaranteed", id="the-sums-are-compared"),
        pytest.param(pod(both(HALF, FULL), both({"cpu": "9", "memory": "9"}, FULL)), "Burstable", id="and-differ"),
    ],
)
def test_containers(of: Any, wanted: str) -> None:
    assert qos.of(of, context_with_only(POD_LEVEL, FIX)) == wanted


@pytest.mark.parametrize(
    "of, off, on, fixed",
    [
        pytest.param(pod(both(FULL, FULL), pod_level={}), "Guaranteed", "BestEffort", "Guaranteed", id="empty"),
        pytest.param(
            pod(both(HALF), pod_level=both({"storage": "1"})),
            "Burstable",
            "BestEffort",
            "Burstable",
            id="other-name",
        ),
        pytest.param(pod({}, pod_level=both(FULL, FULL)), "BestEffort", "Guaranteed", "Guaranteed", id="guaranteed"),
        pytest.param(pod({}, pod_level=both(FULL)), "BestEffort", "Burstable", "Burstable", id="requests-only"),
        pytest.param(pod({}, pod_level=both(None, FULL)), "BestEffort", "Burstable", "Burstable", id="limits-only"),
        pytest.param(
            pod(both(FULL, FULL), pod_level=both({"cpu": "0"})),
            "Guaranteed",
            "BestEffort",
            "BestEffort",
            id="zeros",
        ),
        pytest.param(
            pod({}, pod_level=both({"hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "2Mi"})),
            "BestEffort",
            "BestEffort",
            "BestEffort",
            id="huge-pages",
        ),
    ],
)
def test_pod_level(of: Any, off: str, on: str, fixed: str) -> None:
    assert (
        qos.of(of, context_with_only()),
        qos.of(of, context_with_only(POD_LEVEL)),
        qos.of(of, context_with_only(POD_LEVEL, FIX)),
    ) == (off, on, fixed)


def test_the_status_is_not_looked_at() -> None:
    assert qos.of({**pod({}), "status": {"qosClass": "Guaranteed"}}, context_with_only()) == "BestEffort"
