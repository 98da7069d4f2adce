"""Run the language server on standard input and output: diagnostics, hover, completion and fixes in an editor."""

from __future__ import annotations

import argparse
import logging
import sys

from podstrat import exits


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="the only transport; accepted because editors pass it")
    parser.add_argument("--log-file", metavar="FILE", help="write a log there (default: none)")


def run(args: argparse.Namespace) -> int:
    try:
        from podstrat.lsp import server
    except ModuleNotFoundError as error:
        print(f"podstrat lsp needs {error.name}: pip install 'podstrat[lsp]'", file=sys.stderr)
        return exits.USAGE
    if args.log_file:
        logging.basicConfig(filename=args.log_file, level=logging.INFO)
    server.make().start_io()
    return exits.OK
