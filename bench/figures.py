"""What the benchmarks find: rows for the table, lines for the plots, and the file that keeps them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).resolve().parent / "figures.json"
MOST_RUNS = 20
"""How many runs the history keeps."""
INSTRUCTIONS = "instructions"
"""The benchmark whose figures no other load on the machine changes."""
GROWTH = 1.1
"""What grows by more than a tenth has become dearer."""


class Row(NamedTuple):
    """One figure."""

    name: str
    value: float
    unit: str
    """What the figure counts: what it is a multiple of, or a unit."""
    budget: float | None = None
    """None: nothing was promised, the figure is told for its own sake."""
    least: bool = False
    """The budget is a floor, as for a throughput, and not a ceiling."""

    @property
    def kept(self) -> bool:
        if self.budget is None:
            return True
        return self.value >= self.budget if self.least else self.value <= self.budget


class Plot(NamedTuple):
    """Cost against size."""

    title: str
    size: str
    cost: str
    lines: dict[str, dict[int, float]]
    """By its label, each line's cost by size."""
    logarithmic: bool = False


class Result(NamedTuple):
    """What one benchmark returns."""

    rows: list[Row]
    plot: Plot | None = None


class Machine(NamedTuple):
    """Where and when."""

    processor: str
    cores: int
    python: str
    date: str
    load: float
    """Of the minute before the run began: what others did."""


class Run(NamedTuple):
    """The figures of an earlier run, by benchmark and row."""

    machine: Machine
    values: dict[str, dict[str, float]]


class Figures(NamedTuple):
    """A whole run, by the name of the benchmark."""

    machine: Machine
    results: dict[str, Result]
    history: tuple[Run, ...] = ()
    """The runs before it, the latest last."""

    @property
    def kept(self) -> bool:
        return all(row.kept for result in self.results.values() for row in result.rows)

    @property
    def run(self) -> Run:
        """Its figures alone."""
        values = {name: {row.name: _rounded(row.value) for row in result.rows} for name, result in self.results.items()}
        return Run(self.machine, values)


class Regression(NamedTuple):
    """A figure that has become dearer by more than a tenth."""

    benchmark: str
    row: Row
    before: float


def regressions(found: Figures, before: Run) -> list[Regression]:
    """What has become dearer since another run.

    Where instructions were counted in both, they count instead of the engine's times, and of other times of that name.
    """
    rows = found.results.get(INSTRUCTIONS, Result([])).rows
    counted = {row.name for row in rows} & before.values.get(INSTRUCTIONS, {}).keys()
    return [
        Regression(name, row, earlier)
        for name, result in found.results.items()
        for row in result.rows
        if name == INSTRUCTIONS or not (counted and (name == "engine" or row.name in counted))
        if (earlier := before.values.get(name, {}).get(row.name)) is not None and _is_dearer(row, earlier)
    ]


def _is_dearer(row: Row, before: float) -> bool:
    return row.value * GROWTH < before if row.least else row.value > before * GROWTH


def machine() -> Machine:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    today = datetime.now(UTC).date().isoformat()
    return Machine(_processor(), len(os.sched_getaffinity(0)), python, today, round(os.getloadavg()[0], 2))


def _processor() -> str:
    """As Linux calls it; `platform` knows the architecture only."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def write(figures: Figures, file: Path = FILE) -> None:
    """Rounded to four digits: more are noise, and would be in every diff."""
    results = {name: _written(result) for name, result in figures.results.items()}
    history = [{"machine": run.machine._asdict(), "values": run.values} for run in figures.history[-MOST_RUNS:]]
    written = {"machine": figures.machine._asdict(), "results": results, "history": history}
    file.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")


def _written(result: Result) -> dict[str, Any]:
    written: dict[str, Any] = {"rows": [{**row._asdict(), "value": _rounded(row.value)} for row in result.rows]}
    if result.plot is not None:
        lines = {label: {str(size): _rounded(cost) for size, cost in line.items()} for label, line in result.plot.lines.items()}
        written["plot"] = {**result.plot._asdict(), "lines": lines}
    return written


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def read(file: Path = FILE) -> Figures:
    return _figures(file.read_bytes())


def _figures(text: bytes) -> Figures:
    kept = json.loads(text)
    results = {name: _result(written) for name, written in kept["results"].items()}
    history = tuple(Run(Machine(**run["machine"]), run["values"]) for run in kept.get("history", ()))
    return Figures(Machine(**kept["machine"]), results, history)


def committed(file: Path = FILE) -> Figures:
    """What the last commit has: a run that is not committed is nothing to compare with. Without git, what there is."""
    show = ["git", "-C", str(file.parent), "show", f"HEAD:./{file.name}"]
    try:
        done = subprocess.run(show, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return read(file)
    return _figures(done.stdout)


def _result(written: dict[str, Any]) -> Result:
    rows = [Row(**row) for row in written["rows"]]
    if "plot" not in written:
        return Result(rows)
    lines = {label: {int(size): cost for size, cost in line.items()} for label, line in written["plot"]["lines"].items()}
    return Result(rows, Plot(**{**written["plot"], "lines": lines}))
