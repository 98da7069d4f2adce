"""The node's side: what device drivers say about the health of their devices goes into the status of the pods that hold them.

Where there is a kubelet, the status is the kubelet's, and we keep to a condition of our own, events and metrics (the role
beside-kubelet). Where there is none (`podstrat serve`, kwok, virtual kubelets), the status is ours (the role owner): health,
observedGeneration, and the preparing of claims. Which one is right is found out; a role that would lead to a fight is refused.

    podstrat node --node node-1                   run
    podstrat node devices                         the devices of a running one, and how they are
    podstrat node pods                            its pods
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
    from node.agent import Agent
    from node.credentials import Credentials
    from node.settings import Settings

STATE = Path("/var/lib/podstrat-node")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("run", "devices", "pods", "status"), default="run", help="(run)")
    where = parser.add_argument_group("where")
    where.add_argument("--node", metavar="NAME", help="the node's name (NODE_NAME, or this machine's name)")
    where.add_argument("--kubeconfig", type=Path, metavar="FILE", help="how to reach the API server (in a pod: its own account)")
    where.add_argument("--root", type=Path, default=Path("/var/lib/kubelet"), metavar="DIR", help="the kubelet's (%(default)s)")
    where.add_argument("--state-dir", type=Path, default=STATE, metavar="DIR", help="its own files (%(default)s)")
    where.add_argument("--metrics", metavar="HOST:PORT", help="serve /metrics, /healthz and /readyz there")
    where.add_argument("--ready-file", type=Path, metavar="FILE", help="write the role and the metrics' port here when it runs")
    what = parser.add_argument_group("what")
    what.add_argument("--role", choices=("auto", "owner", "beside-kubelet"), default="auto", help="whose the status is (auto)")
    what.add_argument(
        "--simulate-lifecycle",
        action="store_true",
        help="pods start, run and end as their annotation podstrat.dev/simulate says; there must be no kubelet",
    )
    what.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="see docs/device-health.md")
    what.add_argument("--grace", type=float, default=0.0, metavar="SECONDS", help="keep health while a driver restarts (0)")
    what.add_argument("--quiet-driver", action="append", default=[], metavar="NAME", help="reports only when something changes")
    what.add_argument(
        "--listen-to",
        action="append",
        default=[],
        metavar="NAME",
        help="beside a kubelet: a DRA driver with room for two listeners",
    )
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info", help="(info)")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="of devices, pods and status (table)")


def run(args: argparse.Namespace) -> int:
    if args.action != "run":
        return _ask(args)
    try:
        from node import credentials, lock, logs, roles, settings
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[node]'") from None
    logs.to_stderr(args.log_level)
    try:
        found = credentials.load(args.kubeconfig, os.environ)
        asyncio.run(_run(_settings(args), found))
    except (settings.BadSettings, credentials.BadCredentials, lock.Taken, roles.Conflict) as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK


async def _run(settings: Settings, found: Credentials) -> None:
    from node.agent import Agent

    agent = Agent(settings, found)
    stop_on_signals(agent)
    await agent.run()


def stop_on_signals(agent: Agent) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, agent.stop)


def _settings(args: argparse.Namespace) -> Settings:
    from node.settings import Settings
    from strategy import gates

    try:
        switched = gates.parse_flag(args.feature_gates)
    except gates.GateError as error:
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
        raise exits.BadArguments(f"--metrics: {text!r} is no HOST:PORT")
    return host.strip("[]"), int(port)


def _ask(args: argparse.Namespace) -> int:
    from node import pages, tables

    admin = args.state_dir / "admin.sock"
    try:
        rows = asyncio.run(pages.ask(admin, f"/{args.action}"))
    except (ConnectionError, FileNotFoundError, TimeoutError, PermissionError) as error:
        raise exits.BadArguments(f"{admin}: no node writer answers ({error}); is one running, with this --state-dir?") from None
    if args.output == "json" or args.action == "status":
        print(json.dumps(rows, indent=2))
    else:
        print(tables.table(rows, tables.DEVICES if args.action == "devices" else tables.PODS), file=sys.stdout)
    return exits.OK
