"""A playground on this machine: a page that says what the API server would say to a manifest, while one types it.

It listens on 127.0.0.1 alone, and answers only the browser that is given the address it prints. Nothing is sent anywhere else.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading

from podstrat import exits
from podstrat.play.questions import QUESTIONS, SLOW
from podstrat.web import assets
from podstrat.web.server import PageServer, Site, until_interrupted

PORT = 8137
"""Fixed, so that links to the page outlast it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=PORT, help=f"port to listen on; 0 takes a free one (default {PORT})")
    parser.add_argument("--open", action="store_true", help="open the page in the browser of this machine")


def run(args: argparse.Namespace) -> int:
    # Ctrl-C may come as soon as the address is printed, before anything waits for it.
    with contextlib.suppress(KeyboardInterrupt), site(args.port) as server:
        print(f"podstrat play: {server.url}", flush=True)
        print("Ctrl-C ends it.", file=sys.stderr)
        if args.open:
            import webbrowser

            webbrowser.open(server.url)
        until_interrupted(threading.Event())
    return exits.OK


def site(port: int = 0) -> PageServer:
    """The server of the playground."""
    return PageServer(Site(assets.of("podstrat.web", "podstrat.play"), QUESTIONS, slow=SLOW), port)
