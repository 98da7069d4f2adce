"""The options of a simulated driver. Apart from it, so that they can be listed where gRPC is not installed."""

from __future__ import annotations

import argparse
from pathlib import Path

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
