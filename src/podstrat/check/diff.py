"""Whether an update of an object is allowed, whether it raises the generation, and why: `podstrat diff old.yaml new.yaml`.

An object that comes from a server (it has a uid) is taken as it is; any other is created first. Custom resources are checked as
new objects.
"""

from __future__ import annotations

import argparse

from podstrat import exits
from podstrat.check import command, options

FORMATS = (*command.FORMATS, "jsonpatch")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="file with the current object; - for standard input")
    parser.add_argument("new", metavar="NEW", help="file with the updated object; - for standard input")
    options.updates(parser)
    options.server(parser)
    parser.add_argument("-o", "--output", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default text)")
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default auto: on a terminal")
    options.configuration(parser)


def run(args: argparse.Namespace) -> int:
    options.configured(args)
    if args.old == args.new == "-":
        raise exits.BadArguments("OLD and NEW cannot both be standard input")
    output = args.output or "text"
    if output not in FORMATS:
        raise exits.BadArguments(f"unknown output format {output!r} (one of: {', '.join(FORMATS)})")
    # The rest is as `podstrat check --old OLD NEW` would have it.
    rest = {
        "paths": [args.new],
        "filename": [],
        "recursive": False,
        "kustomize": [],
        "helm": [],
        "stdin_filename": "",
        "ignore_filename_pattern": None,
        "summary": None,
        "verbose": True,
        "jobs": 1,
        "fail_fast": None,
        "allow_empty": None,
        "exit_zero": None,
        "send": "raw",
        "baseline": None,
        "references": None,
        "fix": None,
        "write_baseline": None,
    }
    for name, value in rest.items():
        setattr(args, name, value)
    return command.checked(args, output)
