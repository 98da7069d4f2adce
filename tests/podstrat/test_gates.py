"""`podstrat gates`: the table, the settings it takes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podstrat import cli, exits
from podstrat.commands import gates

SOURCES = Path(__file__).parents[2] / "tools" / "upstream"


@pytest.fixture
def ask(capsys):
    """Runs the command; gives its exit code, what it prints and what it complains about."""

    def run(*argv):
        code = cli.main(["gates", *argv])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def row(ask):
    """The cells of one gate in the table."""

    def find(gate, *argv):
        code, out, err = ask(*argv)
        assert (code, err) == (exits.OK, "")
        rows = [[cell.strip() for cell in line.split("  ") if cell] for line in out.splitlines()]
        return next((cells for name, *cells in rows if name == gate), None)

    return find


def test_the_gates_are_those_that_the_engine_was_made_with():
    assert set(json.loads((SOURCES / "gates-pods.json").read_text())["gates"]) == gates.POD_GATES


@pytest.mark.parametrize(
    "gate, argv, cells",
    [
        pytest.param("GATE", [], ["1.34", "1.35", "1.36", "1.37"], id="every-release"),
        pytest.param("ResourceHealthStatus", [], ["Alpha off", "Alpha off", "Beta on", "Beta on"], id="history"),
        pytest.param("DRAExtendedResource", [], ["Alpha off", "Alpha off", "Beta on", "GA on locked"], id="locked"),
        pytest.param("GitRepoVolumeDriver", ["--release", "1.34"], ["Deprecated off"], id="one-release"),
        pytest.param("ResourceHealthStatus", ["--release", "v1.35.2"], ["Alpha off"], id="a-patch-release"),
        pytest.param("AtomicWriteVolumeUserFields", ["--release", "1.36"], None, id="not-yet-known"),
        pytest.param("AtomicWriteVolumeUserFields", [], ["-", "-", "-", "Alpha off"], id="unknown-to-some"),
        pytest.param("APIServerIdentity", ["--release", "1.37"], None, id="does-not-touch-pods"),
        pytest.param("APIServerIdentity", ["--release", "1.37", "--all"], ["Beta on"], id="all"),
        pytest.param(
            "ResourceHealthStatus",
            ["--release", "1.36", "--feature-gates", "ResourceHealthStatus=false,ResourceHealthStatusMessage=false"],
            ["Beta off (default on)"],
            id="set",
        ),
        pytest.param("GATE", ["--feature-gates", "EnvFiles=true"], ["1.37"], id="settings-are-about-the-newest-release"),
        pytest.param(
            "ContainerRestartRules",
            ["--release", "1.36", "--feature-gates", "AllBeta=false", "--feature-gates", "ContainerRestartRules=true"],
            ["Beta on"],
            id="settings-given-twice-add-up",
        ),
        pytest.param(
            "AllBeta",
            ["--release", "1.36", "--all", "--feature-gates", "AllBeta=true"],
            ["Beta on (default off)"],
            id="a-whole-stage-is-a-setting-too",
        ),
    ],
)
def test_table(gate, argv, cells, row):
    assert row(gate, *argv) == cells


def test_no_line_ends_in_blanks(ask):
    _, out, _ = ask("--all")
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_json(ask):
    code, out, _ = ask("--release", "1.36", "--feature-gates", "ResourceHealthStatusMessage=false", "-o", "json")
    assert code == exits.OK
    releases = json.loads(out)["releases"]
    assert list(releases) == ["1.36"]
    assert releases["1.36"]["ResourceHealthStatusMessage"] == {
        "stage": "Beta",
        "default": True,
        "locked": False,
        "enabled": False,
    }


@pytest.mark.parametrize(
    "argv, complaint",
    [
        pytest.param(
            ["--release", "1.33"],
            "podstrat: Kubernetes 1.33 is not supported: choose one of 1.34, 1.35, 1.36, 1.37",
            id="release",
        ),
        pytest.param(["--feature-gates", "Nonsense=true"], "podstrat: unrecognized feature gate: Nonsense", id="unknown-gate"),
        pytest.param(["--feature-gates", "EnvFiles"], "podstrat: missing bool value for EnvFiles", id="no-value"),
        pytest.param(
            ["--release", "1.37", "--feature-gates", "DRAExtendedResource=false"],
            "podstrat: cannot set feature gate DRAExtendedResource to false, feature is locked to true",
            id="locked",
        ),
    ],
)
def test_refused(argv, complaint, ask):
    code, out, err = ask(*argv)
    assert (code, out) == (exits.USAGE, "")
    assert err == complaint + "\n"
