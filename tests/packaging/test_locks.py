"""The two locks: what runs the system, and what tests it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", (ROOT / name).read_text(), re.MULTILINE))


def test_the_run_time_lock_is_a_part_of_the_other() -> None:
    run, whole = locked("requirements-run.lock"), locked("requirements.lock")
    assert run.items() <= whole.items()
    assert len(run) < len(whole) / 2


def test_what_runs_needs_no_test_tools_and_no_cluster_client() -> None:
    run = locked("requirements-run.lock")
    assert {"flask", "gunicorn", "grpcio", "cryptography", "hatchling"} <= run.keys()
    assert not {"pytest", "mypy", "ruff", "kubernetes", "hypothesis", "uv"} & run.keys()
