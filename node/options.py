"""The options of a simulated driver, and what it can be told. Apart from it, so that they can be listed where gRPC is missing."""

from __future__ import annotations

import argparse
from pathlib import Path

LANGUAGE = """A simulated driver: a DRA driver, a device plugin or both, told what to do line by line.

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

HEALTH = ("v1", "v1alpha1", "newer", "older")
"""The health services there are: the released ones, and the two of the documents."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path("/var/lib/kubelet"), help="the kubelet's directory (%(default)s)")
    parser.add_argument("--driver", metavar="NAME", help="be a DRA driver of this name")
    parser.add_argument("--resource", metavar="NAME", help="be a device plugin for this resource")
    parser.add_argument("--devices", type=int, default=8, metavar="N", help="so many, gpu-0 and on (%(default)s)")
    parser.add_argument("--pool", default="node-1", help="the pool of the DRA driver's devices (%(default)s)")
    parser.add_argument("--health", nargs="*", choices=HEALTH, default=["v1"], help="the health services it has (v1)")
    parser.add_argument("--prepares", nargs="*", choices=("v1", "v1beta1"), default=["v1"], help="the versions of DRA (v1)")
    parser.add_argument("--refresh", type=float, default=10.0, metavar="SECONDS", help="report so often (%(default)s)")
    parser.add_argument("--script", metavar="FILE", default="-", help="the lines; - is standard input, which is the default")
