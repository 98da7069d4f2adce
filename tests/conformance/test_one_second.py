"""A case is sent again only if it disagrees, is about managedFields, and the second turned within it."""

from __future__ import annotations

import operator
import time

import pytest

from tests.conformance.one_second import TRIES, in_one_second


@pytest.mark.parametrize(
    "managed, faults, clock, fault, sent",
    [
        pytest.param(True, [""], [1.9, 2.1], "", 1, id="agrees"),
        pytest.param(True, ["order", ""], [1.9, 2.1, 2.2], "", 2, id="the-second-turned"),
        pytest.param(True, ["order", ""], [1.1, 1.9], "order", 1, id="within-a-second-it-counts"),
        pytest.param(False, ["order", ""], [1.9, 2.1], "order", 1, id="not-about-managed-fields"),
        pytest.param(True, ["order"] * 9, list(range(99)), "order", TRIES, id="not-for-ever"),
    ],
)
def test_when_a_case_is_sent_again(
    managed: bool, faults: list[str], clock: list[float], fault: str, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, answers, calls = iter(clock), iter(faults), []

    def judge() -> str:
        calls.append(1)
        return next(answers)

    monkeypatch.setattr(time, "time", lambda: next(times))
    assert in_one_second({"managed": managed}, judge, operator.not_) == fault
    assert len(calls) == sent
