"""The diff in a refusal: what difflib says, in linear time for what people send, and within a bound for everything else."""

from __future__ import annotations

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy.formats import diff

FEW = st.lists(st.sampled_from("abcd"), max_size=25)
MANY = st.lists(st.integers(0, 60).map(str), min_size=190, max_size=260)
"""From 200 lines on, difflib leaves out lines that are too frequent."""


def by_difflib(before: list[str], after: list[str]) -> str:
    return "".join([*difflib.unified_diff(before, after)][2:])


def numbered(*words: str) -> list[str]:
    return [f"{word}\n" for word in words]


def variables(count: int, value: str) -> list[str]:
    return [line for i in range(count) for line in (" {\n", f'  "Name": "E{i}",\n', f'  "Value": "{value}"\n', " },\n")]


@settings(deadline=None)
@given(FEW | MANY, FEW | MANY)
def test_the_blocks_are_difflibs(before: list[str], after: list[str]) -> None:
    assert (
        diff._Matcher(None, before, after).get_matching_blocks()
        == difflib.SequenceMatcher(None, before, after).get_matching_blocks()
    )


@settings(deadline=None)
@given(MANY, st.lists(st.tuples(st.integers(0, 250), st.integers(0, 5), FEW), max_size=5))
def test_edits_of_a_long_text_are_shown_as_difflib_shows_them(lines: list[str], edits: list[tuple[int, int, list[str]]]) -> None:
    before, after = numbered(*lines), numbered(*lines)
    for at, removed, added in edits:
        after[at : at + removed] = numbered(*added)
    assert diff.unified(before, after) == by_difflib(before, after)


def test_nothing_is_said_of_equal_texts() -> None:
    assert diff.unified(numbered("a", "b"), numbered("a", "b")) == diff.unified([], []) == ""


def test_many_short_runs_are_shown_as_difflib_shows_them() -> None:
    before, after = variables(150, "x"), variables(150, "y")
    assert diff.unified(before, after) == by_difflib(before, after)


def test_beyond_the_bound_there_is_one_hunk() -> None:
    repeated = numbered(*(str(i % 100) for i in range(4000)))
    before, after = [*numbered("a", "b"), *repeated, *numbered("y", "z")], [*numbered("a", "c"), *repeated, *numbered("x", "z")]
    hunk = diff.unified(before, after).splitlines()
    assert hunk[:4] == ["@@ -1,4004 +1,4004 @@", " a", "-b", "-0"]
    assert hunk[-3:] == ["+99", "+x", " z"]
