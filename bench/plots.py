"""Pictures of cost against size. The only file that imports matplotlib, and only when a picture is made."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
from pathlib import Path

from bench.figures import Plot

SOURCE = "Source"
"""The word in the PNG under which stands what it was made from."""
MARKERS = ("o", "s", "^")


def can_be_made() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def digest(plot: Plot) -> str:
    """Of all that a picture shows: by it one can tell whether a picture is that of these figures."""
    return hashlib.sha256(json.dumps(plot, sort_keys=True).encode()).hexdigest()


def make(plot: Plot, file: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    for marker, (label, line) in zip(itertools.cycle(MARKERS), plot.lines.items(), strict=False):
        axes.plot(list(line), list(line.values()), marker=marker, label=label)
    if plot.logarithmic:
        axes.set(xscale="log", yscale="log")
    else:
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e5 else f"{value:,.0f}"))
    axes.set(title=plot.title, xlabel=plot.size, ylabel=plot.cost)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120, metadata={SOURCE: digest(plot)})
