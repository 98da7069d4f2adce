"""The engine as people use it: pods in, outcomes out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.gates.history import GateError, VersionError
from podstrat.strategy.request import Request, Store
from tests.strategy import make

NOW = datetime(2026, 1, 1, tzinfo=UTC)
engine = Engine("1.37")


def bound(**spec: Any) -> dict[str, Any]:
    return engine.bind(engine.create(make.pod(**spec)).pod or {}, "n1", now=NOW).pod or {}


def test_an_accepted_pod() -> None:
    outcome = engine.create(make.pod(), now=NOW)
    assert outcome.ok
    assert outcome.code == 201
    assert outcome.status()["status"] == "Success"
    assert (outcome.pod or {})["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert isinstance(outcome.answer.effects[0], Store)


def test_a_refused_pod_says_everything() -> None:
    outcome = engine.create(make.pod(restartPolicy="Sometimes", dnsPolicy="Never"))
    assert [error.field for error in outcome.errors] == ["spec.restartPolicy", "spec.dnsPolicy"]
    assert outcome.status()["reason"] == "Invalid"
    assert outcome.pod is not None
    assert outcome.answer.effects == ()


def test_a_pod_keeps_its_namespace() -> None:
    pod = make.pod()
    pod["metadata"]["namespace"] = "team-a"
    assert (engine.create(pod).pod or {})["metadata"]["namespace"] == "team-a"


def test_a_stored_pod_that_is_none_is_refused() -> None:
    outcome = engine.update(make.pod(), {"spec": 5})
    assert outcome.code == 400
    assert outcome.pod is None


@pytest.mark.parametrize(
    "arguments, error",
    [
        pytest.param({"version": "1.20"}, VersionError, id="a-release-we-do-not-have"),
        pytest.param({"gates": {"Nonsense": True}}, GateError, id="a-gate-that-is-none"),
        pytest.param({"gates": {"DynamicResourceAllocation": False}}, GateError, id="a-gate-that-is-locked"),
    ],
)
def test_settings_that_no_server_takes(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Engine(**arguments)


@pytest.mark.parametrize(
    "verb, subresource",
    [
        pytest.param("update", "binding", id="put-binding"),
        pytest.param("create", "status", id="post-status"),
        pytest.param("delete", "status", id="delete-status"),
        pytest.param("watch", "", id="no-verb-of-ours"),
    ],
)
def test_what_is_not_allowed(verb: str, subresource: str) -> None:
    answer = engine.answer(Request(verb, subresource, name="p"), None)
    assert (answer.code, answer.body["reason"]) == (405, "MethodNotAllowed")


def test_names_are_made_from_generate_name() -> None:
    pod = make.pod()
    pod["metadata"] = {"generateName": "web-"}
    answer = engine.answer(Request("create", body=pod, suffix="x7k2p", uid="u-1"), None)
    assert answer.body["metadata"]["name"] == "web-x7k2p"
    assert answer.body["metadata"]["uid"] == "u-1"


def test_deletes_move_the_deadline_forward_only() -> None:
    stored = engine.delete(bound(), now=NOW).pod or {}
    assert stored["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    longer = engine.delete(stored, delete_options={"gracePeriodSeconds": 60}, now=NOW)
    assert longer.answer.effects == ()
    shorter = engine.delete(stored, delete_options={"gracePeriodSeconds": 5}, now=NOW).pod or {}
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    late = engine.delete(stored, delete_options={"gracePeriodSeconds": 5}, now=NOW + timedelta(seconds=20)).pod or {}
    assert late["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:20Z"
    assert late["metadata"]["deletionGracePeriodSeconds"] == 1


def test_a_delete_that_leaves_dependents_waits() -> None:
    outcome = engine.delete(bound(), delete_options={"orphanDependents": False}, now=NOW)
    assert outcome.code == 202


@pytest.mark.parametrize(
    "query, code",
    [
        pytest.param({"gracePeriodSeconds": "0"}, 200, id="grace"),
        pytest.param({"propagationPolicy": "Orphan"}, 200, id="policy"),
        pytest.param({"orphanDependents": "false"}, 202, id="dependents"),
        pytest.param({"gracePeriodSeconds": "soon"}, 400, id="no-number"),
        pytest.param({"dryRun": "Some"}, 422, id="dry-run"),
        pytest.param({"orphanDependents": ""}, 200, id="nothing-said-is-true"),
        pytest.param({"orphanDependents": "0"}, 202, id="zero-is-false"),
    ],
)
def test_delete_options_in_the_query(query: dict[str, str], code: int) -> None:
    assert engine.answer(Request("delete", options=query, name="p", now=NOW), bound()).code == code


def test_the_unsafe_delete_goes_with_no_other_option() -> None:
    options: dict[str, Any] = {
        "ignoreStoreReadErrorWithClusterBreakingPotential": True,
        "dryRun": ["All"],
        "orphanDependents": True,
        "gracePeriodSeconds": 0,
        "preconditions": {},
    }
    answer = engine.delete(bound(), delete_options=options, now=NOW).answer
    at = "ignoreStoreReadErrorWithClusterBreakingPotential"
    assert [(cause["field"], cause["message"]) for cause in answer.body["details"]["causes"]] == [
        (at, f"Invalid value: true: cannot be set together with .{name}")
        for name in ("orphanDependents", "gracePeriodSeconds", "preconditions")
    ]
    before = Engine("1.36")
    assert before.delete(bound(), delete_options=options, now=NOW).code == 200
    gated = Engine("1.36", gates={"AllowUnsafeMalformedObjectDeletion": True})
    causes = gated.delete(bound(), delete_options=options, now=NOW).status()["details"]["causes"]
    assert causes[0]["message"] == "Invalid value: true: cannot be set together with .dryRun"


OLD = "pod.beta.kubernetes.io/init-containers"


@pytest.mark.parametrize(
    "version, given, kept",
    [
        ("1.34", {OLD: "[]"}, {}),
        ("1.36", {OLD: "[]", "a": "b"}, {"annotations": {"a": "b"}}),
        # Only the strategy drops them now, and a binding goes past it.
        ("1.37", {OLD: "[]"}, {"annotations": {OLD: "[]"}}),
    ],
)
def test_a_binding_may_bring_annotations_of_old_init_containers(version: str, given: Any, kept: Any) -> None:
    engine = Engine(version)
    stored = engine.create(make.pod()).pod or {}
    body = {"metadata": {"name": "p", "annotations": given}, "target": {"kind": "Node", "name": "n"}}
    outcome = engine.answer(Request("create", "binding", body, name="p", now=NOW), stored)
    (effect,) = outcome.effects
    assert isinstance(effect, Store)
    assert {key: value for key, value in effect.pod["metadata"].items() if key == "annotations"} == kept


def test_a_negative_stored_grace_period_counts_as_one() -> None:
    stored = bound()
    stored["spec"] = {**stored["spec"], "terminationGracePeriodSeconds": -3}
    answer = engine.answer(Request("delete", name="p", now=NOW), stored)
    assert answer.body["metadata"]["deletionGracePeriodSeconds"] == 1


@pytest.mark.parametrize(
    "name, text",
    [
        pytest.param("x" * 129, "fieldManager: Too long: may not be more than 128 bytes", id="long"),
        pytest.param("a\x01", 'fieldManager: Invalid value: "a\\x01": invalid character U+0001 (at position 1)', id="odd"),
    ],
)
def test_a_field_manager_has_a_printable_name(name: str, text: str) -> None:
    outcome = engine.create(make.pod(), options={"fieldManager": name})
    assert outcome.status()["message"] == f'CreateOptions.meta.k8s.io "" is invalid: {text}'


def test_force_is_for_apply() -> None:
    outcome = engine.patch({}, bound(), options={"force": "true"})
    assert "force: Forbidden: may not be specified for non-apply patch" in outcome.status()["message"]


def test_resource_versions_are_numbers() -> None:
    stored = bound()
    stored["metadata"]["resourceVersion"] = "7"
    sent = {**stored, "metadata": {**stored["metadata"], "resourceVersion": str(2**64)}}
    outcome = engine.update(sent, stored)
    assert outcome.status()["message"] == f'strconv.ParseUint: parsing "{2**64}": value out of range'


def test_a_name_that_is_still_to_be_made_is_no_fault() -> None:
    pod = make.pod()
    pod["metadata"] = {"generateName": "web-"}
    assert engine.create(pod).ok


def test_an_update_shares_nothing_with_the_objects_it_was_given():
    stored = Engine().create(make.pod()).pod
    outcome = Engine().update({**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}}, stored)
    assert outcome.pod["spec"] == stored["spec"]
    outcome.pod["spec"]["containers"][0]["image"] = "other"
    outcome.pod["status"]["phase"] = "Running"
    assert stored == Engine().create(make.pod()).pod
