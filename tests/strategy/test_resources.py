"""Resources of a pod as a whole: sums, the largest step of the initialization, and what spec.resources is completed with."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat.strategy import defaults, resources
from tests.strategy.make import context_with_only


def containers(*amounts: dict[str, str], **more: str) -> list[dict[str, Any]]:
    return [{"name": f"c{i}", "resources": {"requests": each, "limits": each}, **more} for i, each in enumerate(amounts)]


def sidecar(**amounts: str) -> dict[str, Any]:
    return containers(amounts, restartPolicy="Always")[0]


def init(**amounts: str) -> dict[str, Any]:
    return containers(amounts)[0]


@pytest.mark.parametrize(
    "main, initial, total",
    [
        pytest.param([], [], {}, id="nothing"),
        pytest.param(containers({"cpu": "1"}, {"cpu": "500m", "memory": "1Gi"}), [], {"cpu": "1500m", "memory": "1Gi"}, id="sum"),
        pytest.param(containers({"cpu": "1.500"}), [], {"cpu": "1.500"}, id="one-container-keeps-its-spelling"),
        pytest.param(containers({"cpu": "1.500"}, {"cpu": "0"}), [], {"cpu": "1500m"}, id="a-sum-does-not"),
        pytest.param(containers({"cpu": "1"}), [init(cpu="3")], {"cpu": "3"}, id="larger-init-container"),
        pytest.param(containers({"cpu": "4"}), [init(cpu="3"), init(cpu="2")], {"cpu": "4"}, id="init-containers-run-alone"),
        pytest.param(containers({"cpu": "1"}), [sidecar(cpu="2")], {"cpu": "3"}, id="sidecar-adds"),
        pytest.param(containers({"cpu": "1"}), [sidecar(cpu="2"), init(cpu="5")], {"cpu": "7"}, id="init-after-sidecar"),
        pytest.param(containers({"cpu": "1"}), [init(cpu="5"), sidecar(cpu="2")], {"cpu": "5"}, id="init-before-sidecar"),
        pytest.param(
            containers({"cpu": "1"}), [sidecar(memory="1Gi"), init(cpu="2")], {"cpu": "2", "memory": "1Gi"}, id="by-resource"
        ),
        pytest.param(
            [], [sidecar(memory="1000M"), init(memory="24Ki")], {"memory": "1000024576"}, id="init-decides-the-suffixes"
        ),
    ],
)
@pytest.mark.parametrize("aggregate", [resources.aggregate_requests, resources.aggregate_limits])
def test_aggregate(aggregate: Any, main: list[Any], initial: list[Any], total: dict[str, str]) -> None:
    spec = {"containers": main, "initContainers": initial}
    assert {name: amount.text for name, amount in aggregate(spec).items()} == total


def test_aggregate_knows_no_lists() -> None:
    assert resources.aggregate_requests({"containers": None}) == {}
    assert resources.aggregate_limits({"containers": [{"name": "c", "resources": {}}], "initContainers": None}) == {}


def test_aggregate_looks_at_one_kind() -> None:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}]}
    assert resources.aggregate_requests(spec)["cpu"].text == "1"
    assert resources.aggregate_limits(spec)["cpu"].text == "2"


@pytest.mark.parametrize(
    "name, pod_level",
    [
        ("cpu", True),
        ("memory", True),
        ("hugepages-2Mi", True),
        ("hugepages-", True),
        ("ephemeral-storage", False),
        ("nvidia.com/gpu", False),
        ("CPU", False),
    ],
)
def test_is_pod_level(name: str, pod_level: bool) -> None:
    assert resources.is_pod_level(name) is pod_level


@pytest.mark.parametrize(
    "spec, has",
    [
        pytest.param({}, False, id="absent"),
        pytest.param({"resources": {}}, False, id="empty"),
        pytest.param({"resources": {"requests": {}, "limits": {}}}, False, id="empty-maps"),
        pytest.param({"resources": {"requests": {"ephemeral-storage": "1"}}}, False, id="only-a-name-it-may-not-hold"),
        pytest.param({"resources": {"requests": {"cpu": "0"}}}, True, id="zero-counts"),
        pytest.param({"resources": {"limits": {"hugepages-1Gi": "1Gi"}}}, True, id="limits"),
    ],
)
def test_has_pod_level(spec: dict[str, Any], has: bool) -> None:
    assert resources.has_pod_level(spec) is has


# ---- the defaults of spec.resources ------------------------------------------------------------------------------------

POD_LEVEL = "PodLevelResources"
FIX = "PodLevelResourcesFixDefaulting"
CPU, HUGE = {"cpu": "1"}, {"hugepages-2Mi": "4Mi"}


def sized(name: str = "c", requests: dict[str, str] | None = None, limits: dict[str, str] | None = None, **fields: Any) -> Any:
    amounts = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return {"name": name, "resources": amounts, **fields}


def make(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return copy.deepcopy({"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}})


def pod_level(containers: list[dict[str, Any]], given: dict[str, Any], *gates: str, **spec: Any) -> Any:
    """spec.resources after all the defaulting that a create has."""
    pod = make(*containers, resources=given, **spec)
    ctx = context_with_only(*gates)
    defaults.pod(pod, ctx)
    defaults.pod_level_resources(pod, ctx)
    return pod["spec"]["resources"]


@pytest.mark.parametrize(
    "containers, given, before, fixed",
    [
        pytest.param([sized()], {}, {}, {}, id="empty"),
        pytest.param([sized(limits=CPU)], {"limits": {}}, {"limits": {}}, {"limits": {}}, id="empty-map"),
        pytest.param(
            [sized()],
            {"limits": CPU},
            {"limits": CPU, "requests": CPU},
            {"limits": CPU, "requests": CPU},
            id="requests-are-the-limits",
        ),
        pytest.param(
            [sized("a", {"cpu": "100m"}), sized("b", {"cpu": "200m", "memory": "1Gi"})],
            {"limits": CPU},
            {"limits": CPU, "requests": {"cpu": "300m", "memory": "1Gi"}},
            {"limits": CPU, "requests": {"cpu": "300m", "memory": "1Gi"}},
            id="requests-are-those-of-the-containers",
        ),
        pytest.param(
            [sized(requests={"memory": "1Gi"})],
            {"requests": CPU},
            {"requests": CPU},
            {"requests": {"cpu": "1", "memory": "1Gi"}},
            id="requests-only",
        ),
        pytest.param(
            [sized("a", CPU, CPU), sized("b", CPU, {"cpu": "2"})],
            {"requests": {"cpu": "2"}},
            {"requests": {"cpu": "2"}},
            {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},
            id="limits-are-those-of-the-containers",
        ),
        pytest.param(
            [sized(requests=CPU, limits=CPU)],
            {"requests": {"cpu": "2500m"}},
            {"requests": {"cpu": "2500m"}},
            {"requests": {"cpu": "2500m"}, "limits": {"cpu": "2500m"}},
            id="limits-cover-the-request",
        ),
        pytest.param(
            [sized("a", limits=CPU), sized("b", CPU)],
            {"requests": {"cpu": "2"}},
            {"requests": {"cpu": "2"}},
            {"requests": {"cpu": "2"}},
            id="one-container-without-limit",
        ),
        pytest.param(
            [sized(requests={"cpu": "100m", "memory": "64Mi"}, limits={"cpu": "1", "memory": "128Mi"})],
            {"limits": {"cpu": "1"}},
            {"limits": {"cpu": "1"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
            {"limits": {"cpu": "1", "memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
            id="other-resources-follow",
        ),
        pytest.param(
            [sized(limits=HUGE)],
            {"requests": CPU},
            {"requests": {**CPU, **HUGE}, "limits": HUGE},
            {"requests": {**CPU, **HUGE}, "limits": HUGE},
            id="huge-pages",
        ),
        pytest.param(
            [sized(limits=HUGE)],
            {"limits": {"cpu": "1", "hugepages-2Mi": "8Mi"}},
            {"limits": {"cpu": "1", "hugepages-2Mi": "8Mi"}, "requests": {"cpu": "1", "hugepages-2Mi": "8Mi"}},
            {"limits": {"cpu": "1", "hugepages-2Mi": "8Mi"}, "requests": {"cpu": "1", "hugepages-2Mi": "8Mi"}},
            id="huge-pages-given",
        ),
        pytest.param(
            [sized()],
            {"requests": {**CPU, **HUGE}},
            {"requests": {**CPU, **HUGE}},
            {"requests": {**CPU, **HUGE}},
            id="huge-pages-requested",
        ),
        pytest.param(
            [sized(limits={"a.b/c": "1", "ephemeral-storage": "1"})],
            {"limits": {"cpu": "1", "ephemeral-storage": "1"}},
            {"limits": {"cpu": "1", "ephemeral-storage": "1"}, "requests": CPU},
            {"limits": {"cpu": "1", "ephemeral-storage": "1"}, "requests": CPU},
            id="other-names",
        ),
        pytest.param(
            [sized("a", {"cpu": "100u"}), sized("b", {"cpu": "100u"})],
            {"limits": CPU},
            {"limits": CPU, "requests": {"cpu": "1m"}},
            {"limits": CPU, "requests": {"cpu": "2m"}},
            id="summed-before-rounding-and-after",
        ),
        pytest.param(
            [sized("a", {"memory": "1Gi"}), sized("b", {"memory": "1000000"})],
            {"limits": {"memory": "8Gi"}},
            {"limits": {"memory": "8Gi"}, "requests": {"memory": "1074741824"}},
            {"limits": {"memory": "8Gi"}, "requests": {"memory": "1074741824"}},
            id="a-sum-is-printed-anew",
        ),
    ],
)
def test_pod_level(containers: list[Any], given: dict[str, Any], before: dict[str, Any], fixed: dict[str, Any]) -> None:
    assert pod_level(containers, given) == given
    assert pod_level(containers, given, FIX) == given
    assert pod_level(containers, given, POD_LEVEL) == before
    assert pod_level(containers, given, POD_LEVEL, FIX) == fixed


@pytest.mark.parametrize(
    "spec, limits",
    [
        pytest.param({"initContainers": [sized("i", limits={"cpu": "3"})]}, {"cpu": "3"}, id="init-container"),
        pytest.param({"initContainers": [sized("i", limits=CPU, restartPolicy="Always")]}, {"cpu": "2"}, id="sidecar"),
        pytest.param({"initContainers": [sized("i")]}, None, id="init-container-without"),
        pytest.param({"ephemeralContainers": [sized("e")]}, None, id="ephemeral-container"),
    ],
)
def test_pod_level_limits_need_every_container(spec: dict[str, Any], limits: dict[str, str] | None) -> None:
    given = {"requests": CPU}
    assert pod_level([sized(limits=CPU)], given, POD_LEVEL, FIX, **spec).get("limits") == limits


def test_pod_level_objects_are_replaced_not_changed() -> None:
    pod = make(sized(requests=CPU), resources={"limits": {"cpu": "1"}})
    given = pod["spec"]["resources"]
    defaults.pod_level_resources(pod, context_with_only(POD_LEVEL, FIX))
    assert pod["spec"]["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    assert given == {"limits": {"cpu": "1"}}


def test_pod_level_is_not_made() -> None:
    pod = make(sized(requests=CPU, limits=CPU))
    defaults.pod_level_resources(pod, context_with_only(POD_LEVEL, FIX))
    assert "resources" not in pod["spec"]
