"""The report as YAML: the same as the JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check import report, yaml_writer
from podstrat.check.report import Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._version = look.version
        self._count = 0
        self._skipped: list[dict[str, Any]] = []

    def begin(self) -> Iterator[str]:
        yield yaml_writer.text({"apiVersion": report.API_VERSION, "kind": report.KIND, "kubernetesVersion": self._version})

    def result(self, result: Result) -> Iterator[str]:
        if result.skipped:
            self._skipped.append(report.skipped_dict(result))
            return
        yield ("" if self._count else "results:\n") + yaml_writer.text([report.result_dict(result)])
        self._count += 1

    def end(self, summary: Summary) -> Iterator[str]:
        rest: dict[str, Any] = {} if self._count else {"results": []}
        unread = [each._asdict() for each in summary.unread]
        yield yaml_writer.text(rest | {"skipped": self._skipped, "unreadable": unread, "summary": summary.counts()})
