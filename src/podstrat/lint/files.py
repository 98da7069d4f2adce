"""Reads files into a scene: rules relate objects to each other, so all input is read first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from podstrat import goyaml
from podstrat.check import findings, helm, inputs, manifest
from podstrat.check.inputs import Source
from podstrat.check.lines import Lines
from podstrat.check.pipeline import BUILDING, NOT_A_MANIFEST
from podstrat.check.report import CHART, Result, Summary, Unread
from podstrat.lint.evaluate import Read
from podstrat.lint.subjects import Scene


def read(sources: Iterable[Source], scene: Scene, summary: Summary) -> Iterator[Read | Result]:
    """Reads every object into the scene; yields a result for what is not an object. The summary counts the files."""
    for source in sources:
        if source.chart:
            yield Result(source.name, 0, CHART, os.path.basename(source.name), 1, skipped=helm.chart_skipped(source.name))
            continue
        if source.skip:
            yield Result(source.name, 0, "", "", 1, skipped=source.skip)
            continue
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
    return inputs.content(piece.path) if piece.path else piece.text


def _documents(text: bytes, name: str, scene: Scene) -> Iterator[Read | Result]:
    lines = Lines(text)
    stream = goyaml.documents(text, name)
    while True:
        try:
            document = next(stream)
        except StopIteration:
            return
        except goyaml.YamlError as error:
            yield findings.unreadable(error, stream.count - 1, lines(error.line), status=False, file=text)
            continue
        for each in manifest.of(document.value):
            yield Read(document, each, scene.add(each.value), lines)
