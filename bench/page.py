"""The table, and docs/performance.md around it: made from the figures, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.figures import Figures, Machine, Plot, Regression, Row

FILE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
IMAGES = FILE.parent / "images"
HEAD = ("bench", "what", "figure", "in units of", "budget", "verdict")
RIGHT = (2, 4)
"""The columns with numbers."""

PAGE = """\
# What it costs

<!-- Made by `make bench` from bench/figures.json; the words are in bench/page.py. -->

A time measured on one machine says little about another. So each benchmark measures podstrat and something well known in the
same run, and tells the ratio: a create takes so many times as long as `json.loads` of the pod; the webhook answers such a
fraction of what a handler that only parses the review answers in the same server. Most ratios have a budget: a ceiling (≤), or
a floor (≥) where more is better. A budget that was not kept says so.

{machine}

{table}

## How to repeat it

    make bench                            # all of it, some minutes; writes bench/figures.json, this page and its pictures
    make bench ONLY=engine                # one of them; writes nothing
    make bench STRICT=1                   # exit code 1 if a budget is missed or a figure grew by more than a tenth
    .venv/bin/python -m bench.engine      # one of them in its own words; --help for its options
    .venv/bin/python -m bench --page      # this page again from bench/figures.json, nothing measured

The machine should have nothing else to do. The load above is that of the minute before: from 1 on somebody else was at work, and
neither a kept budget nor a missed one means much. Starts, throughput and percentiles suffer first, since they are real time. The
engine's figures are ratios of processor time, the median of several rounds, and move less.

## Cost against size

{plots}

## What limits it

- **The engine** is plain Python over plain dicts; the cost is that of the fields that there are. A container more costs as much
  as the one before it, and a pod with one container is mostly pod. A refused pod pays for its messages as well. Its ratios follow
  the machine's caches more than its speed ([why](decisions/compiler.md)): one commit has had 5.5 and 7.3 for a create within a
  minute. The instructions, further down in the table, do not move.
- **The check** reads everyday YAML with a reader of its own that remembers lines it has met, and finds lines and columns the same
  way. Anchors, tags and other rarities go to libyaml, which costs what PyYAML costs. A start is Python's own and that of the
  imports. A second process helps from some megabytes on.
- **The embedded server** pays in writes for the engine, and in watches for a thread each
  ([layer by layer](operations.md#what-the-server-layer-costs)).
- **The webhook** spends most of a review below itself: gunicorn, TLS, parsing
  ([layer by layer](operations.md#what-the-server-layer-costs)). A 99th percentile rests on few calls, and differs most from
  one run to the next.
- **The node writer** does for a changed device what that device needs, however many there are; a full report is read device by
  device. Between a driver's message and the pod's status stands one PATCH, and that is what the ratio compares with.
"""


def table(figures: Figures) -> list[list[str]]:
    """The rows with a budget first, each benchmark's together; then what is told for its own sake."""
    rows = [(name, row) for name, result in figures.results.items() for row in result.rows]
    rows.sort(key=lambda each: each[1].budget is None)
    return [[name, row.name, _number(row), row.unit, budget(row), _verdict(row)] for name, row in rows]


def _number(row: Row) -> str:
    return f"{row.value:.2f}" if row.value < 10 and not float(row.value).is_integer() else f"{row.value:.0f}"


def budget(row: Row) -> str:
    return "" if row.budget is None else f"{'≥' if row.least else '≤'} {row.budget:g}"


def _verdict(row: Row) -> str:
    if row.budget is None:
        return ""
    return "kept" if row.kept else "MISSED"


def text(figures: Figures) -> str:
    """For a terminal."""
    lines = [list(HEAD), *table(figures)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join([words(figures.machine), "", *(_aligned(line, widths) for line in lines), "", tally(figures)])


def _aligned(cells: list[str], widths: list[int]) -> str:
    padded = (
        cell.rjust(width) if i in RIGHT else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def words(machine: Machine) -> str:
    load = f"load {machine.load:g} when it began{', so others were at work' if machine.load >= 1 else ''}"
    return f"{machine.processor}, {machine.cores} cores, {machine.python}, {machine.date}, {load}."


def tally(figures: Figures) -> str:
    promised = [row for result in figures.results.values() for row in result.rows if row.budget is not None]
    missed = [row for row in promised if not row.kept]
    return f"{len(promised) - len(missed)} of {len(promised)} budgets are kept{f', {len(missed)} MISSED' if missed else ''}."


def regressions(grown: Iterable[Regression], since: Machine) -> Iterator[str]:
    """What has become dearer, a line each."""
    for benchmark, row, before in grown:
        yield f"{benchmark}, {row.name}: {_number(row)} after {_number(row._replace(value=before))} on {since.date}"


def page(figures: Figures) -> str:
    rows = ([*cells[:-1], "**MISSED**" if cells[-1] == "MISSED" else cells[-1]] for cells in table(figures))
    found = {name: result.plot for name, result in figures.results.items() if result.plot is not None}
    drawn = "\n\n".join(_section(name, plot) for name, plot in found.items())
    whole = "\n".join(_markdown(HEAD, rows, RIGHT)) + f"\n\n{tally(figures)}"
    return PAGE.format(machine=words(figures.machine), table=whole, plots=drawn)


def image(name: str) -> Path:
    return IMAGES / f"cost-{name}.png"


def _section(name: str, plot: Plot) -> str:
    path = image(name).relative_to(FILE.parent).as_posix()
    sizes = sorted({size for line in plot.lines.values() for size in line})
    rows = ([label, *(_cost(line.get(size)) for size in sizes)] for label, line in plot.lines.items())
    head = (f"{plot.cost}, by {plot.size}", *(f"{size:,}" for size in sizes))
    numbers = _markdown(head, rows, range(1, len(head)))
    return "\n".join([f"![{plot.title}]({path})", "", *numbers])


def _cost(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _markdown(head: Iterable[str], rows: Iterable[list[str]], right: Iterable[int]) -> Iterator[str]:
    cells = list(head)
    yield f"| {' | '.join(cells)} |"
    yield f"|{'|'.join('---:' if i in right else '---' for i in range(len(cells)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
