"""An API server for tests, demos and laptops: kubectl and real clients talk to it, and pods are treated as in kube-apiserver.

Without --data-dir objects live in memory and go with the server. Without --token whoever is on this machine is let in.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from podstrat import exits
from strategy import gates


def arguments(parser: argparse.ArgumentParser) -> None:
    listen = parser.add_argument_group("where")
    listen.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    listen.add_argument("--port", type=int, default=8443, help="port to listen on; 0 takes a free one (default 8443)")
    listen.add_argument("--http", action="store_true", help="plain HTTP instead of TLS")
    listen.add_argument("--kubeconfig", type=Path, metavar="FILE", help="write a kubeconfig for this server")
    listen.add_argument("--ready-file", type=Path, metavar="FILE", help="write the server's address here when it answers")
    what = parser.add_argument_group("what")
    what.add_argument(
        "--kubernetes-version", default="1.37", metavar="X.Y", help=f"whose rules: {', '.join(gates.RELEASES)} (default 1.37)"
    )
    what.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="as kube-apiserver takes them")
    what.add_argument(
        "--pod-strategy", choices=("on", "off"), default="on", help="off: pods are stored as they are, as simpler servers do"
    )
    what.add_argument("--data-dir", type=Path, metavar="DIR", help="keep objects here; in memory without it")
    what.add_argument(
        "--load",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="store these objects first, as they are (YAML, JSON)",
    )
    who = parser.add_argument_group("who")
    who.add_argument(
        "--token",
        action="append",
        default=[],
        metavar="TOKEN[,USER[,GROUP...]]",
        help="let in whoever shows this token; may be given several times",
    )
    who.add_argument("--node-restriction", action="store_true", help="nodes (system:node:NAME) may write only what is theirs")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--resolve",
        action="append",
        default=[],
        metavar="NAME.NAMESPACE.svc=HOST:PORT",
        help="where the webhooks of a service are; may be given several times",
    )
    how.add_argument("--allow-faults", action="store_true", help="let clients ask for faults: POST /podstrat/faults")
    parser.add_argument("-q", "--quiet", action="store_true", help="no line for each request")


def run(args: argparse.Namespace) -> int:
    try:
        gates.enabled(args.kubernetes_version, gates.parse_flag(args.feature_gates))
    except gates.GateError as error:
        raise exits.BadArguments(str(error)) from None
    try:
        from apiserver.tls import Issuing

        # Another process makes the certificates while this one imports all that is below.
        issuing = None if args.http else Issuing(args.data_dir and args.data_dir / "tls", args.host)
        from apiserver import auth, serving
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
    settings = serving.Settings(
        host=args.host,
        port=args.port,
        tls=not args.http,
        data_dir=args.data_dir,
        kubernetes_version=args.kubernetes_version,
        feature_gates=gates.parse_flag(args.feature_gates),
        pod_strategy=args.pod_strategy == "on",
        load=args.load,
        tokens=tokens,
        resolve=resolve,
        node_restriction=args.node_restriction,
        allow_faults=args.allow_faults,
        kubeconfig=args.kubeconfig,
        ready_file=args.ready_file,
        log_requests=not args.quiet,
    )
    try:
        serving.serve(settings, issuing)
    except serving.Started as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK


def _address(text: str) -> tuple[str, tuple[str, int]]:
    """``web.default.svc=127.0.0.1:9443``: a name, and where it is."""
    name, _, place = text.partition("=")
    host, _, port = place.rpartition(":")
    if not name or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no NAME.NAMESPACE.svc=HOST:PORT")
    return name, (host.strip("[]"), int(port))
