"""The wheel works by itself: in an environment that holds nothing else, from a folder that holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import podstrat

ROOT = Path(__file__).parents[2]


def run(*argv, cwd):
    """What a command prints; it sees neither this environment nor the project's folder."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    done = subprocess.run([*map(str, argv)], cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the commands of an environment into which only the wheel was installed."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    offline = ("--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", *offline, wheel, cwd=home)
    return home / "bin"


def rooms():
    return {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}


def files():
    """What the package consists of: its own folder and the rooms."""
    folders = {"podstrat": ROOT / "src" / "podstrat", **{f"podstrat/{room}": ROOT / room for room in rooms()}}
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
    }


def test_there_is_one_top_level_name(wheel):
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"podstrat", f"podstrat-{podstrat.__version__}.dist-info"}


def test_every_file_is_inside_and_nothing_else(wheel):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("podstrat/")}
    assert inside == files()
    assert {"podstrat/py.typed", "podstrat/strategy/engine.py"} < inside


def test_the_licence_is_inside(wheel):
    assert f"podstrat-{podstrat.__version__}.dist-info/licenses/LICENSE" in zipfile.ZipFile(wheel).namelist()


def test_the_command_runs_from_an_empty_folder(installed, tmp_path):
    assert run(installed / "podstrat", "--version", cwd=tmp_path) == f"podstrat {podstrat.__version__} (pure)\n"
    assert "ResourceHealthStatus" in run(installed / "podstrat", "gates", cwd=tmp_path)


def test_the_engine_runs_without_any_dependency(installed, tmp_path):
    code = (
        "from podstrat import Engine\n"
        "pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},\n"
        "       'spec': {'containers': [{'name': 'c', 'image': 'busybox:1'}]}}\n"
        "for release in ('1.34', '1.35', '1.36', '1.37'):\n"
        "    print(Engine(version=release).create(pod).pod['metadata']['generation'])\n"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path) == "1\n1\n1\n1\n"
