"""The Test Anything Protocol: one test an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check import yaml_writer
from podstrat.check.report import Result, Summary
from podstrat.printable import plain

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._count = 0

    def begin(self) -> Iterator[str]:
        yield "TAP version 13\n"

    def result(self, result: Result) -> Iterator[str]:
        self._count += 1
        # In a description a # begins a directive.
        name = plain(f"{result.file}:{result.line} {result.title}").replace("#", r"\#")
        if result.skipped:
            yield f"ok {self._count} - {name} # SKIP {plain(result.skipped)}\n"
            return
        yield f"{'not ok' if result.errors else 'ok'} {self._count} - {name}\n"
        if result.errors or result.warnings:
            yield "  ---\n"
            for line in yaml_writer.lines(_diagnosis(result)):
                yield f"  {line}\n"
            yield "  ...\n"

    def end(self, summary: Summary) -> Iterator[str]:
        yield f"1..{self._count}\n"


def _diagnosis(result: Result) -> dict[str, Any]:
    fields: dict[str, Any] = {"severity": "fail" if result.errors else "comment"}
    for key, findings in (("errors", result.errors), ("warnings", result.warnings)):
        if findings:
            fields[key] = [f"{result.file}:{each.line}:{each.column}: {each.message}" for each in findings]
    return fields
