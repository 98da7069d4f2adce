"""Workflow and commit hooks run the commands that developers run, and take nothing that can be replaced."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
HOOKS = [
    hook for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"] for hook in repository["hooks"]
]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_workflow_runs_make() -> None:
    commands = [step["run"].split() for step in STEPS if "run" in step]
    assert {command[1] for command in commands} == {"test", "test-all", "up"} <= TARGETS
    assert {command[0] for command in commands} == {"make"}


def test_actions_are_pinned_to_commits() -> None:
    """One that is named by a tag could be replaced."""
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert [each for each in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each)] == []


def test_every_classified_python_is_in_the_matrix() -> None:
    classified = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)}
    assert classified <= set(WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"])
    assert PROJECT["requires-python"].removeprefix(">=") == min(classified)


def test_hooks_run_the_linters_of_make() -> None:
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert lint is not None
    tools = set(re.findall(r"\$\(BIN\)/([a-z-]+)", lint[1]))
    assert tools <= {Path(hook["entry"].split()[0]).name for hook in HOOKS}
    for hook in HOOKS:
        assert hook["language"] == "system"
        assert all((ROOT / word).exists() for word in hook["entry"].split() if word.startswith("tests/")), hook["id"]
