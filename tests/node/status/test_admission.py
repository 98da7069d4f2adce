"""Admission to a simulated node: what a kubelet would reject."""

from __future__ import annotations

import pytest

from podstrat.node.status.admission import AFFINITY, Rejection, rejection
from tests.node.fixtures import pod

NODE = {
    "metadata": {"name": "node-1", "labels": {"zone": "a", "gpus": "8"}},
    "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3"}},
}


def asking(name="train", init=(), **requests):
    containers = [{"name": "main", "resources": {"requests": requests}}]
    return pod(name, containers=containers, init=init, statuses=False)


def placed(**spec):
    return pod(spec=spec, statuses=False)


def affinity(key, operator, *values, field="matchExpressions"):
    term = {field: [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}
    return placed(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}})


def short(resource, requested, used, capacity):
    text = f"Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"
    return Rejection(f"OutOf{resource}", text)


ELSEWHERE = Rejection("NodeAffinity", AFFINITY)


@pytest.mark.parametrize(
    "made, others, why",
    [
        pytest.param(asking(cpu="2", memory="1Gi"), [], None, id="fits"),
        pytest.param(asking(cpu="2001m"), [], short("cpu", 2001, 0, 2000), id="cpu"),
        pytest.param(asking(cpu="1"), [asking("b", cpu="1500m")], short("cpu", 1000, 1500, 2000), id="cpu-in-use"),
        pytest.param(asking(memory="2Gi"), [], short("memory", 2 << 30, 0, 1 << 30), id="memory"),
        pytest.param(asking(), [asking("b", cpu="3")], None, id="asks-for-nothing"),
        pytest.param(asking(), [asking("b"), asking("c"), asking("d")], short("pods", 1, 3, 3), id="pods"),
        pytest.param(
            asking(init=[{"name": "once", "resources": {"requests": {"cpu": "3"}}}]), [], short("cpu", 3000, 0, 2000), id="init"
        ),
        pytest.param(placed(nodeSelector={"zone": "a"}), [], None, id="selector"),
        pytest.param(placed(nodeSelector={"zone": "b"}), [], ELSEWHERE, id="another-zone"),
        pytest.param(affinity("zone", "In", "a", "b"), [], None, id="in"),
        pytest.param(affinity("zone", "NotIn", "a"), [], ELSEWHERE, id="not-in"),
        pytest.param(affinity("rack", "Exists"), [], ELSEWHERE, id="exists"),
        pytest.param(affinity("rack", "DoesNotExist"), [], None, id="does-not-exist"),
        pytest.param(affinity("gpus", "Gt", "7"), [], None, id="gt"),
        pytest.param(affinity("gpus", "Lt", "8"), [], ELSEWHERE, id="lt"),
        pytest.param(affinity("zone", "Gt", "7"), [], ELSEWHERE, id="not-a-number"),
        pytest.param(affinity("metadata.name", "In", "node-1", field="matchFields"), [], None, id="field"),
        pytest.param(affinity("metadata.name", "In", "node-2", field="matchFields"), [], ELSEWHERE, id="another-field"),
    ],
)
def test_what_a_node_admits(made, others, why):
    assert rejection(made, NODE, others) == why
