"""The baseline: the findings that a repository had when it adopted the check. Only what is not among them is reported."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from podstrat import exits
from podstrat.check import suppressions
from podstrat.check.outputs import paths
from podstrat.check.report import API_VERSION

if TYPE_CHECKING:
    from podstrat.check.report import Finding, Result

KIND = "CheckBaseline"
Key = tuple[str, str, str]
"""File, object and id of a finding: what stays the same when lines move."""


class Baseline:
    """Findings by key, and how often each may occur."""

    def __init__(self, counts: Counter[Key], recording: bool = False) -> None:
        self._counts = counts
        self.recorded: Counter[Key] | None = Counter() if recording else None

    def apply(self, result: Result) -> Result:
        """The result without findings that are known; in recording all are, from now on."""
        if not result.errors and not result.warnings:
            return result
        errors = tuple(each for each in result.errors if not self._takes(result, each))
        warnings = tuple(each for each in result.warnings if not self._takes(result, each))
        return suppressions.without(result, errors, warnings)

    def _takes(self, result: Result, finding: Finding) -> bool:
        key = (paths.relative(result.file), f"{result.namespace}/{result.title}".removeprefix("/"), finding.id)
        if self.recorded is not None:
            self.recorded[key] += 1
            return True
        if self._counts[key] <= 0:
            return False
        self._counts[key] -= 1
        return True

    @property
    def stale(self) -> int:
        """How many known findings have not occurred."""
        return sum(self._counts.values())


def read(path: str) -> Baseline:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content["kind"] != KIND:
            raise ValueError(f"expected kind {KIND}")
        counts = Counter({(each["file"], each["object"], each["id"]): int(each["count"]) for each in content["findings"]})
    except (ValueError, KeyError, TypeError) as error:
        raise exits.BadArguments(f"{path} is not a valid baseline: {error}") from None
    return Baseline(counts)


def write(path: str, recorded: Counter[Key]) -> None:
    findings: list[dict[str, Any]] = [
        {"file": file, "object": obj, "id": name, "count": count} for (file, obj, name), count in sorted(recorded.items())
    ]
    content = {"apiVersion": API_VERSION, "kind": KIND, "findings": findings}
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
