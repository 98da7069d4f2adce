"""From a piece of a file to results: the work that one process does alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import goyaml
from podstrat.check.judge import Judge
from podstrat.check.report import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goyaml import Document
    from podstrat.check.inputs import Piece

# Files that kubectl plugins and charts keep beside manifests.
BUILDING = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml", "Chart.lock"})
NOT_A_MANIFEST = "a file for kustomize or Helm, no manifest"
_SOURCE = "# Source: "


class Checked(NamedTuple):
    """What has become of a piece."""

    results: list[Result]
    documents: int
    """How many documents it had."""
    failure: str = ""
    """Why it could not be read."""


def check(piece: Piece, judge: Judge) -> Checked:
    """The results of everything in a piece."""
    text = piece.text
    if piece.path:
        try:
            with open(piece.path, "rb") as file:
                text = file.read()
        except OSError as error:
            return Checked([], 0, error.strerror or str(error))
    if os.path.basename(piece.name) in BUILDING:
        return Checked([Result(piece.name, 0, "", "", 1, skipped=NOT_A_MANIFEST)], 1)
    stream = goyaml.documents(text, piece.name, piece.line)
    lines = _Lines(text, piece.line)
    results = list(_results(stream, judge, lines))
    return Checked(results, stream.count)


def _results(stream: goyaml.Documents, judge: Judge, lines: _Lines) -> Iterator[Result]:
    helm = _SOURCE.encode() in lines.text
    while True:
        try:
            document = next(stream)
        except StopIteration:
            return
        except goyaml.YamlError as error:
            from podstrat.check import findings

            yield findings.unreadable(error, stream.count - 1, lines(error.line), judge.settings.status)
            continue
        template = _template(document, lines) if helm else ""
        for result in judge.document(document, lines):
            yield result._replace(template=template) if template else result


class _Lines:
    """The lines of a text by their number; split when one is first asked for."""

    def __init__(self, text: bytes, first: int) -> None:
        self.text = text
        self._first = first
        self._lines: list[str] | None = None

    def __call__(self, number: int) -> str:
        if self._lines is None:
            try:
                decoded = goyaml.document.decoded(self.text)
            except goyaml.YamlError:
                decoded = self.text.decode(errors="replace")
            self._lines = decoded.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        at = number - self._first
        return self._lines[at] if 0 <= at < len(self._lines) else ""


def _template(document: Document, lines: _Lines) -> str:
    """The file that Helm has made a document from: a comment before its content says so."""
    number = document.line - 1
    while number > 0 and _is_comment(line := lines(number).strip()):
        if line.startswith(_SOURCE):
            return line.removeprefix(_SOURCE).strip()
        number -= 1
    return ""


def _is_comment(line: str) -> bool:
    return not line or line.startswith("#")
