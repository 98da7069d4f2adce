"""A Code Quality report for GitLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat import printable
from podstrat.check.outputs import paths
from podstrat.check.report import Finding, Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._quiet = look.quiet
        self._count = 0
        self._counts: dict[str, int] = {}

    def begin(self) -> Iterator[str]:
        yield "["

    def result(self, result: Result) -> Iterator[str]:
        for error in result.errors:
            yield self._entry(result, error, "critical")
        for warning in () if self._quiet else result.warnings:
            yield self._entry(result, warning, "info" if warning.is_hint else "minor")

    def end(self, summary: Summary) -> Iterator[str]:
        yield "\n]\n" if self._count else "]\n"

    def _entry(self, result: Result, finding: Finding, severity: str) -> str:
        path = paths.relative(result.template or result.file)
        mark = paths.fingerprint(path, result.kind, result.namespace, result.name, finding.rule, finding.message)
        # Two findings of the same words are two all the same.
        self._counts[mark] = again = self._counts.get(mark, 0) + 1
        entry: dict[str, Any] = {
            "description": finding.message,
            "check_name": finding.rule,
            "fingerprint": mark if again == 1 else paths.fingerprint(mark, str(again)),
            "severity": severity,
            "location": {"path": path, "lines": {"begin": finding.line}},
        }
        self._count += 1
        text = printable.dumps(entry, indent=2).replace("\n", "\n  ")
        return ("," if self._count > 1 else "") + "\n  " + text
