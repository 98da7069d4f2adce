"""Annotations for GitHub Actions: workflow commands, one a finding."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from podstrat.check.outputs import paths
from podstrat.check.report import Finding, Result, Summary
from podstrat.printable import allow, plain

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._quiet = look.quiet

    def begin(self) -> Iterator[str]:
        allow(sys.stdout, commands=True)
        yield from ()

    def result(self, result: Result) -> Iterator[str]:
        for error in result.errors:
            yield _command("error", result, error)
        for warning in () if self._quiet else result.warnings:
            yield _command("notice" if warning.is_hint else "warning", result, warning)

    def end(self, summary: Summary) -> Iterator[str]:
        yield from ()


def _command(level: str, result: Result, finding: Finding) -> str:
    if result.template:
        # The lines are those of what Helm has written, not of the template.
        place = {"file": paths.relative(result.template)}
    else:
        place = {"file": paths.relative(result.file), "line": str(finding.line), "col": str(finding.column)}
    place["title"] = result.title
    properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    return f"::{level} {properties}::{_data(finding.message + hint)}\n"


def _data(text: str) -> str:
    lines = [plain(line) for line in text.split("\n")]
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
