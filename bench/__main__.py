"""All benchmarks one after the other, one table of what they find, and docs/performance.md from it.

    python -m bench [--only engine] [--strict] [--page]

What a benchmark prints by itself goes to standard error meanwhile; the table goes to standard output. Each runs in a process of
its own, so that none inherits the memory of the one before.
"""

from __future__ import annotations

import argparse
import sys

from bench import figures, page, plots, running


def write_page(kept: figures.Figures) -> None:
    for name, result in kept.results.items():
        if result.plot is not None:
            plots.make(result.plot, page.image(name))
    page.FILE.write_text(page.page(kept))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=running.NAMES, action="append", help="this one, and write nothing; can be repeated")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if a budget is missed or a figure grew by more than a tenth"
    )
    parser.add_argument(
        "--page", action="store_true", help="make the page and its pictures again from the figures that there are"
    )
    args = parser.parse_args(argv)
    writes = args.page or not args.only
    if writes and not plots.can_be_made():
        parser.error("the pictures need matplotlib, which `make bench` installs")
    last = figures.committed()
    found = figures.read() if args.page else running.run(args.only or running.NAMES)
    grown = figures.regressions(found, last.run)
    if writes:
        figures.write(found if args.page else found._replace(history=(*last.history, last.run)))
        found = figures.read()  # rounded: the table, the page and the pictures are of what is kept
        write_page(found)
    print(page.text(found))
    for line in page.regressions(grown, last.machine):
        print(line)
    return 1 if args.strict and (grown or not found.kept) else 0


if __name__ == "__main__":
    sys.exit(main())
