"""Whole files, as projects ship them and as outages have had them: what the command finds in each, and where.

Every file ends with what is to be found in it: severity, line and column, rule.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat import cli
from podstrat.lint import rules

SHAPES = sorted(Path(__file__).with_name("shapes").iterdir())
MARK = "# finds"


def found(report: Any) -> list[str]:
    """The findings of a report, as the files have them."""
    return [
        f"{'info' if level == 'warning' and _is_remark(each) else level} {each['line']}:{each['column']} {each['type']}"
        for result in report["results"]
        for level, findings in (("error", result["errors"]), ("warning", result["warnings"]))
        for each in findings
    ]


def _is_remark(finding: Any) -> bool:
    return rules.BY_ID[finding["type"]].severity == "info"


def expected(path: Path) -> list[str]:
    _, mark, rest = path.read_text().rpartition(f"{MARK}\n")
    assert mark, f"{path.name} does not say what is to be found in it"
    return [line.removeprefix("#").strip() for line in rest.splitlines()]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SHAPES])
def test_findings(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = expected(path)
    code = cli.main(["webhook", "lint", str(path), "-o", "json", "--verbose"])
    report = json.loads(capsys.readouterr().out)
    assert found(report) == wanted
    assert code == int(any(line.startswith("error") for line in wanted))
    assert all(each["hint"] for result in report["results"] for each in (*result["errors"], *result["warnings"]))


def test_there_are_enough_of_them() -> None:
    clean = [path for path in SHAPES if not expected(path)]
    assert len(SHAPES) >= 12
    assert len(clean) >= 2
