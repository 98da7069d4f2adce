"""The report as JSON, described by check-report.schema.json; results are streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat import printable
from podstrat.check import report
from podstrat.check.report import Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._version = look.version
        self._count = 0
        self._skipped: list[dict[str, Any]] = []

    def begin(self) -> Iterator[str]:
        head = {"apiVersion": report.API_VERSION, "kind": report.KIND, "kubernetesVersion": self._version}
        yield "{\n" + "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items()) + '  "results": ['

    def result(self, result: Result) -> Iterator[str]:
        if result.skipped:
            self._skipped.append(report.skipped_dict(result))
            return
        yield ("," if self._count else "") + "\n    " + _indented(report.result_dict(result), "    ")
        self._count += 1

    def end(self, summary: Summary) -> Iterator[str]:
        yield "\n  ],\n" if self._count else "],\n"
        yield f'  "skipped": {_indented(self._skipped, "  ")},\n'
        yield f'  "unreadable": {_indented([each._asdict() for each in summary.unread], "  ")},\n'
        yield f'  "summary": {_indented(summary.counts(), "  ")}\n}}\n'


def _indented(value: Any, margin: str) -> str:
    return printable.dumps(value, indent=2).replace("\n", f"\n{margin}")
