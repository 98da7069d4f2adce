"""A simulated driver: a DRA driver, a device plugin or both, told what to do line by line.

    health gpu-0 Unhealthy XID 79: fallen off the bus     a device, or all that match (gpu-*)
    timeout gpu-* 60                                      how many seconds a report is good for
    add gpu-8 gpu-9        remove gpu-3                   devices come and go
    tell                                                  report again as things are
    quiet        speak                                    do not report changes for now; report them
    end                                                   end the health streams
    hang NodePrepareResources        answer GetInfo       a call is not answered; it is again
    fail CLAIM-UID permanent no such firmware             preparing this claim fails (permanent, or transient)
    mend CLAIM-UID
    roll                                                  a rolling update: the new driver comes, then the old one goes
    wait 5                                                seconds
    stop        crash                                     go in good order; be gone

Each line is answered with `ok`, or with what is wrong with it.
"""

from __future__ import annotations

import argparse

from node import options
from podstrat import exits


def arguments(parser: argparse.ArgumentParser) -> None:
    options.arguments(parser)


def run(args: argparse.Namespace) -> int:
    try:
        from node import simulation
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[node]'") from None
    return simulation.run(args)
