"""The layers contracts of import-linter hold, and notice an import in the wrong direction."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its configuration, to be spoilt."""
    folder = tmp_path_factory.mktemp("layers")
    shutil.copytree(
        ROOT / "src" / "podstrat", folder / "podstrat", ignore=shutil.ignore_patterns("__pycache__", "*.gz", "*.json")
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(folder: Path, contract: str) -> tuple[int, str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache", "--contract", contract]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "contract, module, line, words",
    [
        pytest.param(
            "apiserver-layers",
            "apiserver/storage/store.py",
            "from podstrat.apiserver import writes",
            "podstrat.apiserver.storage is not allowed to import podstrat.apiserver.writes",
            id="storage-knows-no-request",
        ),
        pytest.param(
            "apiserver-layers",
            "apiserver/reads.py",
            "from podstrat.apiserver import writes",
            "podstrat.apiserver.reads is not allowed to import podstrat.apiserver.writes",
            id="reads-know-no-write",
        ),
        pytest.param("apiserver-layers", "apiserver/stray.py", "", "podstrat.apiserver.stray", id="a-module-without-a-layer"),
    ],
)
def test_a_wrong_import_is_noticed(tree: Path, contract: str, module: str, line: str, words: str) -> None:
    path = tree / "podstrat" / module
    before = path.read_text() if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n")
    try:
        code, report = lint(tree, contract)
    finally:
        path.unlink() if before is None else path.write_text(before)
    assert code == 1
    assert words in report


@pytest.mark.parametrize("contract", ["apiserver-layers"])
def test_the_copy_itself_is_sound(tree: Path, contract: str) -> None:
    code, report = lint(tree, contract)
    assert code == 0, report
