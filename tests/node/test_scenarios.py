"""Every row of the matrix is shown by a test, or it is said why not."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tests.node import scenarios


def marked():
    """The numbers in the scenario marks of the tests of this room."""
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "scenario":
                yield from (each.value for each in node.args)


def test_the_matrix_is_complete():
    assert list(scenarios.SCENARIOS) == list(range(1, len(scenarios.SCENARIOS) + 1))
    shown, elsewhere = set(marked()), scenarios.CANNOT_RUN.keys()
    assert sorted(shown & elsewhere) == []
    assert sorted(shown | elsewhere) == list(scenarios.SCENARIOS)


def test_the_table_says_what_became_of_the_tests():
    lines = list(scenarios.table({1: Counter(passed=2), 2: Counter(passed=1, failed=1)}))
    assert any(line.endswith("passed (2 tests)") for line in lines)
    assert any(line.endswith("1 failed, 1 passed") for line in lines)
    assert any(line.endswith("no test") for line in lines)
    assert sum(line.startswith(" ") for line in lines) == len(scenarios.SCENARIOS)
