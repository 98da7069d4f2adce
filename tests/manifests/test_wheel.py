"""The command installs from the wheel as it does from the repository: the manifests are in it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from podstrat import goyaml
from podstrat.install import objects
from podstrat.install.objects import Installation
from tests.manifests.conftest import World

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel would put into site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-deps", "--no-index", "--disable-pip-version-check", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(unpacked: Path, cwd: Path, *words: str) -> str:
    """The command from the unpacked wheel; where its manifests come from is told first."""
    code = "import sys; from podstrat import cli, manifests; print('#', manifests.__file__); sys.exit(cli.main())"
    environ = {**os.environ, "PYTHONPATH": str(unpacked)}
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, _, rest = done.stdout.partition("\n")
    assert first == f"# {unpacked / 'podstrat' / 'manifests' / '__init__.py'}"
    return rest


def test_printing(unpacked: Path, tmp_path: Path) -> None:
    said = run(unpacked, tmp_path, "webhook", "install", "--print", "--overlay", "cert-manager", "--monitoring")
    printed = [document.value for document in goyaml.documents(said.encode(), "printed")]
    assert printed == objects.load(Installation("cert-manager", monitoring=True))


def test_installing(unpacked: Path, kept: World, tmp_path: Path) -> None:
    run(unpacked, tmp_path, "webhook", "install", "--kubeconfig", str(kept.installer))
    assert kept.left() == [objects.path(obj) for obj in objects.load(Installation())]
    said = run(unpacked, tmp_path, "webhook", "status", "--kubeconfig", str(kept.installer)).splitlines()
    assert len(said) == 8
    assert all(line.startswith("ok ") for line in said)
    said = run(unpacked, tmp_path, "webhook", "lint", "--live", "--kubeconfig", str(kept.admin)).splitlines()
    assert "3 valid, 0 invalid (0 errors, 0 warnings)" in said[-1]
    run(unpacked, tmp_path, "webhook", "uninstall", "--kubeconfig", str(kept.installer))
    assert kept.left() == []
