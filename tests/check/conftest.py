"""The command, run in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from podstrat import cli
from podstrat.check import config

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: web
    image: nginx:1.29
"""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """Nothing from around the tests: no settings, no colours, and a directory of their own."""
    for name in (config.VARIABLE, "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def podstrat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Runs the command; ``stdin`` is what is piped into it."""

    def run(*argv: object, stdin: str | bytes = b"") -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = cli.main([str(word) for word in argv])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def write(tmp_path) -> Callable[..., str]:
    """Writes a file into the test's directory; the result is its name."""

    def write(name: str, text: str | bytes = GOOD) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return write
