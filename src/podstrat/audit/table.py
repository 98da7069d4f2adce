"""The report as a table: a row for each finding, written as it is found, and the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podstrat.printable import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.outputs import Look
    from podstrat.check.report import Finding, Result, Summary

WIDTHS = (20, 44, 12)
"""Of the columns before the message. Rows are written before the longest name is known: a longer one pushes its row."""


class Writer:
    def __init__(self, look: Look) -> None:
        self._look = look
        self._empty = True

    def begin(self) -> Iterator[str]:
        yield from ()

    def result(self, result: Result) -> Iterator[str]:
        # A workload that the server takes: what is wrong is wrong with its pods.
        refused = "pods refused" if 200 <= result.code < 300 else "refused"
        findings = [(refused, each) for each in result.errors]
        findings += [] if self._look.quiet else [("warning", each) for each in result.warnings]
        if findings and self._empty:
            self._empty = False
            yield _row("NAMESPACE", "OBJECT", "VERDICT", "MESSAGE")
        for verdict, finding in findings:
            yield _row(result.namespace, result.title, verdict, _message(finding))

    def end(self, summary: Summary) -> Iterator[str]:
        if not self._look.quiet:
            yield f"{counts(summary, self._look.version)}\n"


def counts(summary: Summary, version: str) -> str:
    """The audit in one line."""
    reasons = ", ".join(f"{times} {reason}" for reason, times in sorted(summary.reasons.items()))
    noun = "object" if summary.checked == 1 else "objects"
    return (
        f"{summary.checked} {noun} judged by {version}: {summary.valid} accepted, {summary.invalid} refused "
        f"(errors: {summary.errors}, warnings: {summary.warnings}){f'; left out: {reasons}' if reasons else ''}"
    )


def _row(*cells: str) -> str:
    *first, message = cells
    return "  ".join([*(plain(cell).ljust(width) for cell, width in zip(first, WIDTHS, strict=True)), message]) + "\n"


def _message(finding: Finding) -> str:
    text = plain(" ".join(finding.message.split("\n")).strip())
    return f"{text} [{finding.plugin}]" if finding.plugin else text
