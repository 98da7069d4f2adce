"""What a real server answered about workloads and the kinds that pods point at is what the check says, and where it points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.check import recorded
from tests.check.recorded import Case, Marks
from tests.check.test_recorded import ENOUGH, Checked, checked, differences, evaluators

FILES = {"workloads-full-1.37": 2400, "kinds-1.37": 480}
"""The recordings, and how many cases each has at least that a file can make."""
SAMPLED = 5
"""Every fifth case is checked where time is short."""
UNNAMED = ("BadRequest", "InternalError")
"""Errors that are not about a field that they name."""


def _everything(name: str, every: int) -> list[Checked]:
    made = evaluators()
    cases = list(recorded.kind_cases(name))
    assert len(cases) >= FILES[name]
    texts = [(case, recorded.text(case)) for case in cases[::every]]
    return [Checked(case, text, checked(text, made[case.validation])) for case, text in texts]


def _files() -> list[Any]:
    sampled = [pytest.param(name, SAMPLED, id=f"{name}-sampled") for name in FILES]
    return [*sampled, *(pytest.param(name, 1, id=name, marks=pytest.mark.long) for name in FILES)]


@pytest.mark.parametrize("name, every", _files())
def test_every_create_body_has_the_recorded_verdict_and_words_and_errors_point_exactly(name: str, every: int) -> None:
    everything = _everything(name, every)
    assert differences(everything) == []
    plain = _plain(recorded.kind_cases(name))
    total, missed = 0, []
    for case, text, result in everything:
        if result.valid:
            continue
        marks, lines = Marks(text), text.splitlines()
        for error in result.errors:
            total += 1
            assert 1 <= error.line <= len(lines), case.id
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1, case.id
            if error.type in UNNAMED:
                expected = recorded.decoded(error.message, case.body, marks) or _blamed(case, plain, marks)
            else:
                expected = recorded.expected(error.field, error.value, case.body, marks)
            if (error.line, error.column) not in expected:
                missed.append(f"{case.id}: {error.message}: {error.line}:{error.column} is not in {sorted(expected)}")
    assert total > 600 // (every * len(FILES))
    share = 1 - len(missed) / total
    print(f"{name}: {total - len(missed)} of {total} errors point exactly ({share:.1%})")
    assert share >= ENOUGH, "\n".join(missed)


def _plain(cases: Iterator[Case]) -> dict[str, Any]:
    """Of each kind the first body that the server took."""
    found: dict[str, Any] = {}
    for case in cases:
        if case.want["code"] == 201:
            found.setdefault(case.body["kind"], case.body)
    return found


def _blamed(case: Case, plain: dict[str, Any], marks: Marks) -> set[recorded.Mark]:
    """Where an object differs from a plain one of its kind: what there is to blame if the server names no field."""
    places = [at for at in marks.values if _at(case.body, at) != _at(plain[case.body["kind"]], at)]
    return {mark for at in places for mark in (marks.values[at], marks.keys.get(at)) if mark is not None}


def _at(body: Any, place: recorded.Place) -> Any:
    for step in place:
        try:
            body = body[step]
        except (LookupError, TypeError):
            return None
    return body
