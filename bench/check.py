"""How long `podstrat check` takes, as a ratio to PyYAML in the same run, and how much memory it needs.

    python -m bench.check [--rounds 10] [--pods 2000] [--megabytes 100]

- start-up: a whole `podstrat check one.yaml` against `python -c "import yaml, json"`;
- a file of distinct pods, 4 KB each: a whole `podstrat check` with one and with two processes against a process that does nothing
  but `yaml.load_all` of it with the C loader;
- the same file with a world of 1,000 objects and the release's admission plugins, against the check without;
- peak memory on a large file.

Every figure is the median of the ratios of several rounds; they are worth little on a busy machine, whose load is printed.
Modules are compiled beforehand, as pip does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import yaml

from bench.engine import pod
from bench.figures import Plot, Result, Row

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = {"start-up": 1.6, "-j 1": 0.7, "-j 2": 0.4}
WORLD_BUDGET = 1.5
"""Of a check with a world, to one without."""
WORLD_NAMESPACES = 250
"""Each with an account, a limit range and a quota: a thousand objects."""
SMALLER = (100, 500)
"""Files for the plot, beside the one that the budgets are about."""
ONE = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: web
    image: nginx:1.29
"""
LOAD_ALL = "import sys, yaml\nfor _ in yaml.load_all(open(sys.argv[1], 'rb'), yaml.CSafeLoader): pass"
BASE = ("-c", "import yaml, json")
BASE_WORDS = '`python -c "import yaml, json"`'
START_UP = "start-up, one pod"
# What the console script of an installed package does.
COMMAND = "import sys; from podstrat.cli import main; sys.exit(main())"


class Run(NamedTuple):
    """What one process took."""

    seconds: float
    cpu: float
    kilobytes: int


def environment(directory: Path) -> dict[str, str]:
    """Compiled modules are kept in the directory; no configuration file is read."""
    return {"PYTHONPYCACHEPREFIX": str(directory / "compiled"), "PYTHONPATH": str(ROOT / "src"), "PODSTRAT_CONFIG": ""}


def run(directory: Path, *argv: str) -> Run:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | environment(directory)
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *argv], env=environ, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    taken = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{argv} ended with {child.returncode}")
    return Run(taken, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


class Rounds:
    """What commands took, in turn, so that a busy moment meets all of them; the first round only warms up."""

    def __init__(self, directory: Path, rounds: int, commands: dict[str, tuple[str, ...]]) -> None:
        taken = [{name: run(directory, *argv) for name, argv in commands.items()} for _ in range(rounds + 1)]
        self.taken = taken[1:]

    def best(self, name: str) -> Run:
        runs = [each[name] for each in self.taken]
        return Run(min(each.seconds for each in runs), min(each.cpu for each in runs), max(each.kilobytes for each in runs))

    def ratio(self, name: str, to: str) -> float:
        """The median of the rounds' ratios, as in bench/engine.py."""
        return median(each[name].seconds / each[to].seconds for each in self.taken)

    def cpu_ratio(self, name: str, to: str) -> float:
        """The same of processor time."""
        return median(each[name].cpu / each[to].cpu for each in self.taken)


def write_pods(path: Path, count: int) -> int:
    with path.open("w") as file:
        for number in range(count):
            file.write("---\n")
            yaml.dump(pod(number), file, Dumper=yaml.CSafeDumper, sort_keys=False)
    return path.stat().st_size


def write_large(path: Path, size: int) -> int:
    """The same, with one pod's text for all: writing so much YAML properly would take longer than checking it."""
    mark = 7654321
    text = f"---\n{yaml.dump(pod(mark), Dumper=yaml.CSafeDumper, sort_keys=False)}"
    with path.open("w") as file:
        for number in range(mark, mark + size // len(text)):
            file.write(text.replace(str(mark), str(number)))
    return path.stat().st_size


def write_world(path: Path) -> None:
    """Namespaces that enforce the restricted level, with what plugins look up in each, complete for every kind."""
    objects: list[dict[str, object]] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    ]
    for number in range(WORLD_NAMESPACES):
        name = f"team-{number}" if number else "default"
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        for kind, spec in (
            ("ServiceAccount", {}),
            ("LimitRange", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "8", "memory": "32Gi"}}]}}),
            ("ResourceQuota", {"spec": {"hard": {"pods": "9000"}}}),
        ):
            objects.append({"apiVersion": "v1", "kind": kind, "metadata": {"name": "worker", "namespace": name}, **spec})
    annotations = {"podstrat.dev/complete": "*"}
    world = {"apiVersion": "v1", "kind": "List", "metadata": {"annotations": annotations}, "items": objects}
    path.write_text(yaml.dump(world, Dumper=yaml.CSafeDumper, sort_keys=False))


def report(name: str, rounds: Rounds) -> float:
    best, base, ratio = rounds.best(name).seconds, rounds.best("base").seconds, rounds.ratio(name, "base")
    words = f"{name:10} {best * 1e3:8.1f} ms, ratio {ratio:5.2f} (of the best {best / base:5.2f}, of processor time"
    verdict = "kept" if ratio <= BUDGETS[name] else "MISSED"
    print(f"{words} {rounds.cpu_ratio(name, 'base'):5.2f}); budget {BUDGETS[name]}: {verdict}")
    return ratio


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="rounds for the start-up; a third of it for files (default 10)")
    parser.add_argument("--pods", type=int, default=2000, help="how many distinct pods (default 2000)")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the large file; 0 leaves it out (default 100)")
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    plot = Plot("Checking a file", "pods", "seconds", {"yaml.load_all, reading only": {}, "check -j 1": {}, "check -j 2": {}})
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        rows = [start_up(directory, args.rounds), *files(directory, args, plot), with_world(directory, args)]
        if args.megabytes:
            rows.append(large_file(directory, args.megabytes))
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    return Result(rows, plot)


def start_up(directory: Path, rounds: int) -> Row:
    one = directory / "one.yaml"
    one.write_text(ONE)
    found = Rounds(directory, rounds, {"base": BASE, "start-up": ("-c", COMMAND, "check", str(one))})
    print(f"{'import':10} {found.best('base').seconds * 1e3:8.1f} ms")
    return Row(START_UP, report("start-up", found), BASE_WORDS, BUDGETS["start-up"])


def files(directory: Path, args: argparse.Namespace, plot: Plot) -> Iterator[Row]:
    """The last of them is the one that the budgets are about."""
    for pods in (*(size for size in SMALLER if size < args.pods), args.pods):
        file = directory / f"{pods}.yaml"
        size = write_pods(file, pods)
        commands: dict[str, tuple[str, ...]] = {"base": ("-c", LOAD_ALL, str(file))}
        commands |= {f"-j {n}": ("-c", COMMAND, "check", str(file), "-j", str(n)) for n in (1, 2)}
        found = Rounds(directory, max(args.rounds // 3, 1), commands)
        for line, name in zip(plot.lines.values(), commands, strict=True):
            line[pods] = found.best(name).seconds
    print(f"{args.pods} pods, {size / 1e6:.1f} MB\n{'load_all':10} {found.best('base').seconds * 1e3:8.1f} ms")
    for jobs in ("-j 1", "-j 2"):
        ratio = report(jobs, found)
        yield Row(f"{args.pods:,} distinct pods, {jobs}", ratio, "`yaml.load_all` with the C loader", BUDGETS[jobs])


def with_world(directory: Path, args: argparse.Namespace) -> Row:
    """The file of the budgets, which is there already, with and without admission."""
    file, world = directory / f"{args.pods}.yaml", directory / "world.yaml"
    write_world(world)
    plain = ("-c", COMMAND, "check", str(file), "-j", "1")
    found = Rounds(directory, max(args.rounds // 3, 1), {"without": plain, "with": (*plain, "--world", str(world))})
    ratio = found.cpu_ratio("with", "without")
    verdict = "kept" if ratio <= WORLD_BUDGET else "MISSED"
    taken = f"{'--world':10} {found.best('with').cpu * 1e3:8.1f} ms of processor time, ratio {ratio:5.2f}"
    print(f"{taken}; budget {WORLD_BUDGET}: {verdict}")
    return Row(f"{args.pods:,} distinct pods with a world of 1,000 objects", ratio, "the same check without", WORLD_BUDGET)


def large_file(directory: Path, megabytes: int) -> Row:
    file = directory / "large.yaml"
    size = write_large(file, megabytes * 1_000_000)
    largest = 0
    for jobs in ("1", "2"):
        taken = run(directory, "-c", COMMAND, "check", str(file), "-j", jobs)
        print(f"{size / 1e6:.0f} MB with -j {jobs}: {taken.seconds:.1f} s, largest process {taken.kilobytes / 1024:.0f} MB")
        largest = max(largest, taken.kilobytes)
    return Row(f"peak memory of a process, file of {megabytes} MB", largest / 1024, "MB")


if __name__ == "__main__":
    result(arguments())
