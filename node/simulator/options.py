"""Options and script language of driver-sim, importable without gRPC."""

from __future__ import annotations

import argparse
from pathlib import Path

LANGUAGE = """A simulated DRA driver, device plugin or both, controlled by a script, line by line.

    health gpu-0 Unhealthy XID 79: fallen off the bus     a device, or all that match (gpu-*)
    timeout gpu-* 60                                      how many seconds a report is good for
    add gpu-8 gpu-9        remove gpu-3                   devices come and go
    tell                                                  send a report
    quiet        speak                                    stop reporting changes; resume
    end                                                   end the health streams
    hang NodePrepareResources        answer GetInfo       a call gets no response; it does again
    fail CLAIM-UID permanent no such firmware             preparing this claim fails (permanent, or transient)
    mend CLAIM-UID
    roll                                                  a rolling update: the new driver comes, then the old one goes
    wait 5                                                seconds
    stop        crash                                     shut down gracefully; SIGKILL

Each line is answered with `ok` or an error.
"""

HEALTH = ("v1", "v1alpha1", "newer", "older")
"""The released health services, and the two of the KEP texts."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path("/var/lib/kubelet"), help="the kubelet's directory (%(default)s)")
    parser.add_argument("--driver", metavar="NAME", help="act as a DRA driver of this name")
    parser.add_argument("--resource", metavar="NAME", help="act as a device plugin for this resource")
    parser.add_argument("--devices", type=int, default=8, metavar="N", help="number of devices, gpu-0 and on (%(default)s)")
    parser.add_argument("--pool", default="node-1", help="the pool of the DRA driver's devices (%(default)s)")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="API server, to read claims and publish ResourceSlices")
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: its current context)")
    parser.add_argument("--node", metavar="NAME", help="node of the ResourceSlices (the pool)")
    parser.add_argument("--cdi-dir", type=Path, metavar="DIR", help="write CDI specs here (with a real kubelet: /var/run/cdi)")
    parser.add_argument("--health", nargs="*", choices=HEALTH, default=["v1"], help="health services to serve (v1)")
    parser.add_argument("--prepares", nargs="*", choices=("v1", "v1beta1"), default=["v1"], help="DRA versions to serve (v1)")
    parser.add_argument("--refresh", type=float, default=10.0, metavar="SECONDS", help="interval between reports (%(default)s)")
    parser.add_argument("--script", metavar="FILE", default="-", help="script file; - for standard input (%(default)s)")
