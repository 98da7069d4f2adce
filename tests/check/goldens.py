"""Reports in every format about the same few files: kept, compared, and rewritten by `python -m tests.check.goldens`."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from podstrat import cli
from podstrat.check.command import FORMATS

HERE = Path(__file__).parent / "goldens"
FILES = ("web.yaml", "mixed.yaml", "list.json", "broken.yaml")


def kept(name: str) -> Path:
    return HERE / f"report.{name}"


def made(name: str) -> tuple[str, str]:
    """The report in a format, and what stands beside it on standard error."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.StringIO()
    before = os.getcwd()
    os.chdir(HERE / "input")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(["check", *FILES, "-o", name, "-j", "1", "--config", os.devnull])
    finally:
        os.chdir(before)
    assert code == 1, err.getvalue()
    out.seek(0)
    return out.read(), err.getvalue()


if __name__ == "__main__":
    for each in FORMATS:
        kept(each).write_text(made(each)[0], encoding="utf-8")
