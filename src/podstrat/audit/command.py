"""Report which of the pods and workloads of a cluster a release would refuse, with its admission plugins and policies.

Each object is judged as a create of what a client would send. Objects that a workload controls are judged through that workload.
The objects that admission plugins look up are read from the same cluster, unless --world has them. Nothing is written to the
cluster.
Exit codes: 0 nothing would be refused, 1 something would be, 2 invalid arguments or an unreachable cluster, 3 an internal error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from podstrat import exits, printable
from podstrat.check import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podstrat.audit.journal import Journal
    from podstrat.audit.judge import Audit, Scope
    from podstrat.audit.progress import Progress
    from podstrat.check.evaluate import Settings
    from podstrat.check.outputs import Writer
    from podstrat.check.report import Summary
    from podstrat.kubeclient.sync import Client

FORMATS = ("table", "json", "sarif")
PAGE = 500
"""Objects of a page, as kubectl asks for them."""
PRESENTATION = frozenset({"resume", "output", "quiet", "page_size", "exit_zero"})
"""Arguments that do not change what is found: an audit may be resumed with others."""


def arguments(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("cluster")
    where.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: the current one)")
    where.add_argument(
        "--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, ~/.kube/config, or the service account of this pod"
    )
    where.add_argument("-n", "--namespace", metavar="NAME", help="only this namespace (default: all)")
    where.add_argument("--page-size", type=int, default=PAGE, metavar="N", help=f"objects of a request (default {PAGE})")
    which = parser.add_argument_group("objects")
    which.add_argument("--skip", metavar="KIND,...", action="append", help="leave out these kinds")
    which.add_argument("--owned", action="store_true", help="also judge objects whose controller is judged, each by itself")
    rules = parser.add_argument_group("server")
    options.release(rules)
    options.gates_and_fields(rules)
    options.admission(parser, context=False)
    report = parser.add_argument_group("output")
    report.add_argument("-o", "--output", choices=FORMATS, default=FORMATS[0], help=f"default {FORMATS[0]}")
    report.add_argument("-q", "--quiet", action="store_true", help="refusals only: no warnings, counts or progress")
    report.add_argument(
        "--resume", metavar="FILE", help="keep what has been judged in this file, and go on from there if it exists"
    )
    report.add_argument("--exit-zero", action="store_true", help="exit with 0 also when something would be refused")
    parser.set_defaults(duplicate_keys=None, send="create")


def run(args: argparse.Namespace) -> int:
    if args.page_size < 1:
        raise exits.BadArguments("--page-size: expected a positive number")
    from podstrat.kubeclient import kubeconfig
    from podstrat.kubeclient.errors import KubeClientError
    from podstrat.kubeclient.sync import Client

    try:
        with Client(kubeconfig.load(Path(args.kubeconfig) if args.kubeconfig else None, args.context)) as client:
            return _audited(args, client)
    except KubeClientError as error:
        advice = f"; the same command goes on from {args.resume}" if args.resume and Path(args.resume).exists() else ""
        raise exits.BadArguments(f"{error}{advice}") from None


def _audited(args: argparse.Namespace, client: Client) -> int:
    """The audit itself, and its exit code."""
    from podstrat.audit.judge import Audit
    from podstrat.audit.progress import Progress
    from podstrat.check.evaluate import Evaluator
    from podstrat.check.report import Summary

    scope, settings = _scope(args), options.settings(args)
    progress, summary = Progress(not args.quiet), Summary()
    audit = Audit(client, Evaluator(_admitted(args, settings)), scope, progress)
    journal = _journal(args, client)
    complete = False
    try:
        _write(audit, journal, _writer(args, settings.version), progress, summary)
        complete = True
    finally:
        if journal is not None:
            journal.close(complete)
    _aside(summary, settings.version, args)
    if len(summary.unread) == len(scope.kinds):
        raise exits.BadArguments("none of the kinds may be listed")
    return exits.INVALID if summary.invalid and not args.exit_zero else exits.OK


def _scope(args: argparse.Namespace) -> Scope:
    from podstrat.audit import listing
    from podstrat.audit.judge import Scope

    skipped = {kind for text in args.skip or () for kind in text.split(",")}
    names = [kind.kind for kind in listing.KINDS]
    if unknown := sorted(skipped.difference(names)):
        raise exits.BadArguments(f"--skip: unknown kind {unknown[0]} (one of: {', '.join(names)})")
    kinds = tuple(kind for kind in listing.KINDS if kind.kind not in skipped)
    if not kinds:
        raise exits.BadArguments("--skip: no kind is left")
    return Scope(kinds, args.namespace or "", args.owned, args.page_size)


def _admitted(args: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with admission: in the world of --world, or in that of the cluster."""
    from podstrat.audit.quotas import UnusedQuotas
    from podstrat.check import admission, cluster

    collected = None
    if not args.world and args.admission != admission.NONE:
        collected = cluster.collect(args.context, args.kubeconfig, [args.namespace] if args.namespace else None)
        if args.policies:  # they replace those of the cluster
            collected = collected._replace(objects=[obj for obj in collected.objects if "AdmissionPolicy" not in obj["kind"]])
    flags = {**vars(args), "context": None, "admission": args.admission or admission.DEFAULT}
    plan = admission.Plan(argparse.Namespace(**flags), settings, [], collected).settings()
    if plan.admission is not None:
        plan = plan._replace(admission=plan.admission._replace(world=UnusedQuotas(plan.admission.world)))
    return plan._replace(pods_bind=True)


def _journal(args: argparse.Namespace, client: Client) -> Journal | None:
    if not args.resume:
        return None
    from podstrat import __version__
    from podstrat.audit.journal import Journal

    about = {key: value for key, value in vars(args).items() if key not in PRESENTATION}
    return Journal(args.resume, {"podstrat": __version__, "server": client.config.address, **about})


def _writer(args: argparse.Namespace, version: str) -> Writer:
    from podstrat.audit import table
    from podstrat.check.outputs import Look, writer

    look = Look(version, quiet=args.quiet)
    return table.Writer(look) if args.output == "table" else writer(args.output, look)


def _write(audit: Audit, journal: Journal | None, out: Writer, progress: Progress, summary: Summary) -> None:
    """The report, page by page."""
    from podstrat.check.command import prepare
    from podstrat.check.report import Unread

    prepare(sys.stdout)
    _put(out.begin(), progress)
    for page in audit.pages(journal):
        page.add_to(summary)
        if page.left_out:
            summary.unread.append(Unread(page.kind, page.left_out))
        for result in page.results:
            _put(out.result(result), progress)
        print(end="", flush=True)
    _put(out.end(summary), progress)
    print(end="", flush=True)  # while the file of --resume is still there


def _put(texts: Iterable[str], progress: Progress) -> None:
    if text := "".join(texts):
        progress.clear()
        sys.stdout.write(text)


def _aside(summary: Summary, version: str, args: argparse.Namespace) -> None:
    """What is for people, beside the report."""
    from podstrat.audit import table

    for kind, reason in summary.unread:
        print(f"podstrat: {kind} left out: {printable.plain(reason)}", file=sys.stderr)
    if args.quiet:
        return
    for hint, count in summary.unknown.items():
        print(f"podstrat: hint: {hint} ({count} {'object' if count == 1 else 'objects'})", file=sys.stderr)
    if args.output != "table":
        print(f"podstrat: {table.counts(summary, version)}", file=sys.stderr)
