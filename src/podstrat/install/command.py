"""Install, check and uninstall the webhook in a cluster.

    podstrat webhook install --overlay development     opt-in by namespace label: the first step
    podstrat webhook install                           all namespaces, three replicas
    podstrat webhook status                            what is stored, and a dry run through every entry
    podstrat webhook migrate                           after the upgrade of a cluster to 1.33
    podstrat webhook uninstall

Each command is idempotent and can be run again after an interruption. In an emergency, this turns the webhook off:

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
    from podstrat.install.apply import KubernetesCluster

SWITCH_OFF = f"kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration {objects.NAME}"
TIMEOUT = 300.0  # as long as helm --wait


def install_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument(
        "--overlay",
        choices=objects.OVERLAYS,
        default=objects.OVERLAYS[0],
        help="development: opt-in by namespace label, one replica, fails open; production (default): all namespaces; "
        "cert-manager: production with certificates from cert-manager",
    )
    parser.add_argument("--image", default="", help="container image of the webhook (default: the image in the manifests)")
    monitoring = parser.add_mutually_exclusive_group()
    monitoring.add_argument(
        "--monitoring",
        action="store_true",
        default=None,
        help="install ServiceMonitor, alerts and dashboard; fail without the Prometheus operator",
    )
    monitoring.add_argument(
        "--no-monitoring",
        dest="monitoring",
        action="store_false",
        help="do not (default: if the cluster has the Prometheus operator)",
    )
    _how(parser)
    parser.add_argument("--print", dest="show", action="store_true", help="print the manifests and exit; needs no cluster")


def status_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default text")
    parser.add_argument(
        "--probe-namespace",
        default="default",
        metavar="NAME",
        help="namespace of the dry runs through every entry (default default)",
    )


def uninstall_arguments(parser: argparse.ArgumentParser) -> None:
    _where(parser)
    parser.add_argument("--keep-namespace", action="store_true", help="keep the namespace and other objects in it")
    _how(parser)


def migrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig file (default: as kubectl)")
    parser.add_argument("--context", metavar="NAME", help="kubeconfig context")
    parser.add_argument(
        "--annotation", default="podstrat.dev/generation", help="annotation of the backport (default podstrat.dev/generation)"
    )
    parser.add_argument("--dry-run", action="store_true", help="server-side dry run: show what would change")


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig file (default: as kubectl)")
    parser.add_argument("--context", metavar="NAME", help="kubeconfig context")
    parser.add_argument("-n", "--namespace", default=objects.NAMESPACE, help=f"default {objects.NAMESPACE}")


def _how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="server-side dry run: show what would change")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help=f"longest wait for a rollout (default {TIMEOUT:g})"
    )


# ---- the commands ------------------------------------------------------------------------------------


def run_install(args: argparse.Namespace) -> int:
    plan = objects.Installation(args.overlay, args.namespace, args.image)
    if args.show:
        sys.stdout.write(_manifests(plan._replace(monitoring=bool(args.monitoring))))
        return exits.OK
    from podstrat.install import install
    from podstrat.install.apply import Refused

    try:
        cluster = _cluster(args)
        plan = install.fitted(cluster, plan, args.monitoring)
        if args.dry_run:
            install.planned(cluster, plan, _say)
            return exits.OK
        install.install(cluster, plan, install.Patience(args.timeout), _say)
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    except install.NotReady as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    print(f"installed. To turn it off at once: {SWITCH_OFF}")
    return exits.OK


def run_uninstall(args: argparse.Namespace) -> int:
    from podstrat.install import install, uninstall
    from podstrat.install.apply import Refused

    try:
        cluster = _cluster(args)
        if args.dry_run:
            uninstall.planned(cluster, args.namespace, args.keep_namespace, _say)
            return exits.OK
        uninstall.uninstall(cluster, args.namespace, args.keep_namespace, install.Patience(args.timeout), _say)
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    except install.NotReady as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    print("uninstalled")
    return exits.OK


def run_migrate(args: argparse.Namespace) -> int:
    from podstrat.install import migrate
    from podstrat.install.apply import Refused

    try:
        count = migrate.migrate(_cluster(args), args.annotation, args.dry_run, _say)
    except Refused as refused:
        raise exits.BadArguments(str(refused)) from None
    print(f"{count} pods migrated{' (dry run)' if args.dry_run else ''}")
    return exits.OK


def run_status(args: argparse.Namespace) -> int:
    from podstrat.install import status
    from podstrat.install.apply import Refused

    try:
        rows = status.look(_cluster(args), args.namespace, status.now(), args.probe_namespace)
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
        from podstrat.install.apply import KubernetesCluster

        return KubernetesCluster(args.kubeconfig, args.context)
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is not installed: pip install 'podstrat[webhook]'") from None


def _manifests(plan: objects.Installation) -> str:
    from podstrat.check import yaml_writer

    return "---\n".join(yaml_writer.text(obj) for obj in objects.load(plan))


def _say(text: str) -> None:
    print(text, flush=True)
