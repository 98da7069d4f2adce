"""Validate manifests as the API server would, with line and column; no cluster, no network.

Pods, workloads, and the kinds that pods refer to are checked. Other kinds are counted as skipped.
Exit codes: 0 all valid, 1 invalid objects, 2 invalid arguments, an unreadable file or nothing to check, 3 an internal error.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from podstrat import exits
from podstrat.check import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podstrat.check.baseline import Baseline
    from podstrat.check.outputs import Writer
    from podstrat.check.pipeline import Run
    from podstrat.check.report import Result, Summary
    from podstrat.check.terminal import Progress

FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "status")


def arguments(parser: argparse.ArgumentParser) -> None:
    options.inputs(parser)
    update = parser.add_argument_group("update")
    update.add_argument("--old", metavar="FILE", help="check the manifests as updates of the objects in this file")
    options.updates(update)
    options.sending(parser)
    options.server(parser)
    options.kinds(parser)
    options.admission(parser)
    report = parser.add_argument_group("output")
    report.add_argument("-o", "--output", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default text)")
    report.add_argument("--summary", action="store_true", default=None, help="counts by kind and the most frequent errors")
    report.add_argument("-q", "--quiet", action="store_true", help="errors only: no warnings, excerpts or counts")
    report.add_argument("--verbose", action="store_true", help="also list valid and skipped objects")
    report.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default auto: on a terminal")
    report.add_argument(
        "--references",
        action="store_true",
        default=None,
        help="hints where the files name a ConfigMap, Secret, ServiceAccount, claim or class that none of them has, and where "
        "Services and PodDisruptionBudgets match no pod; the exit code stays",
    )
    how = parser.add_argument_group("behaviour")
    how.add_argument("-j", "--jobs", type=int, metavar="N", help="worker processes (default 0: by the size of the input)")
    how.add_argument("--fail-fast", action="store_true", default=None, help="stop at the first invalid object")
    how.add_argument("--allow-empty", action="store_true", default=None, help="do not fail when there is nothing to check")
    how.add_argument("--exit-zero", action="store_true", default=None, help="always exit with 0")
    fix = parser.add_argument_group("fixes").add_mutually_exclusive_group()
    fix.add_argument(
        "--fix",
        action="store_const",
        const="write",
        help="rewrite files where there is exactly one right answer: removed API versions with the same fields, "
        "supported values in the wrong case, repeated list items; then check",
    )
    fix.add_argument(
        "--fix=diff", dest="fix", action="store_const", const="diff", help="show what --fix would change; exit with 1 if anything"
    )
    baseline_group = parser.add_argument_group("baseline")
    baseline_group.add_argument("--baseline", metavar="FILE", help="report only findings that are not in this file")
    baseline_group.add_argument("--write-baseline", metavar="FILE", help="write all findings to this file, and report none")
    options.configuration(how)


def run(args: argparse.Namespace) -> int:
    path = options.configured(args)
    output = args.output or "text"
    if output not in FORMATS:
        raise exits.BadArguments(f"unknown output format {output!r} (one of: {', '.join(FORMATS)})")
    if args.jobs is not None and args.jobs < 0:
        raise exits.BadArguments("-j: expected a number of processes, or 0")
    if path and args.verbose:
        print(f"podstrat: settings from {path}", file=sys.stderr)
    return checked(args, output)


def checked(args: argparse.Namespace, output: str) -> int:
    """The run itself, and its exit code."""
    from podstrat.check import terminal
    from podstrat.check.outputs import Look, writer
    from podstrat.check.pipeline import Run
    from podstrat.check.report import Summary

    args.send = args.send or "apply"
    settings, sources = options.admitted(args, status=output == "status")
    if args.fix:
        from podstrat.check import fixes
        from podstrat.check.evaluate import Evaluator

        changed = fixes.files(sources, Evaluator(settings), args.fix)
        if args.fix == fixes.DIFF:
            return exits.INVALID if changed else exits.OK
    if args.references:
        from podstrat.check import reference_index

        sources, index = reference_index.build(sources, settings)
        settings = settings._replace(references=index)
    progress = terminal.Progress(sum(source.size for source in sources), visible=not args.quiet)
    look = Look(settings.version, output == "text" and terminal.colour(args.color), args.quiet, args.verbose, bool(args.summary))
    summary = Summary()
    evaluator = None
    if args.old is not None:
        from podstrat.check import updates

        evaluator = updates.evaluator(
            args.old, settings._replace(send="raw", patch=output == "jsonpatch"), args.subresource, args.how
        )
    baseline = _baseline(args)
    todo = Run(sources, settings, args.jobs or 0, summary, progress.add, evaluator, baseline)
    _write(todo, writer(output, look), progress, bool(args.fail_fast))
    if baseline is not None:
        _settle(baseline, args)
    _aside(summary, output, args)
    return _code(summary, args)


def _baseline(args: argparse.Namespace) -> Baseline | None:
    if not args.baseline and not args.write_baseline:
        return None
    from collections import Counter

    from podstrat.check import baseline

    return baseline.Baseline(Counter(), recording=True) if args.write_baseline else baseline.read(args.baseline)


def _settle(entries: Baseline, args: argparse.Namespace) -> None:
    """Write the baseline, or report what it has too much."""
    from podstrat.check import baseline

    if entries.recorded is not None:
        baseline.write(args.write_baseline, entries.recorded)
        print(f"podstrat: {args.write_baseline}: findings written: {entries.recorded.total()}", file=sys.stderr)
    elif entries.stale and not args.fail_fast and not args.quiet:
        update = f"update it with --write-baseline {args.baseline}"
        print(f"podstrat: {args.baseline}: findings that no longer occur: {entries.stale}; {update}", file=sys.stderr)


def _write(todo: Run, out: Writer, progress: Progress, fail_fast: bool) -> None:
    """The report, piece by piece."""
    prepare(sys.stdout)
    put(out.begin(), progress)
    results = todo.results()
    for result in results:
        put(out.result(result), progress)
        if fail_fast and result.errors:
            break
    del results  # stops the worker processes
    put(out.end(todo.summary), progress)


def write_report(results: Iterable[Result], summary: Summary, out: Writer, output: str, quiet: bool) -> None:
    """The report of another command that has findings: standard output for the report, standard error for people."""
    prepare(sys.stdout)
    sys.stdout.writelines(out.begin())
    for result in results:
        sys.stdout.writelines(out.result(result))
    sys.stdout.writelines(out.end(summary))
    for unread in summary.unread:
        print(f"podstrat: {unread.file}: {unread.reason}", file=sys.stderr)
    if output != "text" and not quiet:
        print(f"podstrat: {summary}", file=sys.stderr)


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
    if not args.quiet:
        for chart in summary.charts:
            print(f"podstrat: {chart.file}: skipped: {chart.skipped}", file=sys.stderr)
    if not args.quiet:
        for hint, count in summary.unknown.items():
            print(f"podstrat: hint: {hint} ({count} {'object' if count == 1 else 'objects'})", file=sys.stderr)
    for unread in summary.unread:
        print(f"podstrat: {unread.file}: {unread.reason}", file=sys.stderr)
    if output != "text" and not args.quiet:
        print(f"podstrat: {summary}", file=sys.stderr)
    if not summary.checked and not summary.unread and not args.allow_empty:
        reasons = "; ".join(f"{count} skipped: {reason}" for reason, count in sorted(summary.reasons.items()))
        print(f"podstrat: nothing was checked{f' ({reasons})' if reasons else ''}; --allow-empty accepts that", file=sys.stderr)


def _code(summary: Summary, args: argparse.Namespace) -> int:
    if summary.unread:
        return exits.USAGE
    if not summary.checked and not args.allow_empty:
        return exits.USAGE
    return exits.INVALID if summary.invalid and not args.exit_zero else exits.OK
