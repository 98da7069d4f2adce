"""What the README shows in fences: commands run, examples do as they say. Its console blocks are in test_transcripts.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FILES = ROOT / "docs/transcripts/files"
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, text in FENCES if kind == "sh" for line in text.splitlines() if line.strip()]


@pytest.fixture
def path(tmp_path):
    """A PATH with the command that is here, and with a helm that prints what a chart would give."""
    home = tmp_path / "bin"
    home.mkdir()
    scripts = {
        "podstrat": f'exec "{sys.executable}" -m podstrat "$@"',
        "helm": f'[ "$1" = template ] && cat "{FILES}/web.yaml"',
    }
    for name, line in scripts.items():
        (home / name).write_text(f"#!/bin/sh\n{line}\n")
        (home / name).chmod(0o755)
    return f"{home}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run(line, path, tmp_path):
    files = shutil.copytree(FILES, tmp_path / "files")
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["sh", "-c", line], cwd=files, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("text", [text for kind, text in FENCES if kind == "python"])
def test_examples_run(text):
    exec(compile(text, "README.md", "exec"), {"__name__": "example"})


def test_nothing_else_is_shown():
    assert {kind for kind, _ in FENCES} <= {"console", "sh", "python", "text"}
    assert not [text for kind, text in FENCES if kind == "text" and re.search(r"^\$ ", text, re.MULTILINE)]
    assert {"check", "diff", "explain", "matrix", "status", "gates"} <= {line.split()[1] for line in COMMANDS}
