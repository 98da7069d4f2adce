"""Evictions and the budgets that hold them back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.request import Remove, Request, Store, StoreBudget
from tests.strategy import make

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
engine = Engine("1.37")


def running(*conditions: dict[str, Any], on: Engine = engine) -> dict[str, Any]:
    stored = on.bind(on.create(make.pod()).pod or {}, "node-1").pod or {}
    ready = [{"type": "Ready", "status": "True"}] if not conditions else list(conditions)
    return on.update_status(make.status(stored, phase="Running", conditions=ready), stored).pod or {}


def budget(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "pdb", "namespace": "default", "generation": 1}, "status": {"observedGeneration": 1, **status}}


def causes(outcome: Outcome) -> list[str]:
    return [cause["message"] for cause in outcome.status()["details"]["causes"]]


def test_a_budget_with_room_lets_go_and_counts() -> None:
    outcome = engine.evict(running(), budgets=[budget(disruptionsAllowed=2)], now=NOW)
    counted, condition, deleted = outcome.answer.effects
    assert isinstance(counted, StoreBudget)
    assert counted.budget["status"]["disruptionsAllowed"] == 1
    assert counted.budget["status"]["disruptedPods"] == {"p": "2026-01-01T00:00:00Z"}
    assert isinstance(condition, Store)
    assert condition.pod["status"]["conditions"][-1]["type"] == "DisruptionTarget"
    assert isinstance(deleted, Store)
    assert deleted.pod["metadata"]["deletionGracePeriodSeconds"] == 30


@pytest.mark.parametrize(
    "release, status, cause",
    [
        pytest.param(
            "1.37",
            {"desiredHealthy": 2, "currentHealthy": 2},
            "The disruption budget pdb needs 2 healthy pods and has 2 currently",
            id="too-few",
        ),
        pytest.param(
            "1.34",
            {"desiredHealthy": 1, "currentHealthy": 5},
            "The disruption budget pdb needs 1 healthy pods and has 5 currently",
            id="the-only-sentence-of-1.34",
        ),
        pytest.param(
            "1.37",
            {
                "desiredHealthy": 1,
                "currentHealthy": 5,
                "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "why"}],
            },
            "The disruption budget pdb does not allow evicting pods currently because it failed sync: why",
            id="sync-failed",
        ),
        pytest.param(
            "1.37",
            {
                "desiredHealthy": 1,
                "currentHealthy": 5,
                "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "R", "message": "why"}],
            },
            "The disruption budget pdb does not allow evicting pods currently (R): why",
            id="another-reason",
        ),
        pytest.param(
            "1.37",
            {"desiredHealthy": 1, "currentHealthy": 5},
            "The disruption budget pdb does not allow evicting pods currently",
            id="no-reason",
        ),
    ],
)
def test_a_budget_without_room_says_why(release: str, status: dict[str, Any], cause: str) -> None:
    server = Engine(release)
    outcome = server.evict(running(on=server), budgets=[budget(disruptionsAllowed=0, **status)])
    assert (outcome.code, outcome.status()["message"]) == (429, REFUSED)
    assert causes(outcome) == [cause]
    assert outcome.answer.effects == ()


def test_a_budget_that_is_behind_asks_for_patience() -> None:
    late = budget(disruptionsAllowed=1)
    late["metadata"]["generation"] = 2
    outcome = engine.evict(running(), budgets=[late])
    assert causes(outcome) == ["The disruption budget pdb is still being processed by the server."]
    assert outcome.status()["details"]["retryAfterSeconds"] == 10


@pytest.mark.parametrize(
    "status, text",
    [
        pytest.param({"disruptionsAllowed": -1}, "pdb disruptions allowed is negative", id="negative"),
        pytest.param(
            {"disruptionsAllowed": 1, "disruptedPods": {str(i): "" for i in range(2001)}},
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            id="too-many-unconfirmed",
        ),
    ],
)
def test_a_broken_budget_forbids(status: dict[str, Any], text: str) -> None:
    outcome = engine.evict(running(), budgets=[budget(**status)])
    assert outcome.code == 403
    assert outcome.status()["message"] == f'poddisruptionbudget.policy "pdb" is forbidden: {text}'


def test_two_budgets_are_one_too_many() -> None:
    outcome = engine.evict(running(), budgets=[budget(), budget()])
    assert outcome.code == 500
    assert "more than one PodDisruptionBudget" in outcome.status()["message"]


@pytest.mark.parametrize(
    "policy, status, goes",
    [
        pytest.param("AlwaysAllow", {"disruptionsAllowed": 0}, True, id="always"),
        pytest.param("IfHealthyBudget", {"desiredHealthy": 1, "currentHealthy": 1}, True, id="healthy-budget"),
        pytest.param("IfHealthyBudget", {"desiredHealthy": 1, "currentHealthy": 0}, False, id="unhealthy-budget"),
    ],
)
def test_a_pod_that_is_not_ready_may_go_as_the_policy_says(policy: str, status: dict[str, Any], goes: bool) -> None:
    covering = {**budget(**status), "spec": {"unhealthyPodEvictionPolicy": policy}}
    outcome = engine.evict(running({"type": "Ready", "status": "False"}), budgets=[covering])
    assert outcome.ok is goes


def test_a_dry_run_changes_nothing() -> None:
    asked = {"dryRun": ["All"]}
    outcome = engine.evict(running(), delete_options=asked, budgets=[budget(disruptionsAllowed=1)])
    assert (outcome.code, outcome.answer.effects) == (201, ())


def test_the_query_and_the_body_agree_on_a_dry_run() -> None:
    body = {"metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["All", "All"]}}
    answer = engine.answer(Request("create", "eviction", body, options={"dryRun": "All"}, name="p"), running())
    assert answer.body["message"] == "Non-matching dry-run options in request and content: [All] and [All All]"


def test_an_option_for_unreadable_objects_is_refused() -> None:
    outcome = engine.evict(running(), delete_options={"ignoreStoreReadErrorWithClusterBreakingPotential": True})
    assert outcome.code == 422
    assert outcome.status()["details"]["causes"][0]["field"].startswith("deleteOptions.")


def test_a_failing_delete_leaves_the_condition_behind() -> None:
    outcome = engine.evict(running(), delete_options={"propagationPolicy": "Sideways"})
    assert outcome.code == 422
    (left,) = outcome.answer.effects
    assert isinstance(left, Store)
    assert left.pod["status"]["conditions"][-1]["reason"] == "EvictionByEvictionAPI"


def test_a_status_that_is_not_valid_stops_the_eviction() -> None:
    stored = running()
    stored["status"]["conditions"].append({"type": "not a name", "status": "True"})
    outcome = engine.evict(stored)
    assert outcome.code == 422
    assert outcome.answer.effects == ()


def test_an_unbound_pod_is_gone_at_once() -> None:
    outcome = engine.evict(engine.create(make.pod()).pod or {})
    assert outcome.removed
    assert isinstance(outcome.answer.effects[-1], Remove)


@pytest.mark.parametrize(
    "options, code, effects",
    [
        pytest.param({"preconditions": {"resourceVersion": ""}}, 201, 2, id="empty-version"),
        pytest.param({"preconditions": {"resourceVersion": "x"}}, 409, 0, id="other-version"),
        pytest.param({"preconditions": {"uid": ""}}, 409, 1, id="empty-uid-fails-after-the-condition"),
        pytest.param({"preconditions": {"uid": ""}, "dryRun": ["All"]}, 409, 0, id="empty-uid-dry-run"),
        pytest.param({"preconditions": {"resourceVersion": ""}, "dryRun": ["All"]}, 409, 0, id="empty-version-dry-run"),
        pytest.param({"preconditions": {"uid": "x"}, "propagationPolicy": "X"}, 409, 0, id="uid-before-options"),
        pytest.param(
            {"preconditions": {"uid": "x"}, "propagationPolicy": "X", "dryRun": ["All"]}, 422, 0, id="dry-run-options-first"
        ),
        pytest.param({"propagationPolicy": "X"}, 422, 1, id="options-after-the-condition"),
    ],
)
def test_preconditions(options: Any, code: int, effects: int) -> None:
    stored = running()
    stored["metadata"] |= {"uid": "u", "resourceVersion": "5"}
    answer = engine.evict(stored, delete_options=options, now=NOW).answer
    assert (answer.code, len(answer.effects)) == (code, effects)
