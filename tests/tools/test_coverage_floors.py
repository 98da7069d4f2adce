"""Coverage by room: counted by lines, held at a floor that only rises."""

from __future__ import annotations

import json
import tomllib

import pytest

from tools import coverage_floors


def report(**files):
    return {
        "files": {
            name.replace("__", "/") + ".py": {"summary": {"covered_lines": covered, "num_statements": total}}
            for name, (covered, total) in files.items()
        }
    }


def test_rooms_are_weighted_by_lines():
    files = report(src__podstrat__node__a=(90, 100), src__podstrat__node__b=(0, 20), src__podstrat__cli=(5, 10))
    assert coverage_floors.rooms(files) == {"node": 75.0, "podstrat": 50.0}


def test_a_room_by_its_own_path():
    assert coverage_floors.rooms(report(strategy__rules__pod=(3, 4))) == {"strategy": 75.0}


@pytest.mark.parametrize(
    "measured, faults",
    [
        ({"node": 80.0}, []),
        ({"node": 79.9}, ["node: 79.9 %, the floor is 80.0 %"]),
        ({"webhook": 100.0}, ["node: not measured"]),
    ],
)
def test_below(measured, faults):
    assert coverage_floors.below(measured, {"node": 80.0}) == faults


def test_floors_only_rise():
    measured, floors = {"node": 90.27, "webhook": 50.0}, {"webhook": 60.0, "cel": 70.0}
    assert coverage_floors.raised(measured, floors) == {"cel": 70.0, "node": 89.7, "webhook": 60.0}


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(coverage_floors, "REPORT", tmp_path / "report.json")
    monkeypatch.setattr(coverage_floors, "FLOORS", tmp_path / "floors.json")
    coverage_floors.FLOORS.write_text('{"node": 80.0}')
    assert coverage_floors.main([]) == 2
    coverage_floors.REPORT.write_text(json.dumps(report(node__a=(7, 10))))
    assert coverage_floors.main([]) == 1
    assert capsys.readouterr().err.endswith("node: 70.0 %, the floor is 80.0 %\n")
    coverage_floors.REPORT.write_text(json.dumps(report(node__a=(9, 10))))
    assert coverage_floors.main(["--write"]) == 0
    assert json.loads(coverage_floors.FLOORS.read_text()) == {"node": 89.5}


def test_every_room_is_measured():
    linked = {path.name for path in (coverage_floors.ROOT / "src/podstrat").iterdir() if path.is_symlink()}
    run = tomllib.loads((coverage_floors.ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]
    assert set(run["source_dirs"]) == {"src/podstrat", *linked}
    assert set(json.loads(coverage_floors.FLOORS.read_text())) <= linked | {coverage_floors.FRONT}
