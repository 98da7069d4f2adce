"""--fix: edits where there is exactly one right answer; everything else in the file stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podstrat.check import fixes
from podstrat.check.evaluate import Evaluator, Settings
from tests.check.conftest import GOOD

GOLDENS = Path(__file__).parent / "goldens" / "fixes"
NAMES = sorted(path.name.removesuffix(".before.yaml") for path in GOLDENS.glob("*.before.yaml"))
CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").rglob("*.yaml"))


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator(Settings(send="apply"))


@pytest.mark.parametrize("name", NAMES)
def test_fixes_are_as_they_were_kept(evaluator: Evaluator, name: str) -> None:
    before, after = ((GOLDENS / f"{name}.{which}.yaml").read_bytes() for which in ("before", "after"))
    assert fixes.fixed(before, "x.yaml", evaluator) == after
    assert fixes.fixed(after, "x.yaml", evaluator) == after
    assert (before == after) is (name == "not-fixed")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_fixing_twice_changes_nothing_the_second_time(evaluator: Evaluator, path: Path) -> None:
    once = fixes.fixed(path.read_bytes(), path.name, evaluator)
    assert fixes.fixed(once, path.name, evaluator) == once


def test_the_command_fixes_and_then_checks(podstrat: Any, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes((GOLDENS / "workload.before.yaml").read_bytes())
    (tmp_path / "b.yaml").write_text(GOOD)
    done = podstrat("check", ".", "--fix")
    assert (done.code, done.err) == (0, "podstrat: a.yaml: fixed\n")
    assert done.out == "3 objects checked in 2 files: 3 valid, 0 invalid (0 errors, 0 warnings), 1 skipped\n"
    assert (tmp_path / "a.yaml").read_bytes() == (GOLDENS / "workload.after.yaml").read_bytes()
    assert podstrat("check", ".", "--fix").err == ""


def test_the_difference_is_shown_first(podstrat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDENS)
    before = (GOLDENS / "workload.before.yaml").read_bytes()
    done = podstrat("check", "--fix=diff", "workload.before.yaml")
    assert (done.code, done.out) == (1, (GOLDENS / "workload.diff").read_text())
    assert (GOLDENS / "workload.before.yaml").read_bytes() == before
    assert podstrat("check", "--fix=diff", "workload.after.yaml").code == 0


def test_standard_input_is_not_fixed(podstrat: Any) -> None:
    done = podstrat("check", "-", "--fix", stdin=GOOD + "    imagePullPolicy: always\n")
    assert (done.code, done.err) == (1, "")


def test_a_suppressed_finding_is_not_fixed(evaluator: Evaluator) -> None:
    name = "FieldValueNotSupported:spec.containers.imagePullPolicy"
    text = (GOOD + f"    imagePullPolicy: always  # podstrat: ignore={name}\n").encode()
    assert fixes.fixed(text, "x.yaml", evaluator) == text


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param("imagePullPolicy: always", "imagePullPolicy: Always", id="plain"),
        pytest.param("imagePullPolicy: 'ALWAYS'  # why", "imagePullPolicy: 'Always'  # why", id="quoted"),
        pytest.param('"imagePullPolicy" : "never"', '"imagePullPolicy" : "Never"', id="double-quoted"),
        pytest.param("imagePullPolicy: !!str always", None, id="tagged"),
        pytest.param("imagePullPolicy: >-\n      always", None, id="folded"),
        pytest.param(r'imagePullPolicy: "alw\x61ys"', None, id="escaped"),
    ],
)
def test_values_in_the_wrong_case(evaluator: Evaluator, before: str, after: str | None) -> None:
    text = f"{GOOD}    {before}\n".encode()
    assert fixes.fixed(text, "x.yaml", evaluator) == (text if after is None else f"{GOOD}    {after}\n".encode())
