"""Human-readable output: path:line:column, the server's message, the source line and a hint."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check.report import Finding, Result, Summary
from podstrat.printable import allow, plain

if TYPE_CHECKING:
    from podstrat.check.outputs import Look

WIDEST = 120
"""Characters of a line that are shown."""

_STYLES = {"path": "1", "error": "1;31", "warning": "1;33", "hint": "36", "mark": "1;34", "good": "32"}


class Writer:
    def __init__(self, look: Look) -> None:
        self._look = look

    def begin(self) -> Iterator[str]:
        allow(sys.stdout, styles=self._look.colour)
        yield from ()

    def result(self, result: Result) -> Iterator[str]:
        if result.skipped:
            if self._look.verbose:
                yield f"{self._object(result)}: skipped: {plain(result.skipped)}\n"
            return
        for error in result.errors:
            yield from self._finding(result, error, "error")
        if not self._look.quiet:
            for warning in result.warnings:
                yield from self._finding(result, warning, "hint" if warning.is_hint else "warning")
        if result.update is not None:
            if not self._look.quiet:
                yield f"{self._object(result)}: {self._update(result.update)}\n"
        elif self._look.verbose and not result.errors:
            yield f"{self._object(result)}: {self._styled('good', 'valid')}\n"

    def end(self, summary: Summary) -> Iterator[str]:
        if self._look.summary:
            yield from table(summary)
        elif not self._look.quiet:
            yield f"{summary}\n"

    def _object(self, result: Result) -> str:
        return f"{self._styled('path', plain(f'{result.file}:{result.line}'))}: {plain(result.title)}"

    def _update(self, update: dict[str, Any]) -> str:
        if update["allowed"] is None:
            return plain(str(update["reason"]))
        if not update["allowed"]:
            return f"the update ({update['how']}) is {self._styled('error', 'refused')}"
        words = f"the update ({update['how']}) is {self._styled('good', 'allowed')}"
        generation = update.get("generation")
        if generation is None:
            return words
        if "before" not in generation:
            return f"{words}; generation stays {generation['after']}"
        return f"{words}; generation {generation['before']} -> {generation['after']} because {plain(update['reason'])}"

    def _finding(self, result: Result, finding: Finding, level: str) -> Iterator[str]:
        where = self._styled("path", plain(f"{result.file}:{finding.line}:{finding.column}"))
        made_from = f" ({plain(result.template)})" if result.template else ""
        first, *rest = finding.message.rstrip("\n").split("\n")
        by = f" [{finding.plugin}]" if finding.plugin else ""
        yield f"{where}{made_from}: {self._styled(level, level)}: {plain(first)}{by}\n"
        for line in rest:
            yield f"    {plain(line)}\n"
        if self._look.quiet:
            return
        yield from self._excerpt(finding)
        if self._look.verbose and result.update is None:
            yield f"  id: {plain(finding.id)}\n"
        if finding.hint:
            yield f"  {self._styled('hint', 'hint')}: {plain(finding.hint)}\n"

    def _excerpt(self, finding: Finding) -> Iterator[str]:
        if not finding.source.strip():
            return
        source, column = finding.source.rstrip(), finding.column
        if len(source) > WIDEST:
            start = max(0, min(column - WIDEST // 2, len(source) - WIDEST))
            source, column = source[start : start + WIDEST], column - start
        margin = f"{finding.line:>5} | "
        yield f"{self._styled('mark', margin)}{plain(source)}\n"
        yield f"{self._styled('mark', '      | ')}{' ' * (column - 1)}{self._styled('error', '^')}\n"

    def _styled(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._look.colour else text


def table(summary: Summary) -> Iterator[str]:
    """The counts by kind, and the fields that were wrong most often."""
    rows = [["KIND", "VALID", "INVALID", "SKIPPED"]]
    rows += [[plain(kind), *map(str, counts)] for kind, counts in sorted(summary.kinds.items())]
    rows.append(["all", str(summary.valid), str(summary.invalid), str(summary.skipped)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for kind, *counts in rows:
        cells = (count.rjust(width) for count, width in zip(counts, widths[1:], strict=True))
        yield f"{kind.ljust(widths[0])}  {'  '.join(cells)}\n"
    worst = sorted(summary.fields.items(), key=lambda each: (-each[1], each[0]))[:10]
    if worst:
        yield "\nTIMES  ERROR\n"
    for (kind, field), times in worst:
        yield f"{times:>5}  {kind} {plain(field)}\n"
    yield f"\n{summary}\n"
