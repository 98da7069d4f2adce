"""Any webhook configuration, ours or anyone's, against the list of good practice for admission webhooks.

    podstrat webhook lint FILE...          files, directories, - for standard input; -k for a kustomization
    podstrat webhook lint --live           what a server has: kubeconfig as kubectl finds it
    podstrat webhook lint --rules          every rule, and the points of the list that it stands for
    podstrat webhook lint --explain RULE

Services, Deployments, disruption budgets and roles that are read along are looked at too. An object that is right as it is says
so in its annotation podstrat.dev/lint-ignore: RULE,RULE.

Exit codes: 0 no errors, 1 errors (with --strict also for warnings), 2 nothing could be read.
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
    from podstrat.lint.judging import Choice
    from podstrat.lint.rule import Rule

# The server's own answer is about pods; a rule of good practice has none.
FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap")


def arguments(parser: argparse.ArgumentParser) -> None:
    from podstrat.check import options

    options.inputs(parser)
    live = parser.add_argument_group("a server instead of files")
    live.add_argument("--live", action="store_true", help="read what a server has")
    live.add_argument("--kubeconfig", type=Path, metavar="FILE", help="how to reach it (default: as kubectl does)")
    live.add_argument("--context", metavar="NAME", help="the context of the kubeconfig")
    which = parser.add_argument_group("which rules")
    which.add_argument("--disable", metavar="RULE,...", action="append", default=[], help="rules that are not asked")
    which.add_argument("--rules", action="store_true", help="list the rules, and end")
    which.add_argument("--explain", metavar="RULE", help="why a rule is one, and what to do instead; and end")
    report = parser.add_argument_group("the report")
    report.add_argument("-o", "--output", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    report.add_argument("--strict", action="store_true", help="warnings count as errors do")
    report.add_argument("--exit-zero", action="store_true", help="only report: exit with 0 whatever is found")
    report.add_argument("--allow-empty", action="store_true", help="it is no error if there is nothing to look at")
    report.add_argument("--summary", action="store_true", help="counts by kind, and the commonest findings")
    report.add_argument("-q", "--quiet", action="store_true", help="errors only: no warnings, no excerpts, no counts")
    report.add_argument("--verbose", action="store_true", help="also what is good, what was skipped, and remarks")
    report.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: on a terminal")


def run(args: argparse.Namespace) -> int:
    if args.rules:
        _list()
        return exits.OK
    if args.explain:
        print(explanation(_rule(args.explain)))
        return exits.OK
    from podstrat.check.report import Summary
    from podstrat.lint.judging import Choice

    disabled = frozenset(_rule(word.strip()).id for text in args.disable for word in text.split(",") if word.strip())
    summary = Summary()
    _write(_results(_sources(args), args.live, summary, Choice(disabled, args.verbose)), summary, args)
    return _code(summary, args)


def _sources(args: argparse.Namespace) -> Iterable[Source]:
    from podstrat.check import inputs, options

    if not args.live:
        return inputs.sources(options.wanted(args))
    if args.paths or args.filename or args.kustomize:
        raise exits.BadArguments("--live reads a server, and no files")
    from podstrat.install.cluster import KubernetesCluster, Refused
    from podstrat.lint import live

    try:
        return list(live.sources(KubernetesCluster(args.kubeconfig, args.context)))
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[webhook]'") from None
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None


def _results(sources: Iterable[Source], live: bool, summary: Summary, choice: Choice) -> Iterator[Result]:
    from podstrat.check.report import Result
    from podstrat.lint import judging, reading
    from podstrat.lint.subjects import Scene

    scene = Scene(live)
    for each in list(reading.read(sources, scene, summary)):
        result = each if isinstance(each, Result) else judging.result(each, scene, choice)
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
    command.prepare(sys.stdout)
    sys.stdout.writelines(out.begin())
    for result in results:
        sys.stdout.writelines(out.result(result))
    sys.stdout.writelines(out.end(summary))
    for unread in summary.unread:
        print(f"podstrat: {unread.file}: {unread.reason}", file=sys.stderr)
    if args.output != "text" and not args.quiet:
        print(f"podstrat: {summary}", file=sys.stderr)


def _name_rules() -> None:
    """SARIF says of each rule what it is about."""
    from podstrat.check.outputs import sarif
    from podstrat.lint import rules

    sarif.RULES.update({rule.id: rule.title for rule in rules.ALL})


def _code(summary: Summary, args: argparse.Namespace) -> int:
    if summary.unread:
        return exits.USAGE
    if not summary.checked and not args.allow_empty:
        print("podstrat: there was no webhook configuration to look at; --allow-empty lets that pass", file=sys.stderr)
        return exits.USAGE
    bad = summary.invalid or (args.strict and summary.warnings)
    return exits.INVALID if bad and not args.exit_zero else exits.OK


# ---- about the rules ---------------------------------------------------------------------------------


def _rule(name: str) -> Rule:
    from podstrat.lint import rules

    if name not in rules.BY_ID:
        raise exits.BadArguments(f"there is no rule {name!r}; --rules lists them")
    return rules.BY_ID[name]


def _list() -> None:
    from podstrat.lint import rules

    width = max(len(rule.id) for rule in rules.ALL)
    for rule in rules.ALL:
        points = ",".join(map(str, rule.points)) or "-"
        print(f"{rule.severity:8} {rule.id:{width}}  {points:9} {rule.title}")


def explanation(rule: Rule) -> str:
    """All that there is to say about a rule."""
    points = f"good practice {', '.join(map(str, rule.points))}" if rule.points else "a rule of the API server"
    return f"{rule.id} ({rule.severity}; {points}): {rule.title}\n\n{rule.reason}\n\nInstead: {rule.fix}"
