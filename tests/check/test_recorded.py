"""What a real server answered is what the check says about the same pod in a file, and it points at the right place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from podstrat.check import inputs, pipeline, yaml_writer
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.report import Finding, Result
from tests.check import recorded
from tests.check.recorded import Case, Marks
from tests.conformance import compare, workloads

ENOUGH = 0.98
"""The share of errors that point exactly."""


def evaluators(version: str = "1.37") -> dict[str, Evaluator]:
    settings = Settings(version, status=True, namespace="default")
    return {each: Evaluator(settings._replace(validation=each)) for each in ("Warn", "Strict", "Ignore")}


class Checked(NamedTuple):
    """A case, its file, and what the check says about it."""

    case: Case
    text: str
    result: Result


@pytest.fixture(scope="module")
def everything() -> list[Checked]:
    made = evaluators()
    texts = [(case, recorded.text(case)) for case in recorded.cases()]
    return [Checked(case, text, checked(text, made[case.validation])) for case, text in texts]


def checked(text: str, evaluator: Evaluator) -> Result:
    (result,) = pipeline.check(inputs.Piece("pod.yaml", text=text.encode()), evaluator).results
    return result


def record(result: Result, want: dict[str, Any]) -> dict[str, Any]:
    """A result in the form of the record. Of an accepted pod only the code and the warnings are told."""
    made: dict[str, Any] = {"code": result.code}
    if result.code >= 300:
        made["body"] = compare.in_recorded_order(compare.clean(result.status), want.get("body"))
    warnings = [each.message for each in result.warnings if each.type == "Warning"]
    return made | ({"warnings": warnings} if warnings else {})


def differences(found: Iterable[Checked]) -> list[str]:
    """The cases that came out otherwise than they were recorded."""
    lines = []
    for case, _, result in found:
        want = {key: value for key, value in case.want.items() if key != "body" or case.want["code"] >= 300}
        if why := compare.first_difference(want, record(result, want)):
            lines.append(f"{case.id}: {why}")
        assert result.valid == (case.want["code"] < 300), case.id
    return lines


def test_every_create_case_has_the_recorded_verdict_and_words(everything: list[Checked]) -> None:
    assert differences(everything) == []
    assert len(everything) > 3600


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_older_releases(version: str) -> None:
    made = evaluators(version)
    found = [Checked(case, "", checked(recorded.text(case), made[case.validation])) for case in recorded.cases(version)]
    assert differences(found) == []
    assert len(found) > 1000


def test_the_whole_command_says_the_same(podstrat: Any, tmp_path: Any) -> None:
    """A directory with a file for each case that is refused, through the command line and two processes."""
    cases = [case for case in recorded.cases() if case.want["code"] >= 300 and case.validation == "Warn"]
    for i, case in enumerate(cases):
        (tmp_path / f"{i:05}.yaml").write_text(recorded.text(case))
    done = podstrat("check", ".", "-n", "default", "--as", "raw", "--field-validation", "warn", "-o", "status", "-j", 2)
    assert done.code == 1
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert len(answers) == len(cases) > 1000
    for case, answer in zip(cases, answers, strict=True):
        got = compare.in_recorded_order(compare.clean(answer), case.want["body"])
        assert compare.first_difference(case.want["body"], got) is None, case.id


def test_errors_point_at_the_offending_node(everything: list[Checked]) -> None:
    """Of 2007 errors all have a line and a column, and 2000 point exactly where another reader of YAML has the node."""
    total, missed = 0, []
    for case, text, result in everything:
        if result.valid:
            continue
        marks, lines = Marks(text), text.splitlines()
        for error in result.errors:
            total += 1
            assert 1 <= error.line <= len(lines), case.id
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1, case.id
            if (error.line, error.column) not in places(error, case, marks):
                missed.append(f"{case.id}: {error.message}")
    assert total > 2000
    assert 1 - len(missed) / total >= ENOUGH, "\n".join(missed)


def places(error: Finding, case: Case, marks: Marks) -> set[recorded.Mark]:
    """Where an error may point. A 400 names no place: there what the case changes in a plain pod is to blame."""
    if error.type not in ("BadRequest", "InternalError"):
        return recorded.expected(error.field, error.value, case.body, marks)
    edits = [tuple(recorded._steps(".".join(f"[{step}]" for step in pointer(path)))) for path in case.edits]
    everything = [*marks.values.items(), *marks.keys.items()]
    return {mark for place, mark in everything if any(place[: len(edit)] == edit for edit in edits)}


def pointer(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def test_values_of_errors_are_json(everything: list[Checked]) -> None:
    values = [error.value for each in everything for error in each.result.errors]
    assert json.loads(json.dumps(values)) == values


def test_every_workload_has_the_recorded_verdict_and_words() -> None:
    evaluator = Evaluator(Settings(validation="Warn", status=True))
    found, seen = [], 0
    for case in workloads.cases():
        if not workloads.is_answered(case) or case["id"] in recorded.NOT_IN_YAML:
            continue
        seen += 1
        want = case["want"]
        result = checked(yaml_writer.text(case["body"]), evaluator)
        if why := compare.first_difference(want, record(result, want)):
            found.append(f"{case['id']}: {why}")
    assert found == []
    assert seen > 300
