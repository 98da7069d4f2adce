"""How many instructions the engine takes for a pod, and a check for its start-up, counted by valgrind: the same on a busy machine
as on a quiet one.

    python -m bench.instructions [--pods 30]

Two runs of a process that differ only in how often they do the work; what the longer one takes more is the work's own. Without
valgrind there are no figures.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import check
from bench.figures import Result, Row

ROOT = Path(__file__).resolve().parent.parent
UNIT = "thousand instructions a pod"
VERBS = {
    "create": "create from a dict",
    "bytes": "create from bytes",
    "update": "update from dicts",
    "status": "update_status from dicts",
}
"""By the name of the work, the row of bench/engine.py that it is the same as."""


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=30, help="how many distinct pods (default 30)")
    parser.add_argument("--work", nargs=2, metavar=("VERB", "TIMES"), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("valgrind is not on PATH (apt-get install valgrind): no instructions are counted", file=sys.stderr)
        return Result([])
    return Result(list(rows(valgrind, args.pods)))


def rows(valgrind: str, pods: int) -> Iterator[Row]:
    for verb, name in VERBS.items():
        once, thrice = (counted(valgrind, *_working(verb, pods, times)) for times in (pods, 3 * pods))
        yield Row(name, (thrice - once) / (2 * pods) / 1000, UNIT)
    yield start_up(valgrind)


def _working(verb: str, pods: int, times: int) -> list[str]:
    """The command that does the work so often."""
    return ["-m", "bench.instructions", "--pods", str(pods), "--work", verb, str(times)]


def start_up(valgrind: str) -> Row:
    """A whole check of one file, as bench/check.py times it."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        one = directory / "one.yaml"
        one.write_text(check.ONE)
        found = []
        for command in (check.BASE, ("-c", check.COMMAND, "check", str(one))):
            check.run(directory, *command)  # compiles the modules
            found.append(counted(valgrind, *command, **check.environment(directory)))
    return Row(check.START_UP, found[1] / found[0], f"instructions of {check.BASE_WORDS}")


def counted(valgrind: str, *command: str, **environment: str) -> int:
    """The instructions of a Python process."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path, **environment}
    count = [valgrind, "--tool=callgrind", f"--callgrind-out-file={os.devnull}", sys.executable, *command]
    done = subprocess.run(count, env=environment, capture_output=True, text=True, timeout=600, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"valgrind counted nothing: {done.stderr[-500:]}")
    return int(found[1])


def work(verb: str, pods: int, times: int) -> None:
    """What is counted."""
    import gc
    import json

    from bench import engine as bodies
    from podstrat.strategy.engine import Engine

    engine = Engine()
    given = [bodies.pod(number) for number in range(pods)]
    stored = [engine.create(pod).pod for pod in given]
    works: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "create": (engine.create, [(pod,) for pod in given]),
        "bytes": (engine.create, [(json.dumps(pod).encode(),) for pod in given]),
        "update": (engine.update, [(bodies.image_changed(pod), pod) for pod in stored]),
        "status": (engine.update_status, [(bodies.running(pod), pod) for pod in stored]),
    }
    function, inputs = works[verb]
    gc.disable()
    for number in range(times):
        function(*inputs[number % pods])


def main() -> None:
    args = arguments()
    if args.work:
        work(args.work[0], args.pods, int(args.work[1]))
        return
    for row in result(args).rows:
        print(f"{row.name:28} {row.value:8.0f} {row.unit}")


if __name__ == "__main__":
    main()
