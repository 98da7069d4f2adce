"""Rooms are imported as podstrat.NAME alone: a bare import anywhere in a test session fails the session."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tools import bare_names

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path for folder in ("bench", "tools") for path in (ROOT / folder).glob("*.py") if path.stem not in ("plots", "__main__")
)


@pytest.fixture
def record(tmp_path):
    return tmp_path / "record"


def python(record, code, *flags, **variables):
    """A fresh interpreter at the root of the repository, where bare imports work by accident."""
    environ = {**os.environ, **variables}
    bare_names.watch(record, environ)
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return record.read_text() if record.exists() else ""


def test_the_rooms():
    assert {"strategy", "apiserver", "webhook", "node", "certs", "goyaml", "manifests"} <= bare_names.ROOMS
    assert set(runpy.run_path(str(ROOT / "hatch_build.py"))["ROOMS"]) == bare_names.ROOMS


def test_every_room_is_a_link_in_the_package():
    for room in bare_names.ROOMS:
        assert os.readlink(ROOT / "src" / "podstrat" / room) == f"../../{room}"


def test_a_bare_import_is_recorded(record):
    assert python(record, "import goyaml").startswith("goyaml in ")


def test_so_is_one_of_a_grandchild(record):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import certs'], check=True)"
    assert python(record, code).startswith("certs in ")


def test_an_import_from_the_package_is_not(record):
    assert python(record, "import podstrat.strategy.engine, podstrat.goyaml") == ""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_scripts_import_from_the_package_alone(record, script):
    assert python(record, f"import {script.parent.name}.{script.stem}") == ""


@pytest.mark.parametrize("workers", [[], ["--numprocesses=2"]], ids=["alone", "workers"])
@pytest.mark.parametrize("code, said", [("import podstrat.goyaml", ""), ("import goyaml", "goyaml in ")], ids=["package", "bare"])
def test_a_session_fails(tmp_path, workers, code, said):
    """The conftest of our own tests, around a test that starts a child."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys\n\n"
        f"def test_it():\n    subprocess.run([sys.executable, '-c', {code!r}], check=True, cwd={str(ROOT)!r})\n"
    )
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_", "PODSTRAT_"))}
    environ["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout
    assert (done.returncode, said in done.stdout) == (1 if said else 0, True)
