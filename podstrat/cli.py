"""The command `podstrat`: finds the sub-command, runs it, and turns what happens into an exit code.

A sub-command is a module with two functions, `arguments(parser)` and `run(args) -> int`, and a row in COMMANDS.
It is imported when it is run, so that no command waits for what another one needs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from podstrat import __version__, exits


class Command(NamedTuple):
    """One sub-command: where it lives, and its line in the help."""

    module: str
    help: str
    brief: bool = False
    """Whether it soon comes to its end by itself: then looking for garbage costs more than the garbage."""


COMMANDS = {
    "check": Command(
        "podstrat.check.command", "what the API server would say to these manifests, with line and column", brief=True
    ),
    "diff": Command(
        "podstrat.check.diff", "whether an update of a pod is allowed, and what it does to the generation", brief=True
    ),
    "explain": Command(
        "podstrat.check.explain", "what the server would default, drop and warn about, as annotated YAML", brief=True
    ),
    "matrix": Command(
        "podstrat.check.matrix", "which releases and gates accept a manifest, and what they make of it", brief=True
    ),
    "status": Command(
        "podstrat.check.health", "the health of the devices that a running pod's containers were given", brief=True
    ),
    "demo": Command("podstrat.demo", "a pod's life through the engine, in the terminal"),
    "up": Command("podstrat.up.command", "the whole system on this machine: server, webhook, node, GPUs, and a story"),
    "serve": Command("podstrat.serve", "an API server for tests and laptops, with the real pod strategy"),
    "webhook": Command("podstrat.webhook", "the admission webhook for a real cluster"),
    "node": Command("podstrat.node", "device health and observedGeneration into the status of this node's pods"),
    "driver-sim": Command("podstrat.driver_sim", "a simulated device driver that does as it is told"),
    "certs": Command("podstrat.certs", "the webhook's certificates: make, show, rotate, verify"),
    "gates": Command("podstrat.gates", "the feature gates that touch pods, and their state in each release", brief=True),
    "completion": Command("podstrat.check.completion", "completion for bash, zsh, fish and kubectl", brief=True),
}

_EPILOG = """\
exit codes:
  0  all is well
  1  what was looked at is not valid
  2  the arguments are wrong, or a file cannot be read or written
  3  a bug in podstrat (set PODSTRAT_DEBUG=1 to see the traceback)

`podstrat COMMAND --help` explains a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    try:
        code = _run(sys.argv[1:], alone=True) if argv is None else _run(argv)
        _flush()  # here, where a reader that has gone away is still ours to handle
        return code
    except BrokenPipeError:
        _abandon_output()
        return exits.BROKEN_PIPE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        _abandon_output()
        return _fail(str(error), exits.USAGE)
    except exits.BadArguments as error:
        return _fail(str(error), exits.USAGE)
    except Exception as error:
        return _bug(error)


def _run(argv: Sequence[str], alone: bool = False) -> int:
    # The options of the whole command take no values, so the first other word is the sub-command.
    at = next((i for i, word in enumerate(argv) if not word.startswith("-")), len(argv))
    try:
        name = argv[0] if argv and argv[0] in COMMANDS else _named(argv[: at + 1])
        if alone and COMMANDS[name].brief:
            _leave_garbage()
        command = _command(name)
        parser = argparse.ArgumentParser(prog=f"podstrat {name}", description=command.__doc__, formatter_class=_Formatter)
        command.arguments(parser)
        args = parser.parse_args(argv[at + 1 :])
    except SystemExit as end:  # --help and --version end with 0, what argparse refuses with 2
        return end.code if isinstance(end.code, int) else exits.USAGE
    code: int = command.run(args)
    return code


def _named(argv: Sequence[str]) -> str:
    """The sub-command; without one that there is, this ends here."""
    top = _parser()
    name: str | None = top.parse_args(argv).command
    if name not in COMMANDS:
        what = f"unknown command {name!r}" if name else "a command is needed"
        top.error(f"{what} (there is: {', '.join(COMMANDS)})")
    return name


def _leave_garbage() -> None:
    """Look for garbage in cycles seldom, and not once more at the end: together a seventh of a short run."""
    import atexit
    import gc

    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)


def _command(name: str) -> ModuleType:
    """The module of a sub-command. What only some commands need is not installed everywhere, nor in the one-file podstrat."""
    try:
        return importlib.import_module(COMMANDS[name].module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("podstrat", "strategy", "goyaml"):
            raise  # ours, and everywhere
        raise exits.BadArguments(f"{missing} is missing: `podstrat {name}` needs pip install 'podstrat[all]'") from None


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse itself would load shutil for that, and does so when the first argument is added."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="podstrat",
        usage="podstrat [--help] [--version] COMMAND ...",
        description="What the Kubernetes API server does to a Pod.\n\ncommands:\n" + _listing(),
        epilog=_EPILOG,
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"podstrat {__version__}")
    parser.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    return parser


def _listing() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(f"  {name:{width}}  {command.help}" for name, command in COMMANDS.items())


def _fail(text: str, code: int) -> int:
    print(f"podstrat: {text}", file=sys.stderr)
    return code


def _bug(error: Exception) -> int:
    if os.environ.get("PODSTRAT_DEBUG"):
        import traceback

        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    advice = "" if os.environ.get("PODSTRAT_DEBUG") else " Set PODSTRAT_DEBUG=1 to see where it happened."
    return _fail(f"internal error: {what}\nThis is a bug in podstrat, not in your input.{advice}", exits.BUG)


def _flush() -> None:
    print(end="", flush=True)  # unlike sys.stdout.flush() this works when standard output is closed


def _abandon_output() -> None:
    """Where what is left to print cannot be written, throw it away, or the interpreter would try again and complain."""
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
