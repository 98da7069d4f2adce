"""The node writer: writes the device health that drivers report into the status of the pods that hold the devices.

Beside a kubelet, which owns pod status, it writes a pod condition of its own, events and metrics (role beside-kubelet). On nodes
without a kubelet (`podstrat serve`, kwok, virtual kubelets) it owns pod status (role owner): health, observedGeneration, and the
preparation of claims. The role is detected; a role that conflicts with a kubelet is refused.

    podstrat node --node node-1                   run
    podstrat node devices                         devices of a running writer and their health
    podstrat node pods                            its pods
    podstrat node status                          its role, drivers, backlog and counters
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from podstrat import exits

if TYPE_CHECKING:
    from podstrat.kubeclient.config import ClientConfig
    from podstrat.node.agent import Agent
    from podstrat.node.settings import Settings

STATE = Path("/var/lib/podstrat-node")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("run", "devices", "pods", "status"), default="run", help="what to do (run)")
    node = parser.add_argument_group("node and API server")
    node.add_argument("--node", metavar="NAME", help="node name ($NODE_NAME, or the host name)")
    node.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig (in a pod: its service account)")
    node.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: its current context)")
    node.add_argument("--root", type=Path, default=Path("/var/lib/kubelet"), metavar="DIR", help="kubelet root (%(default)s)")
    node.add_argument("--state-dir", type=Path, default=STATE, metavar="DIR", help="checkpoint and lock (%(default)s)")
    node.add_argument("--metrics", metavar="HOST:PORT", help="listen address of /metrics, /healthz and /readyz")
    node.add_argument("--ready-file", type=Path, metavar="FILE", help="file to write role and metrics port to when running")
    behaviour = parser.add_argument_group("behaviour")
    behaviour.add_argument(
        "--role", choices=("auto", "owner", "beside-kubelet"), default="auto", help="owner of pod status (auto)"
    )
    behaviour.add_argument(
        "--simulate-lifecycle",
        action="store_true",
        help="simulate the life of pods by their annotation podstrat.dev/simulate; not beside a kubelet",
    )
    behaviour.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="see docs/device-health.md")
    behaviour.add_argument("--grace", type=float, default=0.0, metavar="SECONDS", help="grace period for a driver restart (0)")
    behaviour.add_argument("--quiet-driver", action="append", default=[], metavar="NAME", help="driver that reports only changes")
    behaviour.add_argument(
        "--listen-to",
        action="append",
        default=[],
        metavar="NAME",
        help="beside a kubelet: DRA driver that supports a second health stream",
    )
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info", help="log level (info)")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="format of devices and pods (table)")


def run(args: argparse.Namespace) -> int:
    if args.action != "run":
        return _ask(args)
    try:
        from podstrat.kubeclient import errors, kubeconfig
        from podstrat.node import lock, logs, roles, settings
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[node]'") from None
    logs.to_stderr(args.log_level)
    try:
        config = kubeconfig.load(args.kubeconfig, args.context, in_cluster_first=True)
        asyncio.run(_run(_settings(args), config))
    except (settings.BadSettings, errors.ConfigError, lock.LockHeld, roles.Conflict) as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK


async def _run(settings: Settings, config: ClientConfig) -> None:
    from podstrat.node.agent import Agent

    agent = Agent(settings, config)
    stop_on_signals(agent)
    await agent.run()


def stop_on_signals(agent: Agent) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, agent.stop)


def _settings(args: argparse.Namespace) -> Settings:
    from podstrat.node.settings import Settings
    from podstrat.strategy.gates import history

    try:
        switched = history.parse_flag(args.feature_gates)
    except history.GateError as error:
        raise exits.BadArguments(f"--feature-gates: {error}") from None
    return Settings(
        node=args.node or os.environ.get("NODE_NAME") or socket.gethostname().lower(),
        root=args.root,
        state=args.state_dir,
        role=args.role,
        simulate_lifecycle=args.simulate_lifecycle,
        gates=switched,
        listen_to=frozenset(args.listen_to),
        quiet=frozenset(args.quiet_driver),
        grace=args.grace,
        metrics=_address(args.metrics) if args.metrics else None,
        ready_file=args.ready_file,
    )


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise exits.BadArguments(f"--metrics: {text!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def _ask(args: argparse.Namespace) -> int:
    from podstrat.node.admin import http, tables

    admin = args.state_dir / "admin.sock"
    try:
        rows = asyncio.run(http.ask(admin, f"/{args.action}"))
    except (ConnectionError, FileNotFoundError, TimeoutError, PermissionError) as error:
        raise exits.BadArguments(f"{admin}: no node writer answers ({error}); is it running with this --state-dir?") from None
    if args.output == "json" or args.action == "status":
        print(json.dumps(rows, indent=2))
    else:
        print(tables.table(rows, tables.DEVICES if args.action == "devices" else tables.PODS), file=sys.stdout)
    return exits.OK
