"""Output formats of a report: one module each, with a class Writer whose text is all that goes to standard output."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Protocol

from podstrat.check.report import Result, Summary
from podstrat.records import NamedTuple

FORMATS = ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "status")


class Look(NamedTuple):
    """How the report is to look."""

    version: str = "1.37"
    """The release whose rules were applied."""
    colour: bool = False
    quiet: bool = False
    verbose: bool = False
    summary: bool = False


class Writer(Protocol):
    """Turns results into text as they come."""

    def begin(self) -> Iterator[str]: ...

    def result(self, result: Result) -> Iterator[str]: ...

    def end(self, summary: Summary) -> Iterator[str]: ...


def writer(name: str, look: Look) -> Writer:
    """The writer of a format."""
    instance: Writer = importlib.import_module(f"podstrat.check.outputs.{name}").Writer(look)
    return instance
