"""The README's figures of recorded cases are those that the floor holds."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.docs import pages

README = pages.text("README.md")


def held() -> Counter[str]:
    """How many cases the floor holds, by what they are about."""
    found: Counter[str] = Counter()
    for name, areas in json.loads(pages.text("tests/conformance/floor.json")).items():
        found["pods" if name[0].isdigit() else name.partition("-1.")[0]] += sum(areas.values())
    return found


HELD = held()


@pytest.mark.parametrize(
    "number, words",
    [
        (HELD["pods"], "recorded pod cases"),
        (HELD["fuzz"] + HELD["fuzz-agree"], "more from differential fuzzing"),
        (HELD["workloads-full"] + HELD["workloads-managed"], "recorded cases of the eight workload kinds"),
        (HELD["kinds"], "of fifteen kinds"),
        (HELD["crds"], "recorded cases of CustomResourceDefinitions"),
        (HELD["admission"], "recorded cases of the default admission plugins"),
        (HELD["admission-policies"], "of admission policies"),
        (HELD["lists-watches"], "of 175 recorded list and watch scripts"),
    ],
)
def test_the_readme_says_what_the_floor_holds(number: int, words: str) -> None:
    assert f"{number:,} {words}" in README
