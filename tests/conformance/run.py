"""Prints how far the engine agrees with the recorded answers of real servers, and where it does not.

python -m tests.conformance.run                      every file
python -m tests.conformance.run --file 1.37 --case update/spec --show 50
python -m tests.conformance.run --write-floor        raise tests/conformance/floor.json to what agrees now
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from tests.conformance import crds
from tests.conformance.recorded import crd_recordings, kind_recordings, recordings
from tests.conformance.replay import Verdict, verdicts

FLOOR = Path(__file__).parent / "floor.json"


def arguments(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", action="append", help="only this file (may be given several times)")
    parser.add_argument("--case", default="", help="only cases whose id begins so")
    parser.add_argument("--show", type=int, default=20, help="how many differences to print (default 20)")
    parser.add_argument("--write-floor", action="store_true", help="raise the floor to what agrees now; it never sinks")
    return parser


def main() -> int:
    parser = arguments(__doc__)
    args = parser.parse_args()
    every = [*recordings(), *kind_recordings(), *crd_recordings()]
    chosen = [each for each in every if not args.file or each.name in args.file]
    if not chosen:
        parser.error("no such file; there are " + ", ".join(each.name for each in every))
    custom = {each.name for each in crd_recordings()}
    found = {each.name: list((crds.verdicts if each.name in custom else verdicts)(each, args.case)) for each in chosen}
    print_differences(found, args.show)
    print_table(found)
    if args.write_floor:
        raise_floor(found)
    return 0 if all(each.whole for one in found.values() for each in one) else 1


def print_differences(found: dict[str, list[Verdict]], show: int) -> None:
    differing = [(name, each) for name, one in found.items() for each in one if not each.whole]
    for name, verdict in differing[:show]:
        print(f"{name} {verdict.id}\n    {verdict.why}")
    if len(differing) > show:
        print(f"... and {len(differing) - show} more (--show {len(differing)} prints them)")


def print_table(found: dict[str, list[Verdict]]) -> None:
    print(f"{'file':28} {'area':26} {'cases':>6} {'codes':>6} {'whole':>6}")
    for name, one in found.items():
        areas = sorted({each.area for each in one})
        for area in [*areas, ""]:
            rows = [each for each in one if area in (each.area, "")]
            codes, whole = sum(each.codes for each in rows), sum(each.whole for each in rows)
            print(f"{name:28} {area or 'all':26} {len(rows):6} {codes:6} {whole:6}  {100 * whole / (len(rows) or 1):6.2f} %")


def agreeing(one: list[Verdict]) -> dict[str, int]:
    """How many cases of each area agree whole."""
    return dict(sorted(Counter(each.area for each in one if each.whole).items()))


def raise_floor(found: dict[str, list[Verdict]]) -> None:
    floor = json.loads(FLOOR.read_text()) if FLOOR.exists() else {}
    for name, one in found.items():
        held = floor.setdefault(name, {})
        for area, count in agreeing(one).items():
            held[area] = max(count, held.get(area, 0))
    FLOOR.write_text(json.dumps(floor, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
