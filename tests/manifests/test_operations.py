"""The list of good practice in the documentation: every point is there, and whatever is said to show it exists."""

from __future__ import annotations

import re
from pathlib import Path

from podstrat.install.command import SWITCH_OFF
from podstrat.lint import rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)


def test_every_point_is_there() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 51))


def test_what_shows_it_exists() -> None:
    for number, _, _, shown in ROWS:
        for word in re.findall(r"`([^`]+)`", shown):
            path, _, test = word.partition("::")
            if "/" not in path:
                continue
            assert (ROOT / path).exists(), f"{number}: {path}"
            if test:
                assert re.search(rf"^def {test}\(", (ROOT / path).read_text(), re.MULTILINE), f"{number}: {word}"


def test_rules_are_named_at_their_points() -> None:
    """Each rule stands at the points that it says it stands for."""
    named = {int(row[0]): set(re.findall(r"`([a-z-]+)`", row[3].partition("lint ")[2])) for row in ROWS}
    assert set.union(*named.values()) == {rule.id for rule in rules.ALL if rule.points}
    for number, found in named.items():
        assert all(number in rules.BY_ID[rule].points for rule in found), number


def test_the_line_for_emergencies_is_the_same_everywhere() -> None:
    for path in ("docs/install.md", "docs/operations.md", "manifests/base/mutating.yaml"):
        assert SWITCH_OFF in (ROOT / path).read_text(), path
