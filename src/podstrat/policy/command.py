"""Develop admission policies: run their tests, estimate their cost; no cluster, no network.

    podstrat policy test PATH...     run the PolicyTest files in files and directories
    podstrat policy cost PATH...     estimate how the work of each expression grows with the lengths of lists

Exit codes: 0 success, 1 a test fails or a policy is invalid, 2 invalid arguments, unreadable files or nothing found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from podstrat import exits
from podstrat.check.outputs import Look, writer
from podstrat.check.report import Result, Summary

FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap")
COST_FORMATS = ("text", "json")


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="sub-commands", prog="podstrat policy")
    test = actions.add_parser("test", help="run the PolicyTest files in files and directories")
    _inputs(test)
    test.add_argument(
        "-v", "--kubernetes-version", default="1.37", metavar="X.Y", help="release of the API server (default 1.37)"
    )
    test.add_argument("-o", "--output", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    test.add_argument("-q", "--quiet", action="store_true", help="failures only: no counts or excerpts")
    test.add_argument("--verbose", action="store_true", help="also list the cases that pass")
    test.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default auto: on a terminal")
    cost = actions.add_parser("cost", help="estimate how the work of each expression grows with the lengths of lists")
    _inputs(cost)
    cost.add_argument("-o", "--output", choices=COST_FORMATS, default="text", metavar="FORMAT", help=", ".join(COST_FORMATS))


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and directories")


def run(args: argparse.Namespace) -> int:
    return _cost(args) if args.action == "cost" else _test(args)


def _test(args: argparse.Namespace) -> int:
    from podstrat.check import inputs
    from podstrat.policy import runner
    from podstrat.strategy.engine import Engine

    try:
        engine = Engine(args.kubernetes_version)
    except ValueError as error:
        raise exits.BadArguments(f"--kubernetes-version: {error}") from None
    summary = runner.Tally()
    _write(runner.results(inputs.sources(inputs.InputArguments(args.paths)), engine, summary), summary, args)
    if summary.unread:
        return exits.USAGE
    if not summary.checked:
        raise exits.BadArguments("no PolicyTest found")
    return exits.INVALID if summary.invalid else exits.OK


def _write(results: Iterator[Result], summary: Summary, args: argparse.Namespace) -> None:
    from podstrat.check import command, terminal

    colour = args.output == "text" and terminal.colour(args.color)
    out = writer(args.output, Look(args.kubernetes_version, colour, args.quiet, args.verbose))
    command.write_report(results, summary, out, args.output, args.quiet)


def _cost(args: argparse.Namespace) -> int:
    from podstrat import cel, goyaml, printable
    from podstrat.check import command, inputs
    from podstrat.policy import cost

    try:
        estimates = list(cost.estimates(inputs.sources(inputs.InputArguments(args.paths))))
    except (goyaml.YamlError, cel.MissingLibrary) as error:
        raise exits.BadArguments(str(error)) from None
    if not estimates:
        raise exits.BadArguments("no ValidatingAdmissionPolicy or MutatingAdmissionPolicy found")
    command.prepare(sys.stdout)
    if args.output == "json":
        print(printable.dumps(cost.report(estimates), indent=2))
    else:
        sys.stdout.writelines(cost.table(estimates))
    return exits.INVALID if any(each.error for each in estimates) else exits.OK
