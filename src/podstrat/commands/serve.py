"""An API server for tests, demos and laptops: kubectl and real clients talk to it, and pods are treated as in kube-apiserver.

Without --data-dir objects are in memory and lost when the server stops. Without --token every local client is accepted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podstrat import exits
from podstrat.strategy import ranges
from podstrat.strategy.gates import history

if TYPE_CHECKING:
    from podstrat.strategy.admission import Settings

STOP_SECONDS = 5.0
"""How long the live view has to end with the server."""


def arguments(parser: argparse.ArgumentParser) -> None:
    _listen_arguments(parser.add_argument_group("listen"))
    _behaviour_arguments(parser.add_argument_group("behaviour"))
    _authentication_arguments(parser.add_argument_group("authentication"))
    _admission_arguments(parser.add_argument_group("admission"))
    webhooks = parser.add_argument_group("webhooks")
    webhooks.add_argument(
        "--resolve",
        action="append",
        default=[],
        metavar="NAME.NAMESPACE.svc=HOST:PORT",
        help="address of a webhook service; repeatable",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not log requests")


def _listen_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    group.add_argument("--port", type=int, default=8443, help="port to listen on; 0 takes a free one (default 8443)")
    group.add_argument(
        "--health-port", type=int, metavar="PORT", help="serve /livez on this port, from a process of its own (plain HTTP)"
    )
    group.add_argument("--http", action="store_true", help="plain HTTP instead of TLS")
    group.add_argument("--kubeconfig", type=Path, metavar="FILE", help="write a kubeconfig for this server")
    group.add_argument("--ready-file", type=Path, metavar="FILE", help="write the server's URL to this file once it answers")
    group.add_argument(
        "--ui", action="store_true", help="also serve a page with a live view, on 127.0.0.1; its address is printed"
    )
    group.add_argument("--ui-port", type=int, default=0, metavar="PORT", help="port of that page (default: any free port)")


def _behaviour_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kubernetes-version",
        default="1.37",
        metavar="X.Y",
        help=f"release to behave as: {', '.join(history.RELEASES)} (default 1.37)",
    )
    group.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="feature gates, as in kube-apiserver")
    group.add_argument(
        "--pod-strategy", choices=("on", "off"), default="on", help="off: store pods without validation or defaulting"
    )
    group.add_argument("--data-dir", type=Path, metavar="DIR", help="directory to store objects in (default: in memory)")
    group.add_argument(
        "--check-data",
        type=Path,
        metavar="DIR",
        help="verify the store in this directory, print what is damaged, and exit",
    )
    group.add_argument(
        "--durability",
        choices=("normal", "full"),
        default="normal",
        help="what acknowledged writes in --data-dir survive: a kill of the server (normal, the default), or also a crash of the "
        "machine (full: syncs before each acknowledgement)",
    )
    group.add_argument(
        "--load",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="store the objects of this file at the start, as they are (YAML, JSON); repeatable",
    )
    group.add_argument(
        "--service-cluster-ip-range",
        default="10.0.0.0/24",
        metavar="CIDR[,CIDR]",
        help="network of Service addresses; two, one of each IP family, for dual stack (default 10.0.0.0/24)",
    )
    group.add_argument(
        "--service-node-port-range", default="30000-32767", metavar="FIRST-LAST", help="node ports (default 30000-32767)"
    )
    group.add_argument("--allow-faults", action="store_true", help="enable fault injection: POST /podstrat/faults")


def _authentication_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--token",
        action="append",
        default=[],
        metavar="TOKEN[,USER[,GROUP...]]",
        help="accept this bearer token; repeatable",
    )
    group.add_argument(
        "--authorization-mode",
        choices=("AlwaysAllow", "RBAC"),
        default="AlwaysAllow",
        help="RBAC: roles and bindings decide; the group system:masters may do everything (default AlwaysAllow)",
    )
    group.add_argument(
        "--node-restriction",
        action="store_true",
        help="same as --enable-admission-plugins=NodeRestriction: nodes (system:node:NAME) may only write their own objects",
    )


def _admission_arguments(group: argparse._ArgumentGroup) -> None:
    for verb, which in (("enable", "beside those of the release"), ("disable", "of those of the release")):
        group.add_argument(
            f"--{verb}-admission-plugins",
            action="append",
            default=[],
            metavar="A,B",
            help=f"admission plugins to {verb}, {which}; repeatable",
        )
    group.add_argument(
        "--admission-control-config-file", type=Path, metavar="FILE", help="AdmissionConfiguration: the plugins' configurations"
    )
    for taint in ("not-ready", "unreachable"):
        group.add_argument(
            f"--default-{taint}-toleration-seconds",
            type=int,
            default=300,
            metavar="N",
            help=f"how long pods tolerate {taint} nodes, by DefaultTolerationSeconds (default 300)",
        )
    group.add_argument(
        "--controllers",
        default="*",
        metavar="*|NAME|-NAME,...",
        help="controllers to run: garbagecollector, namespace, serviceaccount, resourcequota; '' for none (default *)",
    )


def _admission(args: argparse.Namespace) -> Settings:
    from podstrat.apiserver.admission import plugin_flags

    restriction = ["NodeRestriction"] if args.node_restriction else []
    try:
        return plugin_flags.settings(
            history.parse_version(args.kubernetes_version),
            [*args.enable_admission_plugins, *restriction],
            args.disable_admission_plugins,
            args.admission_control_config_file,
            args.default_not_ready_toleration_seconds,
            args.default_unreachable_toleration_seconds,
            args.authorization_mode,
        )
    except plugin_flags.FlagError as error:
        raise exits.BadArguments(str(error)) from None


def _controllers(text: str) -> frozenset[str]:
    from podstrat.apiserver import controllers

    try:
        return controllers.parse(text)
    except controllers.UnknownController as error:
        raise exits.BadArguments(f"--controllers: {error}") from None


def run(args: argparse.Namespace) -> int:
    if args.check_data is not None:
        return _check_data(args.check_data)
    try:
        history.enabled(args.kubernetes_version, history.parse_flag(args.feature_gates))
    except history.GateError as error:
        raise exits.BadArguments(str(error)) from None
    try:
        from podstrat.apiserver.tls import Issuing

        # A child process issues the certificates while this one imports the rest.
        issuing = None if args.http else Issuing(args.data_dir and args.data_dir / "tls", args.host)
        from podstrat.apiserver import auth, serving
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[serve]'") from None
    try:
        tokens = [auth.parse_token(text) for text in args.token]
    except ValueError as error:
        raise exits.BadArguments(f"--token: {error}") from None
    try:
        resolve = dict(_address(text) for text in args.resolve)
    except ValueError as error:
        raise exits.BadArguments(f"--resolve: {error}") from None
    try:
        service_ranges = ranges.parse(args.service_cluster_ip_range, args.service_node_port_range)
    except ValueError as error:
        raise exits.BadArguments(f"--service-cluster-ip-range or --service-node-port-range: {error}") from None
    settings = serving.Settings(
        host=args.host,
        port=args.port,
        health_port=args.health_port,
        tls=not args.http,
        data_dir=args.data_dir,
        durability=args.durability,
        kubernetes_version=args.kubernetes_version,
        feature_gates=history.parse_flag(args.feature_gates),
        pod_strategy=args.pod_strategy == "on",
        load=args.load,
        tokens=tokens,
        resolve=resolve,
        service_ranges=service_ranges,
        admission=_admission(args),
        controllers=_controllers(args.controllers),
        allow_faults=args.allow_faults,
        kubeconfig=args.kubeconfig,
        ready_file=args.ready_file,
        log_requests=not args.quiet,
    )
    try:
        if args.ui:
            with tempfile.TemporaryDirectory(prefix="podstrat-ui-") as folder:
                settings = replace(settings, kubeconfig=args.kubeconfig or Path(folder) / "kubeconfig")
                with _live_view(settings.kubeconfig, args.ui_port):
                    serving.serve(settings, issuing)
        else:
            serving.serve(settings, issuing)
    except serving.StartError as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK


@contextmanager
def _live_view(kubeconfig: Path | None, port: int) -> Iterator[None]:
    """`podstrat live` beside the server: it waits for the kubeconfig, and ends when this process does, whatever the reason."""
    command = (sys.executable, "-P", "-m", "podstrat", "live", "--wait", "--until-eof")
    view = subprocess.Popen(
        (*command, "--kubeconfig", str(kubeconfig), "--port", str(port)), stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        assert view.stdin is not None
        view.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            view.wait(STOP_SECONDS)


def _check_data(directory: Path) -> int:
    """Prints one line for each fault; 1 if there is any."""
    from podstrat.apiserver.storage import verify
    from podstrat.apiserver.storage.journal import StoreError

    try:
        report = verify.verify(directory)
    except StoreError as error:
        raise exits.BadArguments(str(error)) from None
    for fault in report.faults:
        print(f"{directory}: {fault}")
    if report.faults:
        return exits.INVALID
    print(f"{directory}: {report.objects} objects, resourceVersion {report.version}: no damage found")
    return exits.OK


def _address(text: str) -> tuple[str, tuple[str, int]]:
    """``web.default.svc=127.0.0.1:9443``: the name of a service, and its address."""
    name, _, place = text.partition("=")
    host, _, port = place.rpartition(":")
    if not name or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not NAME.NAMESPACE.svc=HOST:PORT")
    return name, (host.strip("[]"), int(port))
