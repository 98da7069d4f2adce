"""The command line itself: finding the sub-command, exit codes, and ending cleanly whatever happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types

import pytest

import podstrat
from podstrat import cli, exits

EVERY = ", ".join(cli.COMMANDS)


@pytest.fixture
def command(monkeypatch):
    """Adds a sub-command `try` that does what it is told."""

    def add(run):
        module = types.ModuleType("tried", "What is tried.")
        module.arguments = lambda parser: parser.add_argument("--times", type=int, default=1, help="how often")
        module.run = run
        monkeypatch.setitem(sys.modules, "tried", module)
        monkeypatch.setitem(cli.COMMANDS, "try", cli.Command("tried", "tries something"))

    return add


def fails(error):
    def run(args):
        raise error

    return run


def shell(script):
    """The script's exit code and error output; `$podstrat` in it is the command."""
    environ = os.environ | {"podstrat": f"{sys.executable} -m podstrat"}
    done = subprocess.run(["sh", "-c", script], env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_version(capsys):
    assert cli.main(["--version"]) == exits.OK
    assert capsys.readouterr().out in [f"podstrat {podstrat.__version__} ({build})\n" for build in ("pure", "compiled")]


def test_the_version_is_a_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", podstrat.__version__)


def test_help_lists_every_command(capsys):
    assert cli.main(["--help"]) == exits.OK
    out = capsys.readouterr().out
    for name, entry in cli.COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.help)}$", out, re.MULTILINE)
    assert "PODSTRAT_DEBUG" in out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_has_help(name, capsys):
    assert cli.main([name, "--help"]) == exits.OK
    assert capsys.readouterr().out.startswith(f"usage: podstrat {name} ")


@pytest.mark.parametrize(
    "argv, complaint",
    [
        pytest.param([], f"podstrat: error: no command given (one of: {EVERY})", id="no-command"),
        pytest.param(["gate"], f"podstrat: error: unknown command 'gate' (one of: {EVERY})", id="unknown-command"),
        pytest.param(["--loud", "gates"], "podstrat: error: unrecognized arguments: --loud", id="unknown-option"),
        pytest.param(["gates", "--loud"], "podstrat gates: error: unrecognized arguments: --loud", id="option-of-no-command"),
    ],
)
def test_bad_arguments(argv, complaint, capsys):
    assert cli.main(argv) == exits.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == complaint


def test_a_command_gets_its_arguments_and_gives_the_exit_code(command, capsys):
    command(lambda args: print("tried" * args.times) or exits.INVALID)
    assert cli.main(["try", "--times", "2"]) == exits.INVALID
    assert capsys.readouterr().out == "triedtried\n"


@pytest.mark.parametrize(
    "error, code, text",
    [
        pytest.param(exits.BadArguments("no such release"), exits.USAGE, "podstrat: no such release\n", id="bad-arguments"),
        pytest.param(
            FileNotFoundError(2, "No such file or directory", "pod.yaml"),
            exits.USAGE,
            "podstrat: [Errno 2] No such file or directory: 'pod.yaml'\n",
            id="missing-file",
        ),
        pytest.param(KeyboardInterrupt(), exits.INTERRUPTED, "", id="ctrl-c"),
    ],
)
def test_what_goes_wrong_outside(error, code, text, command, capsys):
    command(fails(error))
    assert cli.main(["try"]) == code
    assert capsys.readouterr().err == text


def test_a_bug_shows_no_traceback(command, capsys, monkeypatch):
    monkeypatch.delenv("PODSTRAT_DEBUG", raising=False)
    command(fails(KeyError("image")))
    assert cli.main(["try"]) == exits.BUG
    assert capsys.readouterr().err == (
        "podstrat: internal error: KeyError: 'image'\n"
        "This is a bug in podstrat, not in your input. Set PODSTRAT_DEBUG=1 to see where it happened.\n"
    )


def test_a_bug_shows_its_traceback_when_asked(command, capsys, monkeypatch):
    monkeypatch.setenv("PODSTRAT_DEBUG", "1")
    command(fails(KeyError("image")))
    assert cli.main(["try"]) == exits.BUG
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("This is a bug in podstrat, not in your input.\n")


@pytest.mark.parametrize(
    "unbuffered", [pytest.param("1", id="while-printing"), pytest.param("", id="when-what-is-left-is-flushed")]
)
def test_a_reader_that_has_gone_away(unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    environ = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        [sys.executable, "-m", "podstrat", "gates"], env=environ, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (exits.BROKEN_PIPE, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk():
    assert shell("$podstrat gates > /dev/full") == (exits.USAGE, "podstrat: [Errno 28] No space left on device\n")


def test_closed_output():
    assert shell("$podstrat gates >&-") == (exits.OK, "")


def test_errors_that_cannot_be_printed_still_have_their_exit_code():
    assert shell("$podstrat check no-such-file.yaml 2>/dev/full") == (exits.USAGE, "")


@pytest.mark.parametrize("more, code", [([], exits.OK), (["--no-such-option"], exits.USAGE)])
def test_a_short_command_ends_its_process_in_order(more, code):
    """Its output, piped and therefore buffered, is whole; functions for the end run; nothing behind main does."""
    script = """
        import atexit, sys
        from podstrat.cli import main
        atexit.register(print, "at the end")
        code = main()
        print("behind main")
        sys.exit(code)
    """
    command = [sys.executable, "-c", "\n".join(map(str.strip, script.splitlines())), "gates", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert done.stdout.endswith("at the end\n")
    assert bool(done.stderr) == bool(more)


def test_a_short_command_with_threads_ends_as_usual():
    script = "import sys, threading; from podstrat.cli import main; code = main(); print('behind main'); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", script, "gates"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (exits.OK, "behind main")


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "podstrat", "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == exits.OK
    assert done.stdout.startswith(f"podstrat {podstrat.__version__} (")
