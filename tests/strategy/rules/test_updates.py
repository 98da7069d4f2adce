"""What an update of a pod may change."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from tests.strategy import make

Object = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HAS_K = {"key": "k", "operator": "Exists"}
NO_REMOVAL = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"


def changed(before: Object, **after: Any) -> tuple[list[str], int]:
    """The errors of changing a gated pod from one spec to another, and the generation that it has then."""
    engine = Engine("1.37")
    old = engine.create(make.pod(schedulingGates=[{"name": "example.com/g"}], **before)).pod or {}
    outcome = engine.update({**old, "spec": {**old["spec"], **after}}, old)
    return [str(error) for error in outcome.errors], (outcome.pod or {})["metadata"]["generation"]


def requiring(*expressions: Object) -> Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}


@pytest.mark.parametrize(
    "selector, shown",
    [
        pytest.param({"b": "2"}, '{"b":"2"}', id="other"),
        pytest.param({}, "{}", id="empty"),
        pytest.param(None, "null", id="none"),
    ],
)
def test_a_gated_pod_keeps_its_node_selector(selector: Object | None, shown: str) -> None:
    errors, _ = changed({"nodeSelector": {"a": "1"}}, nodeSelector=selector)
    assert errors == [f"spec.nodeSelector: Invalid value: {shown}: {NO_REMOVAL}"]


@pytest.mark.parametrize(
    "expressions, generation",
    [
        pytest.param([HAS_K], 1, id="same"),
        pytest.param([{**HAS_K, "values": []}], 1, id="empty-list-is-as-good-as-none"),
        pytest.param([{**HAS_K, "values": []}, {"key": "l", "operator": "Exists"}], 2, id="one-added"),
    ],
)
def test_a_gated_pod_may_require_more_of_a_node(expressions: list[Object], generation: int) -> None:
    assert changed({"affinity": requiring(HAS_K)}, affinity=requiring(*expressions)) == ([], generation)


def test_a_new_gate_that_is_named_twice_counts_once() -> None:
    errors, _ = changed({}, schedulingGates=[{"name": "example.com/g"}, {"name": "x.y/n"}, {"name": "x.y/n"}])
    assert errors == [
        'spec.schedulingGates[2]: Duplicate value: "x.y/n"',
        "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'x.y/n'",
    ]


def test_an_empty_list_of_init_containers_is_no_difference() -> None:
    (error,), _ = changed({}, initContainers=[], hostname="h")
    assert [line for line in error.splitlines() if line[:1] in "+-"] == ['- "Hostname": "",', '+ "Hostname": "h",']
