"""Findings as diagnostics: the server's words, the exact range, our hint below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from podstrat.check.report import Finding, Result
from podstrat.lsp import ranges
from podstrat.printable import plain

SOURCE = "podstrat"


def of(results: Sequence[Result], lines: Sequence[str]) -> list[lsp.Diagnostic]:
    return [each for result in results for each in _of_one(result, lines)]


def _of_one(result: Result, lines: Sequence[str]) -> Iterator[lsp.Diagnostic]:
    for error in result.errors:
        yield _diagnostic(error, lsp.DiagnosticSeverity.Error, lines)
    for warning in result.warnings:
        severity = lsp.DiagnosticSeverity.Information if warning.is_hint else lsp.DiagnosticSeverity.Warning
        yield _diagnostic(warning, severity, lines)


def _diagnostic(finding: Finding, severity: lsp.DiagnosticSeverity, lines: Sequence[str]) -> lsp.Diagnostic:
    text = plain(finding.message)
    return lsp.Diagnostic(
        ranges.of_token(lines, finding.line, finding.column),
        f"{text}\n{plain(finding.hint)}" if finding.hint else text,
        severity,
        finding.id,
        source=SOURCE,
    )
