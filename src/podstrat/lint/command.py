"""Check webhook configurations, ours or anyone's, against good practice for admission webhooks.

    podstrat webhook lint FILE...          files, directories, - for standard input; -k for a kustomization
    podstrat webhook lint --live           the configurations of a cluster
    podstrat webhook lint --rules          list the rules, with the points of good practice that they cover
    podstrat webhook lint --explain RULE

Services, Deployments, PodDisruptionBudgets and roles in the input are checked too. An annotation suppresses rules for an object:
podstrat.dev/lint-ignore: RULE,RULE.

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 unreadable or empty input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from podstrat import exits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.inputs import Source
    from podstrat.check.report import Result, Summary
    from podstrat.lint.evaluate import Choice
    from podstrat.lint.rule import Rule

# Not "status": the API server has no answer to lint findings.
FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap")


def arguments(parser: argparse.ArgumentParser) -> None:
    from podstrat.check import options

    options.inputs(parser)
    live = parser.add_argument_group("live cluster")
    live.add_argument("--live", action="store_true", help="read the configurations of a cluster")
    live.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig file (default: as kubectl)")
    live.add_argument("--context", metavar="NAME", help="kubeconfig context")
    which = parser.add_argument_group("rules")
    which.add_argument("--disable", metavar="RULE,...", action="append", default=[], help="rules to disable")
    which.add_argument("--rules", action="store_true", help="list the rules and exit")
    which.add_argument("--explain", metavar="RULE", help="print the reason and the fix of a rule and exit")
    report = parser.add_argument_group("report")
    report.add_argument("-o", "--output", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    report.add_argument("--strict", action="store_true", help="treat warnings as errors")
    report.add_argument("--exit-zero", action="store_true", help="always exit with 0")
    report.add_argument("--allow-empty", action="store_true", help="do not fail if the input has no webhook configuration")
    report.add_argument("--summary", action="store_true", help="print counts by kind and the most frequent findings")
    report.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    report.add_argument("--verbose", action="store_true", help="print passed and skipped objects and informational findings too")
    report.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="default: if standard output is a terminal"
    )


def run(args: argparse.Namespace) -> int:
    if args.rules:
        _list()
        return exits.OK
    if args.explain:
        print(explanation(_rule(args.explain)))
        return exits.OK
    from podstrat.check.report import Summary
    from podstrat.lint.evaluate import Choice

    disabled = frozenset(_rule(word.strip()).id for text in args.disable for word in text.split(",") if word.strip())
    summary = Summary()
    _write(_results(_sources(args), args.live, summary, Choice(disabled, args.verbose)), summary, args)
    return _code(summary, args)


def _sources(args: argparse.Namespace) -> Iterable[Source]:
    from podstrat.check import inputs, options

    if not args.live:
        return inputs.sources(options.input_arguments(args))
    if args.paths or args.filename or args.kustomize:
        raise exits.BadArguments("--live cannot be combined with files")
    from podstrat.kubeclient import kubeconfig
    from podstrat.kubeclient.errors import KubeClientError
    from podstrat.kubeclient.sync import Client
    from podstrat.lint import live

    try:
        with Client(kubeconfig.load(args.kubeconfig, args.context)) as client:
            return list(live.sources(client))
    except KubeClientError as error:
        raise exits.BadArguments(str(error)) from None


def _results(sources: Iterable[Source], live: bool, summary: Summary, choice: Choice) -> Iterator[Result]:
    from podstrat.check.report import Result
    from podstrat.lint import evaluate, files
    from podstrat.lint.subjects import Scene

    scene = Scene(live)
    for each in list(files.read(sources, scene, summary)):
        result = each if isinstance(each, Result) else evaluate.result(each, scene, choice)
        summary.add(result)
        yield result


# ---- the report --------------------------------------------------------------------------------------


def _write(results: Iterator[Result], summary: Summary, args: argparse.Namespace) -> None:
    from podstrat.check import command, terminal
    from podstrat.check.outputs import Look, writer

    if args.output == "sarif":
        _name_rules()
    colour = args.output == "text" and terminal.colour(args.color)
    out = writer(args.output, Look(colour=colour, quiet=args.quiet, verbose=args.verbose, summary=args.summary))
    command.write_report(results, summary, out, args.output, args.quiet)


def _name_rules() -> None:
    """Registers the rule titles for SARIF."""
    from podstrat.check.outputs import sarif
    from podstrat.lint import rules

    sarif.LINT_RULES.update({rule.id: rule.title for rule in rules.ALL})


def _code(summary: Summary, args: argparse.Namespace) -> int:
    if summary.unread:
        return exits.USAGE
    if not summary.checked and not args.allow_empty:
        print("podstrat: no webhook configuration found; use --allow-empty to accept that", file=sys.stderr)
        return exits.USAGE
    bad = summary.invalid or (args.strict and summary.warnings)
    return exits.INVALID if bad and not args.exit_zero else exits.OK


# ---- rules -------------------------------------------------------------------------------------------


def _rule(name: str) -> Rule:
    from podstrat.lint import rules

    if name not in rules.BY_ID:
        raise exits.BadArguments(f"unknown rule {name!r}; list them with --rules")
    return rules.BY_ID[name]


def _list() -> None:
    from podstrat.lint import rules

    width = max(len(rule.id) for rule in rules.ALL)
    for rule in rules.ALL:
        points = ",".join(map(str, rule.points)) or "-"
        print(f"{rule.severity:8} {rule.id:{width}}  {points:9} {rule.title}")


def explanation(rule: Rule) -> str:
    """The text of --explain."""
    points = f"good practice {', '.join(map(str, rule.points))}" if rule.points else "a rule of the API server"
    return f"{rule.id} ({rule.severity}; {points}): {rule.title}\n\n{rule.reason}\n\nInstead: {rule.fix}"
