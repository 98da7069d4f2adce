"""The mutation check: what it takes out, and what it calls noticed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import mutate

RULE = """
def rule(numbers) -> Errors:
    for number in numbers:
        if number < 0:
            yield field.invalid("negative", number)
    seen = yield from inner(numbers)
    if seen:
        yield from validation.each("seen", seen, ())

def inner(numbers) -> Finds[list[int]]:
    if 7 in numbers:
        yield "seven"
    return [number for number in numbers if number > 9]

def found(numbers):
    warnings = ["first"]
    if numbers:
        warnings.append("some")
    warnings += [f"{number} is large" for number in numbers if number > 9]
    return list(rule(numbers)), warnings
"""
PATH = "strategy/rules/example.py"


class Field:
    invalid = staticmethod(lambda path, value: f"{path} {value}")


class Validation:
    each = staticmethod(lambda path, value, messages: [f"{path} {value}"])


def compiled(source: str = RULE, path: str = PATH) -> tuple[mutate.Program, dict[str, Any]]:
    program = mutate.Program()
    space = {**program.names(), "field": Field, "validation": Validation}
    with pytest.MonkeyPatch.context() as patch:
        # What is compiled here is no part of the engine, also not for those who measure how much of it is tested.
        patch.setattr(mutate, "ROOT", Path("elsewhere"))
        code = program.add(path, f"from __future__ import annotations\n{source}")
    exec(code, space)
    return program, space


def test_sites_in_their_order() -> None:
    program, _ = compiled()
    assert [f"{site.line} {site.kind} {site.text}" for site in program.sites] == [
        '6 error yield field.invalid("negative", number)',
        "7 call seen = yield from inner(numbers)",
        '9 error yield from validation.each("seen", seen, ())',
        '13 error yield "seven"',
        '19 warning warnings.append("some")',
        '20 warning warnings += [f"{number} is large" for number in numbers if number > 9]',
    ]


@pytest.mark.parametrize(
    "path, returns, value, kinds",
    [
        pytest.param("strategy/rules/a.py", "Errors", "anything", ["error"], id="an-error"),
        pytest.param("strategy/verbs/binding.py", "Errors", "anything", ["error"], id="an-error-anywhere"),
        pytest.param("strategy/workloads.py", "Iterator[FieldError]", "anything", ["error"], id="an-error-spelled-out"),
        pytest.param("strategy/rules/a.py", "Iterator[str]", '"text"', ["error"], id="a-message"),
        pytest.param("strategy/rules/a.py", "Iterator[str]", "name", [], id="a-name"),
        pytest.param("strategy/rules/a.py", "Iterator[Pod]", "container", [], id="a-container"),
        pytest.param("strategy/warn/a.py", "Iterator[str]", 'f"{at}: no"', ["warning"], id="a-warning"),
        pytest.param("strategy/warn/a.py", "Warnings", '"text"', ["warning"], id="a-warning-by-its-name"),
        pytest.param("strategy/gates/fields.py", "Iterator[str]", 'f"{path}.field"', [], id="a-path"),
    ],
)
def test_what_is_a_site(path: str, returns: str, value: str, kinds: list[str]) -> None:
    program, _ = compiled(f"def each() -> {returns}:\n    yield {value}", path)
    assert [site.kind for site in program.sites] == kinds


def test_with_every_switch_on_nothing_changes() -> None:
    _, space = compiled()
    assert space["found"]([-1, 7, 10]) == (["negative -1", "seven", "seen [10]"], ["first", "some", "10 is large"])


@pytest.mark.parametrize(
    "number, errors, warnings",
    [
        pytest.param(0, ["seven", "seen [10]"], ["first", "some", "10 is large"], id="an-error"),
        pytest.param(1, ["negative -1", "seen [10]"], ["first", "some", "10 is large"], id="a-call-still-returns"),
        pytest.param(2, ["negative -1", "seven"], ["first", "some", "10 is large"], id="validation-each"),
        pytest.param(3, ["negative -1", "seen [10]"], ["first", "some", "10 is large"], id="an-error-within"),
        pytest.param(4, ["negative -1", "seven", "seen [10]"], ["first", "10 is large"], id="an-appended-warning"),
        pytest.param(5, ["negative -1", "seven", "seen [10]"], ["first", "some"], id="added-warnings"),
    ],
)
def test_one_site_is_taken_out(number: int, errors: list[str], warnings: list[str]) -> None:
    program, space = compiled()
    with program.switches.without(program.sites[number]):
        assert space["found"]([-1, 7, 10]) == (errors, warnings)
    assert len(space["found"]([-1, 7, 10])[0]) == 3


@pytest.mark.parametrize(
    "numbers, reached",
    [
        pytest.param([], set(), id="nothing"),
        pytest.param([1], {4}, id="a-call-that-finds-nothing-does-not-count"),
        pytest.param([7], {1, 3, 4}, id="a-call-that-finds-something"),
        pytest.param([-1, 7, 10], {0, 1, 2, 3, 4, 5}, id="everything"),
    ],
)
def test_what_is_reached(numbers: list[int], reached: set[int]) -> None:
    program, space = compiled()
    space["found"](numbers)
    assert program.switches.reached == reached


def test_a_test_that_looks_away_does_not_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, space = compiled()
    example = type(sys)("mutated_example")
    vars(example).update(space)
    monkeypatch.setitem(sys.modules, "mutated_example", example)
    file = tmp_path / "test_example.py"
    file.write_text(
        "from mutated_example import found\n"
        "def test_looks():\n    assert found([-1])[0] == ['negative -1']\n"
        "def test_looks_away():\n    assert found([7, 10])\n"
        "def test_is_red_anyway():\n    assert found([7]) is None\n"
    )
    tests = mutate.Tests(program.switches, program.sites)
    arguments = [str(file), f"--rootdir={tmp_path}", "-c", str(tmp_path / "none.ini"), "-p", "no:terminal", "-p", "no:cov"]
    (tmp_path / "none.ini").write_text("[pytest]\n")
    assert pytest.main([*arguments, "-p", "no:cacheprovider"], plugins=[tests]) == 0
    assert [site.number for site in tests.noticed] == [0]
    assert {number: len(found) for number, found in tests.reaching.items()} == {0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 1}


def test_no_error_of_a_rule_is_made_outside_a_site() -> None:
    """An error that is made elsewhere, to be yielded later, would escape the check; a function that returns one error is fine."""
    program = mutate.Program()
    loose = []
    for file in sorted((mutate.ROOT / "strategy" / "rules").glob("*.py")):
        path, source = file.relative_to(mutate.ROOT).as_posix(), file.read_text()
        program.add(path, source)
        made = {line for site in program.sites if site.path == path for line in range(site.line, site.last_line + 1)}
        for function in ast.walk(ast.parse(source)):
            if isinstance(function, ast.FunctionDef) and not ast.unparse(function.returns or function).endswith("FieldError"):
                loose += [f"{path}:{line}" for line in _constructed(function) if line not in made]
    assert loose == []
    assert len(program.sites) > 800


def _constructed(function: ast.FunctionDef) -> list[int]:
    """The lines in which errors are made."""
    made = {"required", "invalid", "not_supported", "duplicate", "forbidden", "not_found", "too_long", "too_many", "internal"}
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [f.lineno for f in calls if isinstance(f, ast.Attribute) and f.attr in made and ast.unparse(f.value) == "field"]


@pytest.mark.long
def test_the_command() -> None:
    command = [sys.executable, "-m", "tools.mutate", "--only", "strategy/rules/ephemeral.py", "--only", "strategy/warn"]
    run = subprocess.run(command, cwd=mutate.ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "strategy/rules/ephemeral.py" in run.stdout
    assert "errors and warnings: 100.0 % noticed" in run.stdout
