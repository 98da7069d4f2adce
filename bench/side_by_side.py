"""The pure engine and the compiled one in one run: the same works, in turns.

    python -m bench.side_by_side [--pods 300] [--rounds 15]

A process for each; they wait for one another, and take a round each in turn, so that a noisy minute is noisy for both. A figure
is the median of the rounds' ratios, as in bench/engine.py. What `make compiled` makes is the compiled one. Below the verbs stands
how a create grows: what each of a thousand items costs, beside each of a hundred.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from bench import engine as bench

ROOT = Path(__file__).resolve().parent.parent
TREES = {"pure": ROOT / "src", "compiled": ROOT / "build" / "compiled" / "tree"}
GOALS = {"create from a dict": 2.5, "create from bytes": 3.5, "update from dicts": 4.0, "update_status from dicts": 3.0}
FEW, MANY = 100, 1000


def is_built() -> bool:
    return TREES["compiled"].is_dir()


def grown(what: str, count: int) -> dict[str, Any]:
    """A pod with that many of something."""
    pod = bench.pod(count, count if what == "containers" else 1)
    spec = pod["spec"]
    if what == "env":
        spec["containers"][0]["env"] = [{"name": f"VARIABLE_{i}", "value": str(i)} for i in range(count)]
    elif what == "volumes":
        spec["volumes"] += [{"name": f"volume-{i}", "configMap": {"name": f"map-{i}"}} for i in range(count)]
    elif what == "tolerations":
        spec["tolerations"] = [{"key": f"example.com/key-{i}", "operator": "Exists"} for i in range(count)]
    return pod


def works(pods: int) -> dict[str, bench.Work]:
    """What is measured: json.loads, which is the unit, the verbs, and growth."""
    engine = bench.Engine()
    every = [bench.pod(number) for number in range(pods)]
    texts = [json.dumps(each).encode() for each in every]
    stored = [made for each in every if (made := engine.create(each).pod)]
    made: dict[str, bench.Work] = {
        "json.loads": (json.loads, texts),
        "create from a dict": (engine.create, every),
        "create from bytes": (engine.create, texts),
        "update from dicts": (lambda pair: engine.update(*pair), [(bench.image_changed(each), each) for each in stored]),
        "update_status from dicts": (lambda pair: engine.update_status(*pair), [(bench.running(each), each) for each in stored]),
    }
    for what in ("containers", "env", "volumes", "tolerations"):
        for count in (FEW, MANY):
            made[f"{count} {what}"] = engine.create, [grown(what, count)]
    of_few = stored[0]
    for count in (FEW, MANY):
        conditions = [{"type": f"example.com/condition-{i}", "status": "True"} for i in range(count)]
        reported = {**of_few, "status": {**of_few["status"], "conditions": conditions}}
        made[f"{count} conditions"] = lambda pair: engine.update_status(*pair), [(reported, of_few)]
    return made


def serve(pods: int) -> None:
    """The process of one engine: a round for each line that it reads."""
    from podstrat.strategy.compiled import COMPILED

    measured = works(pods)
    print(json.dumps(COMPILED), flush=True)
    for _ in sys.stdin:
        print(json.dumps({name: bench.once(*work) / len(work[1]) for name, work in measured.items()}), flush=True)


Taken = dict[str, list[dict[str, float]]]
"""By engine, the rounds: the time that each work took for one input."""


def measure(args: argparse.Namespace) -> Taken:
    taken: Taken = {name: [] for name in TREES}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(started(tree, args.pods)) for name, tree in TREES.items()}
        for name, worker in workers.items():
            assert json.loads(told(worker)) == (name == "compiled"), f"this is not the {name} engine"
        for _ in range(args.rounds):
            for name, worker in workers.items():
                assert worker.stdin is not None
                worker.stdin.write("again\n")
                worker.stdin.flush()
                taken[name].append(json.loads(told(worker)))
    return taken


def started(tree: Path, pods: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.side_by_side", "--serve", "--pods", str(pods)]
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def told(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline()


def ratio(rounds: list[dict[str, float]], work: str, to: str) -> float:
    return median(each[work] / each[to] for each in rounds)


def lines(taken: Taken) -> Iterator[str]:
    pure, compiled = taken["pure"], taken["compiled"]
    yield f"{'in units of json.loads':28} {'pure':>8} {'compiled':>9} {'goal':>6}"
    for name, goal in GOALS.items():
        yield f"{name:28} {ratio(pure, name, 'json.loads'):8.2f} {ratio(compiled, name, 'json.loads'):9.2f} {goal:6.1f}"
    yield f"{f'each of {MANY}, of {FEW} = 1':28} {'pure':>8} {'compiled':>9}"
    for what in ("containers", "env", "volumes", "tolerations", "conditions"):
        grew = [ratio(each, f"{MANY} {what}", f"{FEW} {what}") * FEW / MANY for each in (pure, compiled)]
        yield f"{what:28} {grew[0]:8.2f} {grew[1]:9.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=300, help="how many distinct pods (default 300)")
    parser.add_argument("--rounds", type=int, default=15, help="how many rounds, whose median counts (default 15)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.pods)
    elif is_built():
        print(*lines(measure(args)), sep="\n")
    else:
        sys.exit("there is no compiled engine to compare with: make compiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
