"""Patterns of schemas: matched as Go matches them, and never for long."""

from __future__ import annotations

import pytest

from podstrat.strategy.crds import go_regexp


@pytest.mark.parametrize(
    "pattern, text, want",
    [
        ("^a+$", "aaa", True),
        ("^a+$", "aaa\n", False),
        ("b", "abc", True),
        ("[[:alpha:]]{2}", "a1", False),
        ("(?i)ABC", "xabcx", True),
        ("^(a|b)*$", "abab", True),
        ("^\\x{41}$", "A", True),
        ("(?P<n>a)b", "ab", True),
        ("(", "anything", True),
    ],
)
def test_matches(pattern: str, text: str, want: bool) -> None:
    assert go_regexp.matches(pattern, text) is want


def test_patterns_that_take_exponential_time_elsewhere() -> None:
    assert go_regexp.matches("^(a+)+$", "a" * 5000 + "!") is False
    assert go_regexp.matches("^(a|aa)+$", "a" * 60 + "!") is False


def test_long_texts() -> None:
    assert go_regexp.matches(".*b.*c$", "a" * 200_000) is False
