"""The node's benchmark does what it measures: its works run, and assert their own outcome."""

from __future__ import annotations

from bench import node

DEVICES = 16


def test_one_change() -> None:
    assert node.best(node.one_change(DEVICES), 2, 1) > 0


def test_a_full_report() -> None:
    assert node.best(node.full_report(DEVICES), 2, 1) > 0
