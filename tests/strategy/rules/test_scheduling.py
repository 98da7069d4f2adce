"""Gates, preemption, overhead and groups."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import scheduling
from tests.strategy.make import context, lines


def test_readiness_gates():
    given = [{"conditionType": name} for name in ("www.example.com/feature-1", "a", "a", "")]
    assert lines(scheduling.readiness_gates(given, "spec.readinessGates", context())) == [
        'spec.readinessGates[3].conditionType: Invalid value: "": name part must be non-empty',
        f'spec.readinessGates[3].conditionType: Invalid value: "": {validation.NAME_PART}',
    ]


def test_gates_are_named_once():
    given = [{"name": name} for name in ("a", "-", "a", "-")]
    found = list(scheduling.gates(given, "spec.schedulingGates", context()))
    assert lines(found) == [
        f'spec.schedulingGates[1]: Invalid value: "-": {validation.NAME_PART}',
        'spec.schedulingGates[2]: Duplicate value: "a"',
        f'spec.schedulingGates[3]: Invalid value: "-": {validation.NAME_PART}',
        'spec.schedulingGates[3]: Duplicate value: "-"',
    ]
    assert [error.where for error in found] == [("spec", "schedulingGates", i, "name") for i in (1, 2, 3, 3)]


def test_keys_are_measured_in_characters_in_1_34():
    (error,) = scheduling.gates([{"name": "a" * 64}], "spec.schedulingGates", context("1.34"))
    assert error.detail == "name part must be no more than 63 characters"
    (error,) = scheduling.readiness_gates([{"conditionType": "a" * 64}], "spec.readinessGates", context("1.34"))
    assert error.detail == "name part must be no more than 63 characters"


@pytest.mark.parametrize(
    "policy, errors",
    [
        pytest.param("Never", [], id="never"),
        pytest.param("PreemptLowerPriority", [], id="lower"),
        pytest.param("", ["spec.p: Required value"], id="none"),
        pytest.param(
            "Always", ['spec.p: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'], id="other"
        ),
    ],
)
def test_preemption_policy(policy, errors):
    assert lines(scheduling.preemption_policy(policy, "spec.p")) == errors


@pytest.mark.parametrize(
    "overhead, errors, places",
    [
        pytest.param({"cpu": "1", "memory": "1Mi"}, [], [], id="ordinary"),
        pytest.param(
            {"cpu": "-1"},
            ['spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
            [("spec", "overhead", "cpu")],
            id="negative",
        ),
        pytest.param(
            {"pods": "1"},
            ['spec.overhead.limits[pods]: Invalid value: "pods": must be a standard resource for containers'],
            [("spec", "overhead", "pods")],
            id="not-for-containers",
        ),
        pytest.param(
            {"hugepages-2Mi": "2Mi"},
            ["spec.overhead: Forbidden: HugePages require cpu or memory"],
            [("spec", "overhead")],
            id="pages",
        ),
    ],
)
def test_overhead(overhead, errors, places):
    found = list(scheduling.overhead({"overhead": overhead}, "spec.overhead", context()))
    assert lines(found) == errors
    assert [error.where for error in found] == places


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"schedulingGroup": {"podGroupName": "pg.example.com"}, "evictionResponders": []}, [], id="ordinary"),
        pytest.param(
            {"schedulingGroup": {}}, [".podGroupName: Invalid value: null: must specify one of: `podGroupName`"], id="none"
        ),
        pytest.param(
            {"schedulingGroup": {"podGroupName": ""}, "evictionResponders": [{"name": "x", "priority": None}]},
            [
                f'.podGroupName: Invalid value: "": {validation.DNS_SUBDOMAIN}',
                ": Forbidden: may not be set when evictionResponders is set",
            ],
            id="bad-and-with-responders",
        ),
    ],
)
def test_group(spec, errors):
    assert lines(scheduling.group(spec, "spec.schedulingGroup")) == [f"spec.schedulingGroup{error}" for error in errors]


@pytest.mark.parametrize(
    "reference, errors",
    [
        pytest.param({"name": "w.example.com", "podGroup": "g", "podGroupReplicaKey": "0"}, [], id="ordinary"),
        pytest.param({"name": "w", "podGroup": "g"}, [], id="no-replica"),
        pytest.param(
            {"name": "", "podGroup": "", "podGroupReplicaKey": "a.b"},
            [
                f'.name: Invalid value: "": {validation.DNS_SUBDOMAIN}',
                f'.podGroup: Invalid value: "": {validation.DNS_LABEL}',
                '.podGroupReplicaKey: Invalid value: "a.b": must not contain dots',
            ],
            id="everything",
        ),
    ],
)
def test_workload(reference, errors):
    assert lines(scheduling.workload(reference, "spec.workloadRef")) == [f"spec.workloadRef{error}" for error in errors]
