"""The benchmarks one after the other, each in a process of its own: none inherits the memory of the one before."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from bench import figures

NAMES = ("engine", "instructions", "read_yaml", "check", "apiserver", "webhook", "node")


def measured(name: str) -> figures.Result:
    """What the benchmark finds with its own defaults."""
    benchmark = importlib.import_module(f"bench.{name}")
    with contextlib.redirect_stdout(sys.stderr):
        found: figures.Result = benchmark.result(benchmark.arguments([]))
    return found


def run(names: Sequence[str]) -> figures.Figures:
    found, machine = {}, figures.machine()
    for number, name in enumerate(names, 1):
        print(f"--- {number} of {len(names)}: {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            found[name] = alone.submit(measured, name).result()
        print(f"--- {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return figures.Figures(machine, found)
