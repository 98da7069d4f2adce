"""The room: who may import what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).parents[2] / "node"
MODULES = sorted(path for path in ROOM.rglob("*.py") if "generated" not in path.parts)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_only_the_protocols_know_grpc_and_nobody_another_door(path):
    names = set(imported(path))
    roots = {name.partition(".")[0] for name in names}
    assert not roots & {"apiserver", "webhook", "podstrat", "flask", "kubernetes", "tests"}
    if path.parent.name != "protocols":
        assert not roots & {"grpc", "google"}


PURE = [
    "health",
    "deadlines",
    "readings",
    "reports",
    "holdings",
    "claims",
    "allocations",
    "status",
    "conditions",
    "transitions",
]


@pytest.mark.parametrize("module", PURE)
def test_the_state_reads_no_clock_file_or_socket(module):
    assert not set(imported(ROOM / f"{module}.py")) & {"asyncio", "time", "os", "pathlib", "random", "socket", "datetime"}
