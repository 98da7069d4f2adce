"""How long `podstrat check` takes, as a ratio to PyYAML in the same run, and how much memory it needs.

    python bench/check.py [--rounds 10] [--pods 2000] [--megabytes 100]

- start-up: a whole `podstrat check one.yaml` against `python -c "import yaml, json"`;
- a file of distinct pods, 4 KB each: a whole `podstrat check` with one and with two processes against a process that does nothing
  but `yaml.load_all` of it with the C loader;
- peak memory on a large file.

Every figure is the best of several rounds in turn; only ratios are worth comparing, and they are worth little on a busy machine,
whose load is printed. Modules are compiled beforehand, as pip does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

from engine import pod

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = {"start-up": 2.2, "-j 1": 0.7, "-j 2": 0.4}
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
# What the console script of an installed package does.
COMMAND = "import sys; from podstrat.cli import main; sys.exit(main())"


class Run(NamedTuple):
    """What one process took."""

    seconds: float
    cpu: float
    kilobytes: int


def run(directory: Path, *argv: str) -> Run:
    import time

    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"PYTHONPYCACHEPREFIX": str(directory / "compiled"), "PYTHONPATH": str(ROOT), "PODSTRAT_CONFIG": ""}
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *argv], env=environ, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    taken = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{argv} ended with {child.returncode}")
    return Run(taken, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def best(directory: Path, rounds: int, commands: dict[str, tuple[str, ...]]) -> dict[str, Run]:
    """The best of each, in turn, so that a busy moment meets all of them."""
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds + 1):  # the first one only warms up
        for name, argv in commands.items():
            found[name].append(run(directory, *argv))
    return {
        name: Run(
            min(each.seconds for each in runs[1:]), min(each.cpu for each in runs[1:]), max(each.kilobytes for each in runs)
        )
        for name, runs in found.items()
    }


def write_pods(path: Path, count: int) -> int:
    with path.open("w") as file:
        for number in range(count):
            file.write("---\n")
            yaml.dump(pod(number), file, Dumper=yaml.CSafeDumper, sort_keys=False)
    return path.stat().st_size


def report(name: str, measured: Run, base: Run) -> None:
    ratio, cpu = measured.seconds / base.seconds, measured.cpu / base.cpu
    words = f"{name:10} {measured.seconds * 1e3:8.1f} ms, ratio {ratio:5.2f} (processor time {cpu:5.2f})"
    print(f"{words}; budget {BUDGETS[name]}: {'kept' if ratio <= BUDGETS[name] else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="rounds for the start-up; a third of it for files (default 10)")
    parser.add_argument("--pods", type=int, default=2000, help="how many distinct pods (default 2000)")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the large file; 0 leaves it out (default 100)")
    args = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        one, many, large = directory / "one.yaml", directory / "many.yaml", directory / "large.yaml"
        one.write_text(ONE)
        found = best(
            directory, args.rounds, {"base": ("-c", "import yaml, json"), "start-up": ("-c", COMMAND, "check", str(one))}
        )
        print(f"{'import':10} {found['base'].seconds * 1e3:8.1f} ms")
        report("start-up", found["start-up"], found["base"])

        size = write_pods(many, args.pods)
        commands = {"base": ("-c", LOAD_ALL, str(many))}
        commands |= {f"-j {n}": ("-c", COMMAND, "check", str(many), "-j", str(n)) for n in (1, 2)}
        found = best(directory, max(args.rounds // 3, 1), commands)
        print(f"{args.pods} pods, {size / 1e6:.1f} MB\n{'load_all':10} {found['base'].seconds * 1e3:8.1f} ms")
        for each in ("-j 1", "-j 2"):
            report(each, found[each], found["base"])

        if args.megabytes:
            size = write_pods(large, args.megabytes * 1_000_000 // (size // args.pods))
            for jobs in ("1", "2"):
                taken = run(directory, "-c", COMMAND, "check", str(large), "-j", jobs)
                print(
                    f"{size / 1e6:.0f} MB with -j {jobs}: {taken.seconds:.1f} s, largest process {taken.kilobytes / 1024:.0f} MB"
                )
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
