"""The file of --resume: what has been judged, a line of JSON for each page, so that a stopped audit goes on where it was.

The first line says which audit this is; a line that was not written whole does not count. A complete audit removes the file.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat import exits
from podstrat.audit.listing import Position
from podstrat.check.report import Finding, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.report import Summary


class Judged(NamedTuple):
    """The objects of one page: those that there is something to say about, and how many others."""

    kind: str
    position: Position
    results: list[Result]
    others: list[tuple[str, tuple[str, ...], int]]
    """Why they were left out, what admission plugins could not look up, and how many objects that holds for."""
    left_out: str = ""
    """Why the kind could not be listed."""

    def add_to(self, summary: Summary) -> None:
        for result in self.results:
            summary.add(result)
        for skipped, unknown, times in self.others:
            for _ in range(times):
                summary.add(Result("", 0, self.kind, "", 1, skipped=skipped, unknown=unknown))


class Journal:
    """The pages that have been judged, in a file."""

    def __init__(self, path: str, about: dict[str, Any]) -> None:
        self._path = path
        self._file = open(path, "a+b")  # noqa: SIM115 - closed by close
        self._file.seek(0)
        head, expected = self._file.readline(), _line(about)
        if not expected.startswith(head):
            self._file.close()
            raise exits.BadArguments(f"--resume: {path} is not of an audit with these arguments; remove it to start again")
        if head != expected:  # empty, or not written whole
            self._file.truncate(0)
            self._file.write(expected)

    def pages(self) -> Iterator[Judged]:
        """What the file has; a torn last line is cut off."""
        self._file.seek(0)
        self._file.readline()
        end = self._file.tell()
        while (line := self._file.readline()).endswith(b"\n"):
            end = self._file.tell()
            yield _judged(json.loads(line))
        self._file.truncate(end)

    def add(self, page: Judged) -> None:
        self._file.write(_line(page))
        self._file.flush()

    def close(self, complete: bool) -> None:
        self._file.close()
        if complete:
            os.unlink(self._path)


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _judged(line: list[Any]) -> Judged:
    kind, position, results, others, left_out = line
    return Judged(
        kind,
        Position(*position),
        [_result(*each) for each in results],
        [(skipped, tuple(unknown), times) for skipped, unknown, times in others],
        left_out,
    )


def _result(*values: Any) -> Result:
    result = Result(*values)
    return result._replace(
        errors=tuple(Finding(*each) for each in result.errors),
        warnings=tuple(Finding(*each) for each in result.warnings),
        unknown=tuple(result.unknown),
    )
