"""The webhook into a cluster, and out of it again.

    podstrat webhook install --overlay development     only namespaces that ask for it: the first step
    podstrat webhook install                           for everybody, three replicas
    podstrat webhook status
    podstrat webhook uninstall

Each of them can be repeated, and run again after it was stopped in the middle. In an emergency this switches the webhook off:

    kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration podstrat-webhook
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from podstrat import exits
from podstrat.install import objects

if TYPE_CHECKING:
    from podstrat.install.cluster import KubernetesCluster

SWITCH_OFF = f"kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration {objects.NAME}"
TIMEOUT = 300.0


def install_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument(
        "--overlay",
        choices=objects.OVERLAYS,
        default=objects.OVERLAYS[0],
        help="development: only namespaces that ask for it, one replica, failing open; production (default): everybody; "
        "cert-manager: the same with certificates of cert-manager",
    )
    parser.add_argument("--image", default="", help="image of the webhook (default: as the manifests have it)")
    monitoring = parser.add_mutually_exclusive_group()
    monitoring.add_argument(
        "--monitoring", action="store_true", default=None, help="with ServiceMonitor and alerts, or not at all"
    )
    monitoring.add_argument(
        "--no-monitoring",
        dest="monitoring",
        action="store_false",
        help="without (default: with, if the Prometheus operator is there)",
    )
    _how(parser)
    parser.add_argument("--print", dest="show", action="store_true", help="only print the manifests: no cluster is needed")


def status_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default text")


def uninstall_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument("--keep-namespace", action="store_true", help="leave the namespace, and what others have put into it")
    _how(parser)


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="how to reach the cluster (default: as kubectl does)")
    parser.add_argument("--context", metavar="NAME", help="the context of the kubeconfig")
    parser.add_argument("-n", "--namespace", default=objects.NAMESPACE, help=f"default {objects.NAMESPACE}")


def _how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="ask the server what would happen, and change nothing")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help=f"longest wait (default {TIMEOUT:g})")


# ---- what becomes of them ----------------------------------------------------------------------------


def install(args: argparse.Namespace) -> int:
    wanted = objects.Wanted(args.overlay, args.namespace, args.image)
    if args.show:
        sys.stdout.write(_manifests(wanted._replace(monitoring=bool(args.monitoring))))
        return exits.OK
    from podstrat.install import installing
    from podstrat.install.cluster import Refused

    try:
        cluster = _cluster(args)
        wanted = installing.fitted(cluster, wanted, args.monitoring)
        if args.dry_run:
            installing.planned(cluster, wanted, _say)
            return exits.OK
        installing.install(cluster, wanted, installing.Patience(args.timeout), _say)
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    except installing.NotReady as missing:
        print(f"podstrat: {missing}", file=sys.stderr)
        return exits.INVALID
    print(f"installed. To switch it off at once: {SWITCH_OFF}")
    return exits.OK


def uninstall(args: argparse.Namespace) -> int:
    from podstrat.install import installing, removing
    from podstrat.install.cluster import Refused

    try:
        cluster = _cluster(args)
        if args.dry_run:
            removing.planned(cluster, args.namespace, args.keep_namespace, _say)
            return exits.OK
        removing.uninstall(cluster, args.namespace, args.keep_namespace, installing.Patience(args.timeout), _say)
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    except installing.NotReady as missing:
        print(f"podstrat: {missing}", file=sys.stderr)
        return exits.INVALID
    print("uninstalled")
    return exits.OK


def status(args: argparse.Namespace) -> int:
    from podstrat.install import looking
    from podstrat.install.cluster import Refused

    try:
        rows = looking.look(_cluster(args), args.namespace, looking.now())
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    good = all(row.good for row in rows)
    if args.output == "json":
        print(json.dumps({"good": good, "checks": [row.as_dict() for row in rows]}, indent=2))
    else:
        width = max(len(row.what) for row in rows)
        for row in rows:
            print(f"{'ok ' if row.good else 'NOT'} {row.what:{width}}  {row.text}")
    return exits.OK if good else exits.INVALID


def _cluster(args: argparse.Namespace) -> KubernetesCluster:
    try:
        from podstrat.install.cluster import KubernetesCluster

        return KubernetesCluster(args.kubeconfig, args.context)
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[webhook]'") from None


def _manifests(wanted: objects.Wanted) -> str:
    from podstrat.check import yamltext

    return "---\n".join(yamltext.text(obj) for obj in objects.load(wanted))


def _say(text: str) -> None:
    print(text, flush=True)
