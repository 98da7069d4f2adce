"""A live view of a cluster on this machine: pods with generation and observedGeneration, each node's devices by health, events,
and the decisions of webhooks, as far as the server tells them (`podstrat serve` does). Read-only: it lists and watches.

It listens on 127.0.0.1 alone, and answers only the browser that is given the address it prints.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podstrat import exits
from podstrat.certs import files
from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.errors import ConfigError
from podstrat.live.board import Board
from podstrat.live.following import ClusterView, Follower
from podstrat.web import assets
from podstrat.web.server import PageServer, Site, until_interrupted

ALIVE = 15.0
"""Seconds without news after which the stream shows that it is alive."""
TOGETHER = 0.05
"""Seconds in which news are gathered before they are sent."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig (default: as kubectl)")
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: the current one)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free port)")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="write the address of the page to this file")
    parser.add_argument("--wait", action="store_true", help="wait for a kubeconfig that is not there yet")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input does")


def run(args: argparse.Namespace) -> int:
    def load() -> ClientConfig:
        return kubeconfig.load(args.kubeconfig, args.context)

    if not args.wait:
        try:
            load()
        except (ConfigError, OSError) as error:
            raise exits.BadArguments(str(error)) from None
    over = threading.Event()
    # As Ctrl-C does it. A handler that set the event could wait for a lock of it which the main thread holds.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    board = Board()
    try:
        with site(board, args.port) as server:
            Follower(ClusterView(board), load).start()
            if args.until_eof:
                threading.Thread(target=_until_eof, args=(over,), daemon=True).start()
            print(f"podstrat live: {server.url}", file=sys.stderr, flush=True)
            if args.ready_file is not None:
                files.write(args.ready_file, f"{server.url}\n".encode(), 0o600)
            until_interrupted(over)
    except KeyboardInterrupt:  # before it waited
        pass
    return exits.OK


def _until_eof(over: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    over.set()


def site(board: Board, port: int = 0) -> PageServer:
    """The server of the live view."""
    pages = assets.of("podstrat.web", "podstrat.live")
    server = PageServer(Site(pages, streams={"/api/live": lambda: _news(board, server)}), port)
    return server


def _news(board: Board, server: PageServer) -> Iterator[Any]:
    """What changes, from the beginning: all entries first."""
    version = 0
    while not server.stopping.wait(TOGETHER):
        changes = board.after(version, ALIVE)
        if changes is None:
            yield None
            continue
        version = changes.version
        yield {"anew": changes.anew, "entries": changes.entries}
