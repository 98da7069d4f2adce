"""What objects use up of a quota."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from podstrat.strategy.admission import pod_totals
from podstrat.strategy.admission.quota import scopes, usage
from podstrat.strategy.engine import Engine
from tests.strategy import make

Object = dict[str, Any]

CTX = Engine("1.37").context
NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


def used(obj: Object, resource: str) -> dict[str, str]:
    return {name: amount.text for name, amount in usage.of(obj, resource, CTX, NOW).items()}


def resized(status: Object, *conditions: Object) -> Object:
    """A pod that asks for 200m of cpu, and has what its container status says."""
    pod = make.pod()
    container = {**pod["spec"]["containers"][0], "resources": {"requests": {"cpu": "200m"}, "limits": {"cpu": "400m"}}}
    statuses = [{"name": container["name"], **status}]
    return {
        **pod,
        "spec": {**pod["spec"], "containers": [container]},
        "status": {"containerStatuses": statuses, "conditions": list(conditions)},
    }


INFEASIBLE = {"type": "PodResizePending", "reason": "Infeasible"}


@pytest.mark.parametrize(
    "pod, requests, limits",
    [
        pytest.param(resized({}), "200m", "400m", id="no-status"),
        pytest.param(resized({"resources": {"requests": {"cpu": "500m"}}}), "500m", "400m", id="status-is-more"),
        pytest.param(
            resized({"resources": {"limits": {"cpu": "1"}}, "allocatedResources": {"cpu": "300m"}}), "300m", "1", id="allocated"
        ),
        pytest.param(
            resized({"resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "100m"}}}, INFEASIBLE),
            "100m",
            "100m",
            id="infeasible",
        ),
    ],
)
def test_a_resized_pod_counts_with_what_it_has(pod: Object, requests: str, limits: str) -> None:
    assert pod_totals.requests(pod, CTX)["cpu"].text == requests
    assert pod_totals.limits(pod, CTX)["cpu"].text == limits
    assert pod_totals.requests(pod, CTX, with_status=False)["cpu"].text == "200m"


@pytest.mark.parametrize(
    "spec, node_ports, balancers",
    [
        pytest.param({"type": "ClusterIP", "ports": [{}]}, "0", "0", id="cluster-ip"),
        pytest.param({"type": "NodePort", "ports": [{}, {}]}, "2", "0", id="node-port"),
        pytest.param({"type": "LoadBalancer", "ports": [{}, {}]}, "2", "1", id="load-balancer"),
        pytest.param(
            {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"nodePort": 30000}, {}]},
            "1",
            "1",
            id="without-node-ports",
        ),
    ],
)
def test_services(spec: Object, node_ports: str, balancers: str) -> None:
    assert used({"spec": spec}, "services") == {
        "services": "1",
        "count/services": "1",
        "services.nodeports": node_ports,
        "services.loadbalancers": balancers,
    }


def test_the_greater_of_requested_and_allocated_storage_counts() -> None:
    spec = {"resources": {"requests": {"storage": "1Gi"}}}
    assert used({"spec": spec, "status": {"allocatedResources": {"storage": "2Gi"}}}, usage.CLAIMS)["requests.storage"] == "2Gi"


@pytest.mark.parametrize(
    "metadata, status",
    [
        pytest.param({}, {"phase": "Succeeded"}, id="succeeded"),
        pytest.param({}, {"phase": "Failed"}, id="failed"),
        pytest.param({"deletionTimestamp": "2026-11-17T11:00:00Z", "deletionGracePeriodSeconds": 30}, {}, id="past-its-grace"),
    ],
)
def test_a_pod_that_has_ended_only_counts_as_an_object(metadata: Object, status: Object) -> None:
    assert used({**make.pod(), "metadata": metadata, "status": status}, "pods") == {"count/pods": "1"}


def test_a_scope_prints_as_go_prints_it() -> None:
    assert str(scopes.Selector("PriorityClass", "In", ("a", "b"))) == "{PriorityClass In [a b]}"
