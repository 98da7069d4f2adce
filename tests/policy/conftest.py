"""The command, run in this process and in a directory of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from podstrat import cli

EXAMPLES = Path(__file__).parent.parent.parent / "docs/examples/policies"


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def podstrat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Done]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*argv: object) -> Done:
        code = cli.main([str(word) for word in argv])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def examples() -> Path:
    """The directory of the example policies."""
    return EXAMPLES
