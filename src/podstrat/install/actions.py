"""Sub-commands of `podstrat webhook`: install, status, uninstall, lint."""

from __future__ import annotations

import argparse
import importlib
from typing import NamedTuple


class Action(NamedTuple):
    """A sub-command: its module, and the functions that add its arguments and run it."""

    module: str
    arguments: str
    run: str
    help: str


ACTIONS = {
    "install": Action(
        "podstrat.install.command", "install_arguments", "run_install", "install the webhook in a cluster, or upgrade it"
    ),
    "status": Action("podstrat.install.command", "status_arguments", "run_status", "check the installation"),
    "uninstall": Action("podstrat.install.command", "uninstall_arguments", "run_uninstall", "remove the webhook from a cluster"),
    "migrate": Action(
        "podstrat.install.command",
        "migrate_arguments",
        "run_migrate",
        "remove the backport annotations after the upgrade to 1.33",
    ),
    "lint": Action("podstrat.lint.command", "arguments", "run", "check webhook configurations against good practice"),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the sub-commands; without one the webhook itself is run."""
    choices = parser.add_subparsers(dest="action", metavar="ACTION", title="sub-commands", prog="podstrat webhook")
    for name, action in ACTIONS.items():
        module = importlib.import_module(action.module)
        subparser = choices.add_parser(
            name, help=action.help, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        getattr(module, action.arguments)(subparser)


def run(args: argparse.Namespace) -> int:
    """Runs the selected sub-command."""
    action = ACTIONS[args.action]
    code: int = getattr(importlib.import_module(action.module), action.run)(args)
    return code
