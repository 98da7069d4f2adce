"""A whole run: from what was asked for to results, in order, with the counts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from podstrat.check import inputs, workers
from podstrat.check.judge import Judge
from podstrat.check.report import Result, Summary, Unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podstrat.check.inputs import Piece, Source
    from podstrat.check.judge import Settings

MANY_BYTES = 4 << 20
MANY_FILES = 400
"""From here on several processes are worth their start."""


class Run(NamedTuple):
    """What is to be checked, and how."""

    sources: list[Source]
    settings: Settings
    jobs: int
    """How many processes; 0 to choose by the size of the input."""
    summary: Summary
    progress: Callable[[int], None]
    """Is told how many bytes have been done."""
    judge: Judge | None = None
    """One that judges otherwise; it works in this process."""

    def results(self) -> Iterator[Result]:
        """The results, in the order of files and documents."""
        count = self.jobs or _processes(self.sources)
        pieces = self._pieces()
        if count == 1 or self.judge:
            done = workers.alone(pieces, self.judge or Judge(self.settings))
        else:
            done = workers.together(pieces, self.settings, count)
        file, before = "", 0
        for piece, checked in done:
            if piece.line == 1 or piece.name != file:
                file, before = piece.name, 0
                self.summary.files += not checked.failure
            if checked.failure:
                self.summary.unread.append(Unread(piece.name, checked.failure))
            for result in checked.results:
                result = result._replace(document=result.document + before) if before else result
                self.summary.add(result)
                yield result
            before += checked.documents
            self.progress(piece.size)

    def _pieces(self) -> Iterator[Piece]:
        for source in self.sources:
            try:
                yield from inputs.pieces(source)
            except OSError as error:
                self.summary.unread.append(Unread(source.name, error.strerror or str(error)))


def _processes(sources: list[Source]) -> int:
    if sum(source.size for source in sources) < MANY_BYTES and len(sources) < MANY_FILES:
        return 1
    return processors()


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
