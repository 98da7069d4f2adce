"""Holds the coverage of every room at its floor: `make test-all` ends with it.

    python -m tools.coverage_floors             # compare the last measurement with the floors
    python -m tools.coverage_floors --write     # raise the floors to it

A floor is the share of executed lines in per cent, and only rises. Child processes are measured too, since the doors run in them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / ".coverage.json"
FLOORS = ROOT / "tests" / "coverage-floors.json"
MARGIN = 0.5
"""Per cent below the measurement: what runs differ by, where tests kill processes (a few lines of thousands)."""
FRONT = "podstrat"
"""The room of what lies in src/podstrat itself."""


def rooms(report: Mapping[str, Any]) -> dict[str, float]:
    """Executed lines of each room in per cent, from coverage's JSON report."""
    linked = {path.name for path in (ROOT / "src" / "podstrat").iterdir() if path.is_symlink()}
    lines: dict[str, list[int]] = {}
    for name, file in report["files"].items():
        inside = (
            Path(name).parts[Path(name).parts.index("podstrat") + 1 :] if "podstrat" in Path(name).parts else Path(name).parts
        )
        count = lines.setdefault(inside[0] if inside[0] in linked else FRONT, [0, 0])
        count[0] += file["summary"]["covered_lines"]
        count[1] += file["summary"]["num_statements"]
    return {room: 100 * covered / total for room, (covered, total) in sorted(lines.items()) if total}


def below(measured: Mapping[str, float], floors: Mapping[str, float]) -> list[str]:
    """The rooms that fell below their floor, and those that have one and were not measured."""
    return [
        f"{room}: {measured[room]:.1f} %, the floor is {floor} %" if room in measured else f"{room}: not measured"
        for room, floor in floors.items()
        if measured.get(room, -1.0) < floor
    ]


def raised(measured: Mapping[str, float], floors: Mapping[str, float]) -> dict[str, float]:
    """The floors after this measurement: none is lower than before."""
    new = {room: math.floor(10 * max(0.0, share - MARGIN)) / 10 for room, share in measured.items()}
    return {room: max(new.get(room, 0.0), floors.get(room, 0.0)) for room in sorted({*new, *floors})}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="raise the floors to the last measurement")
    arguments = parser.parse_args(argv)
    if not REPORT.exists():
        print(f"{REPORT.name} is missing: run `make test-all` first", file=sys.stderr)
        return 2
    measured = rooms(json.loads(REPORT.read_text()))
    floors = json.loads(FLOORS.read_text())
    for room, share in measured.items():
        print(f"  {room:<12} {share:5.1f} %   floor {floors.get(room, 0.0):5.1f} %")
    if arguments.write:
        FLOORS.write_text(json.dumps(raised(measured, floors), indent=2) + "\n")
        return 0
    faults = below(measured, floors)
    print(*faults, sep="\n", file=sys.stderr) if faults else None
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
