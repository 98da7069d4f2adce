"""Workloads get the answers that a real server gave, and every error knows its place in the workload that was sent."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.workloads import KINDS
from tests.conformance.workloads import VERSION, cases, is_answered, verdicts


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_answer_agrees(kind: str) -> None:
    found = list(verdicts(kind))
    assert found, "no case of that kind"
    assert [f"{each.id}: {each.why}" for each in found if not each.whole] == []


def test_all_but_two_cases_are_answered() -> None:
    assert [case["id"] for case in cases() if not is_answered(case)] == [
        "workload/Deployment/create/security/hostProcess/pod-true-container-false",
        "workload/ReplicaSet/create/quantity/divisor/memory-1000",
    ]


def test_every_error_has_its_place() -> None:
    """All of the place is there, but for a field that is absent, or an object with it."""
    engine, lost, seen = Engine(VERSION), [], 0
    for case in cases():
        for error in engine.workload(case["body"]).errors:
            seen += 1
            if _missing(case["body"], error.where) > 2:
                lost.append(f"{case['id']}: {error.field} {error.where}")
    assert lost == []
    assert seen > 500


def _missing(value: Any, place: tuple[str | int, ...]) -> int:
    """How many steps of a place are not there."""
    for i, step in enumerate(place):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return len(place) - i
    return 0
