"""The import contracts of node/ fail when they are broken: a copy of the package with one wrong import."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = ("node-layers", "node-grpc", "node-state-is-pure", "node-is-light")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package and its contracts, as files that can be changed."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "src" / "podstrat", folder / "podstrat", ignore=shutil.ignore_patterns("__pycache__", "tables"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def broken(package):
    """The contracts of node/ that do not hold in the copy."""
    arguments = [word for contract in CONTRACTS for word in ("--contract", contract)]
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", code, "--no-logo", "--no-cache", *arguments],
        cwd=package,
        env={"PYTHONPATH": str(package), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Contracts:" in result.stdout, result.stdout + result.stderr
    return {line.removesuffix("BROKEN").strip() for line in result.stdout.splitlines() if line.endswith("BROKEN")}


def test_the_contracts_hold_in_the_copy(package):
    assert broken(package) == set()


@pytest.mark.parametrize(
    "module, statement, contract",
    [
        pytest.param("state/health", "from podstrat.node.server import writer", "The node writer: assembly", id="upwards"),
        pytest.param("drivers/plugins", "from podstrat.node.state import health", "The node writer: assembly", id="sideways"),
        pytest.param("server/writer", "import grpc", "Only the protocols", id="grpc"),
        pytest.param("drivers/supervisor", "import google.protobuf", "Only the protocols", id="protobuf"),
        pytest.param("state/inventory", "import time", "Health, inventory and status", id="clock"),
        pytest.param("status/patch", "from pathlib import Path", "Health, inventory and status", id="file"),
        pytest.param("agent", "import kubernetes", "The node writer imports no", id="generated-client"),
    ],
)
def test_a_wrong_import_breaks_its_contract(package, module, statement, contract):
    path = package / "podstrat" / "node" / f"{module}.py"
    before = path.read_text()
    path.write_text(before.replace("from __future__ import annotations\n", f"from __future__ import annotations\n{statement}\n"))
    try:
        assert [name for name in broken(package) if name.startswith(contract)]
    finally:
        path.write_text(before)
