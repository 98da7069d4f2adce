"""What the API server would say to these manifests, with line and column; no cluster, no network.

Pods are looked at, and every workload that carries a pod template. Other kinds are counted as skipped.
Exit codes: 0 all valid, 1 something is not valid, 2 wrong arguments, an unreadable file or nothing to check, 3 a bug.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from podstrat import exits
from podstrat.check import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podstrat.check.outputs import Writer
    from podstrat.check.report import Summary
    from podstrat.check.run import Run
    from podstrat.check.terminal import Progress

FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "status")


def arguments(parser: argparse.ArgumentParser) -> None:
    options.inputs(parser)
    update = parser.add_argument_group("an update instead of a create")
    update.add_argument("--old", metavar="FILE", help="the manifests are the new form of those in this file")
    options.updates(update)
    options.server(parser)
    options.kinds(parser)
    report = parser.add_argument_group("the report")
    report.add_argument("-o", "--output", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default text)")
    report.add_argument("--summary", action="store_true", default=None, help="counts by kind, and the commonest errors")
    report.add_argument("-q", "--quiet", action="store_true", help="errors only: no warnings, no excerpts, no counts")
    report.add_argument("--verbose", action="store_true", help="also what is valid and what was skipped")
    report.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: on a terminal")
    how = parser.add_argument_group("the run")
    how.add_argument("-j", "--jobs", type=int, metavar="N", help="processes; 0, the default, chooses by the size of the input")
    how.add_argument("--fail-fast", action="store_true", default=None, help="stop at the first object that is not valid")
    how.add_argument("--allow-empty", action="store_true", default=None, help="it is no error if there is nothing to check")
    how.add_argument("--exit-zero", action="store_true", default=None, help="only report: exit with 0 whatever is found")
    options.configuration(how)


def run(args: argparse.Namespace) -> int:
    path = options.configured(args)
    output = args.output or "text"
    if output not in FORMATS:
        raise exits.BadArguments(f"unknown output format {output!r} (there is: {', '.join(FORMATS)})")
    if args.jobs is not None and args.jobs < 0:
        raise exits.BadArguments("-j wants a number of processes, or 0")
    if path and args.verbose:
        print(f"podstrat: settings from {path}", file=sys.stderr)
    return checked(args, output)


def checked(args: argparse.Namespace, output: str) -> int:
    """The run itself, and its exit code."""
    from podstrat.check import inputs, terminal
    from podstrat.check.outputs import Look, writer
    from podstrat.check.report import Summary
    from podstrat.check.run import Run

    settings = options.settings(args, status=output == "status")
    sources = list(inputs.sources(options.wanted(args)))
    progress = terminal.Progress(sum(source.size for source in sources), wanted=not args.quiet)
    look = Look(settings.version, output == "text" and terminal.colour(args.color), args.quiet, args.verbose, bool(args.summary))
    summary = Summary()
    judge = None
    if args.old is not None:
        from podstrat.check import updating

        judge = updating.judge(args.old, settings, args.subresource, args.how)
    todo = Run(sources, settings, args.jobs or 0, summary, progress.add, judge)
    _write(todo, writer(output, look), progress, bool(args.fail_fast))
    _aside(summary, output, args)
    return _code(summary, args)


def _write(todo: Run, out: Writer, progress: Progress, fail_fast: bool) -> None:
    """The report, piece by piece."""
    prepare(sys.stdout)
    put(out.begin(), progress)
    results = todo.results()
    for result in results:
        put(out.result(result), progress)
        if fail_fast and result.errors:
            break
    del results  # whoever still works on the rest stops
    put(out.end(todo.summary), progress)


def prepare(stream: object) -> None:
    """UTF-8, whatever the locale: a report is read by machines too."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def put(texts: Iterable[str], progress: Progress) -> None:
    if text := "".join(texts):
        progress.clear()
        sys.stdout.write(text)


def _aside(summary: Summary, output: str, args: argparse.Namespace) -> None:
    """What is for people, beside the report."""
    for unread in summary.unread:
        print(f"podstrat: {unread.file}: {unread.reason}", file=sys.stderr)
    if output != "text" and not args.quiet:
        print(f"podstrat: {summary}", file=sys.stderr)
    if not summary.checked and not summary.unread and not args.allow_empty:
        reasons = "; ".join(f"{count} skipped: {reason}" for reason, count in sorted(summary.reasons.items()))
        print(f"podstrat: nothing was checked{f' ({reasons})' if reasons else ''}; --allow-empty lets that pass", file=sys.stderr)


def _code(summary: Summary, args: argparse.Namespace) -> int:
    if summary.unread:
        return exits.USAGE
    if not summary.checked and not args.allow_empty:
        return exits.USAGE
    return exits.INVALID if summary.invalid and not args.exit_zero else exits.OK
