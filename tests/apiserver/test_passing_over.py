"""The tests with kubectl are passed over only where there is none; in continuous integration nothing else will do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "ci, kubectl, outcome",
    [
        pytest.param("true", True, "1 failed", id="in-ci-with-kubectl"),
        pytest.param("true", False, "1 skipped", id="in-ci-without-kubectl"),
        pytest.param("", True, "1 skipped", id="elsewhere"),
    ],
)
def test_a_skip(tmp_path: Path, ci: str, kubectl: bool, outcome: str) -> None:
    shutil.copy(HERE / "conftest.py", tmp_path)
    (tmp_path / "test_kubectl.py").write_text("import pytest\n\ndef test_it():\n    pytest.skip('no time')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    if kubectl:
        (programs / "kubectl").write_text("#!/bin/sh\n")
        (programs / "kubectl").chmod(0o755)
    environment = {**os.environ, "CI": ci, "PATH": str(programs), "PYTHONPATH": str(HERE.parent.parent)}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert outcome in done.stdout.splitlines()[-1], done.stdout + done.stderr
