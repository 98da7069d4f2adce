"""What a real server answered to an update of another kind than the pod is what the check says about the two files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from podstrat.check import inputs, pipeline, updates, yaml_writer
from podstrat.check.evaluate import Settings
from podstrat.strategy.engine import Engine
from tests.conformance.recorded import edited, kind_recordings

UID = "4d1e2f30-0000-4000-8000-000000000000"


class Case(NamedTuple):
    id: str
    old: dict[str, Any]
    new: dict[str, Any]
    want: dict[str, Any]


def cases(name: str) -> Iterator[Case]:
    """Objects that were created and then replaced, as edits of what the server had stored."""
    engine = Engine()
    recording = next(each for each in kind_recordings() if each.name == name)
    for case in recording.cases():
        first, *rest = case["steps"]
        if [first["do"], *(step["do"] for step in rest)] != ["create", "replace"] or not rest[0].keys() <= {"do", "edit"}:
            continue
        if case["want"][0]["code"] != 201 or "raw" in first:
            continue
        stored = engine.create_object(first["body"]).pod
        assert stored is not None, case["id"]
        stored["metadata"] |= {"uid": UID, "resourceVersion": "70", "creationTimestamp": "2026-01-01T00:00:00Z"}
        yield Case(case["id"], stored, edited(stored, rest[0]["edit"]), case["want"][1])


@pytest.mark.parametrize(
    "name, least", [pytest.param("workloads-full-1.37", 650, id="workloads"), pytest.param("kinds-1.37", 100, id="other-kinds")]
)
def test_updates_have_the_recorded_verdict(name: str, least: int, write: Any) -> None:
    wrong, seen = [], 0
    for case in cases(name):
        if not yaml_says_the_same(case.new) or not sent_as_it_is(case.new):
            continue
        evaluator = updates.evaluator(write("old.yaml", yaml_writer.text(case.old)), Settings(validation="Warn"), "", "auto")
        piece = inputs.Piece("new.yaml", text=yaml_writer.text(case.new).encode())
        (result,) = pipeline.check(piece, evaluator).results
        if result.update is not None and result.update["allowed"] is None:
            continue  # it names another object
        seen += 1
        causes = [(each["reason"], each.get("field", "")) for each in causes_of(case.want)]
        said = [(each.type, each.field) for each in result.errors] if result.code == 422 else []
        if (result.code, sorted(said)) != (case.want["code"], sorted(causes)):
            wrong.append(f"{case.id}: {result.code} {said}, recorded {case.want['code']} {causes}")
    assert wrong == []
    assert seen >= least


def causes_of(want: dict[str, Any]) -> list[dict[str, str]]:
    return (want["body"].get("details") or {}).get("causes") or [] if want["code"] == 422 else []


def sent_as_it_is(new: dict[str, Any]) -> bool:
    """kubectl sends nothing that does not say what it is, and adds the version of what is stored to what names none."""
    return bool(new.get("kind") and new.get("apiVersion") and new["metadata"].get("resourceVersion"))


def yaml_says_the_same(value: Any) -> bool:
    """Whether a file can say it: of a number only its value counts there."""
    if isinstance(value, (dict, list)):
        return all(map(yaml_says_the_same, value.values() if isinstance(value, dict) else value))
    return not (isinstance(value, float) and value.is_integer())
