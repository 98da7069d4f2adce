"""podstrat driver-sim: simulated DRA driver and device plugin."""

from __future__ import annotations

import argparse

from podstrat import exits
from podstrat.node.simulator import options

__doc__ = options.LANGUAGE  # what --help says


def arguments(parser: argparse.ArgumentParser) -> None:
    options.arguments(parser)


def run(args: argparse.Namespace) -> int:
    try:
        from podstrat.node.simulator import command
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[node]'") from None
    return command.run(args)
