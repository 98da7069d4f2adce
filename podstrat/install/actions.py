"""What `podstrat webhook` does besides being the webhook: an action is a word behind it."""

from __future__ import annotations

import argparse
import importlib
from typing import NamedTuple


class Action(NamedTuple):
    """Where an action lives: its module, and in it the function that says its arguments and the one that runs it."""

    module: str
    arguments: str
    run: str
    help: str


ACTIONS = {
    "install": Action("podstrat.install.command", "install_arguments", "install", "put it into a cluster, or a new one over it"),
    "status": Action("podstrat.install.command", "status_arguments", "status", "whether it is there, and well"),
    "uninstall": Action("podstrat.install.command", "uninstall_arguments", "uninstall", "take it out of a cluster"),
    "lint": Action("podstrat.lint.command", "arguments", "run", "any webhook configuration against the list of good practice"),
}


def add(parser: argparse.ArgumentParser) -> None:
    """The actions as sub-commands; without one the webhook itself is run."""
    choices = parser.add_subparsers(
        dest="action", metavar="ACTION", title="actions, instead of running the webhook", prog="podstrat webhook"
    )
    for name, action in ACTIONS.items():
        module = importlib.import_module(action.module)
        made = choices.add_parser(
            name, help=action.help, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        getattr(module, action.arguments)(made)


def run(args: argparse.Namespace) -> int:
    """Runs the action that was named."""
    action = ACTIONS[args.action]
    code: int = getattr(importlib.import_module(action.module), action.run)(args)
    return code
