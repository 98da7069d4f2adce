"""From files to a scene: rules look at objects together, so all of them are read first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import goyaml
from podstrat.check import findings, inputs, objects
from podstrat.check.inputs import Source
from podstrat.check.reading import BUILDING, NOT_A_MANIFEST
from podstrat.check.report import Result, Summary, Unread
from podstrat.lint.judging import Read
from podstrat.lint.subjects import Scene


def read(sources: Iterable[Source], scene: Scene, summary: Summary) -> Iterator[Read | Result]:
    """Every object of the sources, which the scene takes in; a result for what is none. The summary counts the files."""
    for source in sources:
        try:
            text = b"".join(_whole(piece) for piece in inputs.pieces(source))
        except OSError as error:
            summary.unread.append(Unread(source.name, error.strerror or str(error)))
            continue
        summary.files += 1
        if os.path.basename(source.name) in BUILDING:
            yield Result(source.name, 0, "", "", 1, skipped=NOT_A_MANIFEST)
        else:
            yield from _documents(text, source.name, scene)


def _whole(piece: inputs.Piece) -> bytes:
    if not piece.path:
        return piece.text
    with open(piece.path, "rb") as file:
        return file.read()


def _documents(text: bytes, name: str, scene: Scene) -> Iterator[Read | Result]:
    lines = _Lines(text)
    stream = goyaml.documents(text, name)
    while True:
        try:
            document = next(stream)
        except StopIteration:
            return
        except goyaml.YamlError as error:
            yield findings.unreadable(error, stream.count - 1, lines(error.line), status=False)
            continue
        for each in objects.of(document.value):
            yield Read(document, each, scene.add(each.value), lines)


class _Lines:
    """The lines of a text by their number; split when one is first asked for."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lines: list[str] | None = None

    def __call__(self, number: int) -> str:
        if self._lines is None:
            self._lines = self._text.decode(errors="replace").splitlines()
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""
