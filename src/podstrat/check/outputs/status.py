"""The server's own answer: a Status for each object that was checked, one a line, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from podstrat import printable
from podstrat.check.report import Result, Summary
from podstrat.strategy.formats import go

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        """It looks as the server has it."""

    def begin(self) -> Iterator[str]:
        yield from ()

    def result(self, result: Result) -> Iterator[str]:
        if result.status is not None:
            yield printable.in_json(go.to_json(result.status)) + "\n"

    def end(self, summary: Summary) -> Iterator[str]:
        yield from ()
