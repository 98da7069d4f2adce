"""podstrat driver-sim: the simulated driver of node.simulation."""

from __future__ import annotations

import argparse

from node import options
from podstrat import exits

__doc__ = options.LANGUAGE  # what --help says


def arguments(parser: argparse.ArgumentParser) -> None:
    options.arguments(parser)


def run(args: argparse.Namespace) -> int:
    try:
        from node import simulation
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[node]'") from None
    return simulation.run(args)
