"""Runs the commands of docs/transcripts, and of the console blocks in pages, and keeps what they print: `make transcripts`.

A transcript is a text file: lines that begin with `$ ` are commands, what follows is their output, and `[exit N]` tells how one
ended that did not end with 0. The commands of a file stay as they are; everything between them is made anew.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = ROOT / "docs" / "transcripts"
FILES = TRANSCRIPTS / "files"
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
VARIABLE = (
    (re.compile(r"/\S*/podstrat-up-\w+"), "/tmp/podstrat-up-..."),
    (re.compile(r"(as they should be, in )[\d.]+ s"), r"\1... s"),
)
"""What is different each time, and what stands for it."""


def commands(text: str) -> Iterator[str]:
    """The commands of a transcript."""
    for line in text.splitlines():
        if line.startswith("$ "):
            yield line.removeprefix("$ ")


def output(command: str, directory: Path = FILES) -> str:
    """What a command prints in a directory, standard error too."""
    here = f'podstrat() {{ {shlex.quote(sys.executable)} -m podstrat "$@"; }}'
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ.setdefault("PYTHONPYCACHEPREFIX", _compiled())
    environ |= {"PYTHONPATH": str(ROOT), "PODSTRAT_CONFIG": "", "COLUMNS": "100"}
    done = subprocess.run(
        ["sh", "-c", f"{here}\n{command}"],
        cwd=directory,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    ending = f"[exit {done.returncode}]\n" if done.returncode else ""
    return masked(done.stdout.decode()) + ending


def masked(text: str) -> str:
    """The same without what is different each time."""
    for pattern, stand_in in VARIABLE:
        text = pattern.sub(stand_in, text)
    return text


@cache
def _compiled() -> str:
    """Where Python keeps compiled modules for this run: each command is a new interpreter."""
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def made(text: str, directory: Path = FILES) -> str:
    """A transcript with the output that its commands have now."""
    return "\n".join(f"$ {command}\n{output(command, directory)}" for command in commands(text))


def page(text: str) -> str:
    """A page whose console blocks are made anew."""
    return CONSOLE.sub(lambda block: f"```console\n{made(block[1])}```", text)


def main() -> None:
    for path in sorted(TRANSCRIPTS.glob("*.txt")):
        _write(path, made(path.read_text()))
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        _write(path, page(path.read_text()))


def _write(path: Path, text: str) -> None:
    if text != path.read_text():
        path.write_text(text)
        print(f"{path.relative_to(ROOT)} is new")


if __name__ == "__main__":
    main()
