"""Whether an update of a pod is allowed, whether it raises the generation, and why: `podstrat diff old.yaml new.yaml`.

A pod that comes from a server (it has a uid) is taken as it is; any other is created first. Workloads are checked as new objects.
"""

from __future__ import annotations

import argparse

from podstrat import exits
from podstrat.check import command, options


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="a file with what is there; - is standard input")
    parser.add_argument("new", metavar="NEW", help="a file with what is to be; - is standard input")
    options.updates(parser)
    options.server(parser)
    parser.add_argument("-o", "--output", metavar="FORMAT", help=f"{', '.join(command.FORMATS)} (default text)")
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: on a terminal")
    options.configuration(parser)


def run(args: argparse.Namespace) -> int:
    options.configured(args)
    if args.old == args.new == "-":
        raise exits.BadArguments("only one of the two can be standard input")
    output = args.output or "text"
    if output not in command.FORMATS:
        raise exits.BadArguments(f"unknown output format {output!r} (there is: {', '.join(command.FORMATS)})")
    # The rest is as `podstrat check --old OLD NEW` would have it.
    rest = {
        "paths": [args.new],
        "filename": [],
        "recursive": False,
        "kustomize": [],
        "stdin_filename": "",
        "ignore_filename_pattern": None,
        "summary": None,
        "verbose": True,
        "jobs": 1,
        "fail_fast": None,
        "allow_empty": None,
        "exit_zero": None,
    }
    for name, value in rest.items():
        setattr(args, name, value)
    return command.checked(args, output)
