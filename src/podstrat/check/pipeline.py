"""The check pipeline: inputs, pieces of them, documents, results in order; in this process or, for large inputs, in several."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from podstrat import goyaml
from podstrat.check import helm, inputs
from podstrat.check.evaluate import Evaluator
from podstrat.check.lines import Lines
from podstrat.check.report import CHART, Result, Summary, Unread
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from podstrat.check.baseline import Baseline
    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Piece, Source
    from podstrat.goyaml import Document

MANY_BYTES = 4 << 20  # with less, starting processes takes longer than the check
MANY_FILES = 400
"""From here on several processes are worth their start."""
MOST_PROCESSES = 64
"""Whatever is asked for: the number may stand in the configuration of a repository that somebody else wrote."""
GC_THRESHOLD = (100_000, 20, 100)
"""Garbage collector thresholds: objects are trees, and the default costs a tenth of the time."""

# Files that kubectl plugins and charts keep beside manifests.
BUILDING = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml", "Chart.lock"})
NOT_A_MANIFEST = "a kustomize or Helm file, not a manifest"
_SOURCE = "# Source: "
_IGNORE = b"podstrat: ignore="
"""What a comment that suppresses a finding has in it."""


class Run(NamedTuple):
    """The inputs and settings of one run."""

    sources: list[Source]
    settings: Settings
    jobs: int
    """How many processes; 0 to choose by the size of the input."""
    summary: Summary
    progress: Callable[[int], None]
    """Is told how many bytes have been done."""
    evaluator: Evaluator | None = None
    """One that judges otherwise; it works in this process."""
    baseline: Baseline | None = None

    def results(self) -> Iterator[Result]:
        """The results, in the order of files and documents."""
        count = min(self.jobs, MOST_PROCESSES) or _processes(self.sources)
        pieces = self._pieces()
        if count == 1 or self.evaluator:
            checks = _in_process(pieces, self.evaluator or Evaluator(self.settings))
        else:
            from podstrat.check import parallel

            checks = parallel.run(pieces, self.settings, count)
        file, before = "", 0
        for piece, checked in checks:
            if piece.line == 1 or piece.name != file:
                file, before = piece.name, 0
                self.summary.files += not checked.failure
            if checked.failure:
                self.summary.unread.append(Unread(piece.name, checked.failure))
            for result in checked.results:
                result = result._replace(document=result.document + before) if before else result
                if self.baseline is not None:
                    result = self.baseline.apply(result)
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


def _in_process(pieces: Iterable[Piece], evaluator: Evaluator) -> Iterator[tuple[Piece, Checked]]:
    before = gc.get_threshold()
    gc.set_threshold(*GC_THRESHOLD)
    try:
        for piece in pieces:
            yield piece, check(piece, evaluator)
    finally:
        gc.set_threshold(*before)


def _processes(sources: list[Source]) -> int:
    if sum(source.size for source in sources) < MANY_BYTES and len(sources) < MANY_FILES:
        return 1
    return processors()


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


# ---- one piece ---------------------------------------------------------------------------------------


class Checked(NamedTuple):
    """What has become of a piece."""

    results: list[Result]
    documents: int
    """How many documents it had."""
    failure: str = ""
    """Why it could not be read."""


def check(piece: Piece, evaluator: Evaluator) -> Checked:
    """The results of everything in a piece."""
    if piece.chart:
        name = os.path.basename(os.path.abspath(piece.name))
        return Checked([Result(piece.name, 0, CHART, name, 1, skipped=helm.chart_skipped(piece.name))], 1)
    if piece.skip:
        return Checked([Result(piece.name, 0, "", "", 1, skipped=piece.skip)], 1)
    text = piece.text
    if piece.path:
        try:
            text = inputs.content(piece.path)
        except OSError as error:
            return Checked([], 0, error.strerror or str(error))
    if os.path.basename(piece.name) in BUILDING:
        return Checked([Result(piece.name, 0, "", "", 1, skipped=NOT_A_MANIFEST)], 1)
    stream = goyaml.documents(text, piece.name, piece.line)
    lines = Lines(text, piece.line)
    results = list(_results(stream, evaluator, lines))
    if _IGNORE in text:
        from podstrat.check import suppressions

        comments = list(suppressions.comments(lines, piece.line, piece.line + lines.count - 1))
        results = suppressions.by_comments(results, comments, lines)
    return Checked(results, stream.count)


def _results(stream: goyaml.Documents, evaluator: Evaluator, lines: Lines) -> Iterator[Result]:
    rendered = _SOURCE.encode() in lines.text
    while True:
        try:
            document = next(stream)
        except StopIteration:
            return
        except goyaml.YamlError as error:
            from podstrat.check import findings

            yield findings.unreadable(error, stream.count - 1, lines(error.line), evaluator.settings.status, lines.text)
            continue
        template = _template(document, lines) if rendered else ""
        for result in evaluator.document(document, lines):
            if result.errors and helm.is_template(lines.text):
                from podstrat.check import findings

                result = findings.of_template(result)
            yield result._replace(template=template) if template else result


def _template(document: Document, lines: Lines) -> str:
    """The file that Helm has made a document from: a comment before its content says so."""
    number = document.line - 1
    while number > 0 and _is_comment(line := lines(number).strip()):
        if line.startswith(_SOURCE):
            return line.removeprefix(_SOURCE).strip()
        number -= 1
    return ""


def _is_comment(line: str) -> bool:
    return not line or line.startswith("#")
