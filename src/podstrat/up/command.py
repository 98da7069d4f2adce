"""The whole system on this machine, in one command: an API server, the webhook over TLS, the node writer, and a simulated driver
with eight GPUs. Four pods are put into it, and a story is played with them; then it runs on and shows what happens, until Ctrl-C.

Nothing needs to be installed or set up, free ports are taken, and everything is in a folder that goes with it. While it runs,
kubectl can join: the kubeconfig's path is printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from typing import TYPE_CHECKING

from podstrat import exits

if TYPE_CHECKING:
    from podstrat.up.system import Settings
    from podstrat.up.view import View

NEEDED = (
    "flask",
    "gunicorn",
    "prometheus_client",
    "cryptography",
    "cel_expr_python",
    "pydantic",
    "yaml",
    "grpc",
    "google.protobuf",
)
"""Packages that the processes require."""
HEALTH, MESSAGES = "ResourceHealthStatus", "ResourceHealthStatusMessage"


def arguments(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="play the story, verify each step, exit with 0 or 1")
    how.add_argument("--no-story", action="store_true", help="start the system without the story; run until Ctrl-C")
    parser.add_argument("--web", action="store_true", help="also serve a page with a live view of it")
    parser.add_argument("--port", type=int, default=0, help="port of the API server (default: any free port)")
    parser.add_argument("--kubernetes-version", default="1.37", metavar="X.Y", help="Kubernetes release (default 1.37)")
    parser.add_argument("--feature-gates", default="", metavar="A=true,B=false", help="feature gates of the API server")


def run(args: argparse.Namespace) -> int:
    _check_packages()
    settings, messages = _settings(args)
    from podstrat.up.process import UpError
    from podstrat.up.system import Stopped
    from podstrat.up.view import View

    view = View(live=sys.stdout.isatty() and not args.once)
    try:
        return _run(args, settings, messages, view)
    except Stopped:
        view.leave()
        return exits.INTERRUPTED if args.once else exits.OK
    except UpError as error:
        view.leave()
        print(f"podstrat up: {error}", file=sys.stderr)
        return exits.INVALID


def _check_packages() -> None:
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise exits.BadArguments(f"{', '.join(missing)} {verb} missing: `podstrat up` needs pip install 'podstrat[all]'")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _settings(args: argparse.Namespace) -> tuple[Settings, bool]:
    """Settings of the server, and whether it accepts health messages."""
    from podstrat.strategy.gates import history
    from podstrat.up.system import Settings

    try:
        gates = history.parse_flag(args.feature_gates)
        if HEALTH not in history.enabled(args.kubernetes_version, gates):
            gates.setdefault(HEALTH, True)  # off by default before 1.36, and what all this is about
        on = history.enabled(args.kubernetes_version, gates)
    except history.GateError as error:
        raise exits.BadArguments(str(error)) from None
    text = ",".join(f"{name}={'true' if value else 'false'}" for name, value in gates.items())
    return Settings(args.kubernetes_version, text, args.port, args.web), MESSAGES in on


def _run(args: argparse.Namespace, settings: Settings, messages: bool, view: View) -> int:
    from podstrat.up import scene, story
    from podstrat.up.scheduler import Scheduler
    from podstrat.up.system import System

    began = time.monotonic()
    view.say(f"podstrat up: API server ({settings.version}), webhook, node writer, a driver with {scene.DEVICES} GPUs ...")
    with System(settings) as system, Scheduler(system.api(), scene.NODE) as scheduler:
        system.watched.append(scheduler.check)
        view.say(f"They run. To join:\n\n  export KUBECONFIG={system.kubeconfig}\n")
        if system.page:
            view.say(f"In a browser:\n\n  {system.page}\n")
        stage = story.Stage(system, view, messages)
        scene.apply(stage.api, system.credentials.webhook_bundle)
        if not args.no_story:
            if not story.play(stage):
                return exits.INVALID
            view.say(f"{len(story.STEPS)} steps, all as they should be, in {time.monotonic() - began:.1f} s.\n")
        if args.once:
            view.refresh(stage.api)
            return exits.OK
        view.say(f"Ctrl-C ends it. Logs are in {system.folder}; the GPUs, as the node sees them:\n")
        view.say(f"  podstrat node devices --state-dir {system.folder}/state\n")
        while True:
            view.refresh(stage.api)
            system.rest(0.1)
