"""Runs the targets for some time, prints what was answered, and keeps the inputs that failed."""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz import recorded
from tests.fuzz.target import Failure, Target, shown
from tests.fuzz.targets import TARGETS

FOLDER = Path(".fuzz")
SHOWN = 5
"""After so many failures a target is given up."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(TARGETS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (default: 60)")
    parser.add_argument("--seed", type=int, default=None, help="of an earlier run, to repeat it (default: a new one)")
    parser.add_argument("--number", type=int, default=None, help="of one input, to repeat it alone")
    args = parser.parse_args()
    if unknown := [name for name in args.targets if name not in TARGETS]:
        parser.error(f"unknown target {unknown[0]}; known: {', '.join(TARGETS)}")
    seed = random.SystemRandom().randrange(10**9) if args.seed is None else args.seed
    failed = 0
    for name in args.targets or TARGETS:
        if args.number is not None:
            print(f"{name} {args.number}: {TARGETS[name]().check(args.number)}")
        else:
            failed += run(name, TARGETS[name](), seed, args.seconds)
    return 1 if failed else 0


def run(name: str, target: Target, seed: int, seconds: float) -> int:
    """The number of failures."""
    print(f"{name}: --seed {seed}, for {seconds:g} s", flush=True)
    kinds: collections.Counter[str] = collections.Counter()
    failures = 0
    dice = random.Random(seed)
    recorded.bodies()  # read before the time begins
    end = time.monotonic() + seconds
    while time.monotonic() < end and failures < SHOWN:
        number = dice.randrange(10**12)
        try:
            kinds[target.check(number)] += 1
        except Failure as failure:
            failures += 1
            report(name, number, failure)
    print(f"{name}: {kinds.total():,} inputs, {failures} failures; {dict(kinds.most_common())}", flush=True)
    return failures


def report(name: str, number: int, failure: Failure) -> None:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}-{number}.txt"
    again = f"python -m tests.fuzz {name} --number {number}"
    trace = "".join(traceback.format_exception(failure.__cause__)) if failure.__cause__ is not None else ""
    path.write_text(f"{failure.why}\n{again}\n\n{trace}\n{shown(failure.sent)}\n", encoding="utf-8", errors="backslashreplace")
    print(f"{name}: {failure.why[:300]}\n  kept in {path}; repeat with: {again}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
