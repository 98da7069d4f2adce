"""The `podstrat` command line: dispatches to a sub-command and maps its outcome to an exit code.

A sub-command is a module with two functions, `arguments(parser)` and `run(args) -> int`, and a row in COMMANDS.
It is imported when it is run, so that no command waits for what another one needs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from podstrat import __version__, exits, printable
from podstrat.records import NamedTuple


class Command(NamedTuple):
    """One sub-command: where it lives, and its line in the help."""

    module: str
    help: str
    brief: bool = False
    """Whether it is short-lived: then it is started in a hurry."""


COMMANDS = {
    "check": Command("podstrat.check.command", "validate manifests as the API server would, with line and column", brief=True),
    "diff": Command(
        "podstrat.check.diff", "check whether an update of an object is allowed and raises the generation", brief=True
    ),
    "explain": Command(
        "podstrat.check.explain", "show what the server would default, drop and warn about, as annotated YAML", brief=True
    ),
    "matrix": Command("podstrat.check.matrix", "compare how releases and feature gates treat a manifest", brief=True),
    "world": Command("podstrat.check.cluster", "write the objects of a cluster that check --world needs", brief=True),
    "audit": Command("podstrat.audit.command", "report which pods and workloads of a cluster a release would refuse"),
    "status": Command("podstrat.check.device_health", "show device health of a running pod's containers", brief=True),
    "demo": Command("podstrat.commands.demo", "walk through a pod's lifecycle in the terminal"),
    "up": Command("podstrat.up.command", "run the whole system on this machine: server, webhook, node, GPUs, and a story"),
    "serve": Command("podstrat.commands.serve", "run an API server for tests and laptops, with the real pod strategy"),
    "webhook": Command("podstrat.commands.webhook", "run the admission webhook for a cluster, or install it"),
    "node": Command("podstrat.commands.node", "write device health and observedGeneration to the status of this node's pods"),
    "driver-sim": Command("podstrat.commands.driver_sim", "run a simulated device driver controlled from standard input"),
    "certs": Command("podstrat.commands.certs", "manage the webhook's certificates: make, show, rotate, verify"),
    "policy": Command("podstrat.policy.command", "test admission policies, and estimate their cost", brief=True),
    "gates": Command(
        "podstrat.commands.gates", "list the feature gates that affect pods, and their state in each release", brief=True
    ),
    "lsp": Command("podstrat.lsp.command", "run the language server for editors, on standard input and output"),
    "play": Command("podstrat.play.command", "serve a playground on this machine: the server's answer while one types"),
    "live": Command("podstrat.live.command", "serve a live view of a cluster on this machine: pods, devices, events, webhooks"),
    "completion": Command("podstrat.check.completion", "print shell completion for bash, zsh, fish and kubectl", brief=True),
}

_EPILOG = """\
exit codes:
  0  success
  1  invalid input objects
  2  invalid arguments, or a file cannot be read or written
  3  internal error, a bug in podstrat (PODSTRAT_DEBUG=1 prints the traceback)

`podstrat COMMAND --help` describes a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code. A short command in a process of its own ends the process here."""
    with printable.guarded():
        code = _main(argv)
    if argv is None and _in_a_hurry:
        _end(code)
    return code


def _main(argv: Sequence[str] | None) -> int:
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
            _hurry()
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
        what = f"unknown command {name!r}" if name else "no command given"
        top.error(f"{what} (one of: {', '.join(COMMANDS)})")
    return name


_in_a_hurry = False


def _hurry() -> None:
    """Leave out what a short run in a process of its own can do without.

    Cycles are collected rarely. argparse looks for its words in other languages, for which it imports locale: there are none,
    and ours are English.
    """
    global _in_a_hurry
    import gc

    gc.set_threshold(100_000, 20, 100)
    argparse._ = str  # type: ignore[attr-defined]
    _in_a_hurry = True


def _end(code: int) -> None:
    """End the process without taking its modules apart, object by object: the system takes the memory back at once.

    Functions registered with atexit run. Where there may be threads to wait for, the interpreter ends as usual, but for a last
    look for cycles.
    """
    import atexit
    import gc

    if "threading" in sys.modules:
        gc.freeze()
        return
    atexit._run_exitfuncs()
    _abandon_output()
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    finally:  # whatever cannot be said: the exit code says it
        os._exit(code)


def _command(name: str) -> ModuleType:
    """The module of a sub-command. What only some commands need is not installed everywhere, nor in the one-file podstrat."""
    try:
        return importlib.import_module(COMMANDS[name].module)
    except ModuleNotFoundError as error:
        root, _, room = (error.name or "").partition(".")
        missing = error.name if root == "podstrat" else root
        if root == "podstrat" and "." in room:
            raise  # a module of a room that is here: a bug, not an incomplete installation
        raise exits.BadArguments(f"{missing} is missing: `podstrat {name}` needs pip install 'podstrat[all]'") from None


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. argparse itself would load shutil for that, and does so when the first argument is added."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal() and int(text):
        return int(text)
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
    parser.add_argument("--version", action="version", version=f"podstrat {__version__} ({_build()})")
    parser.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    return parser


def _build() -> str:
    """Which engine runs: the sources, or the extensions of a compiled wheel. Asked only where no command is named."""
    return "compiled" if importlib.import_module("podstrat.strategy.compiled").COMPILED else "pure"


def _listing() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(f"  {name:{width}}  {command.help}" for name, command in COMMANDS.items())


def _fail(text: str, code: int) -> int:
    with contextlib.suppress(OSError):  # whatever cannot be said: the exit code says it
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
    """Print what is left; where it cannot be written, throw it away, or the interpreter would try again and complain."""
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
