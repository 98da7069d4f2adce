"""Those who are asked about a write: when, about what, and what becomes of their words."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from podstrat.strategy.verbs.incoming import OWNERS_REPEAT_AFTER_ADMISSION
from podstrat.strategy.verbs.reviewers import Proposal
from tests.strategy import make

ENGINE = Engine("1.37")
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


class Board:
    """Two reviewers: one that may add something to the metadata, and one that only looks."""

    def __init__(self, **metadata: Any) -> None:
        self.metadata = metadata
        self.asked: list[Proposal] = []
        self.seen: list[Any] = []

    def change(self, asked: Proposal) -> Sequence[str]:
        self.seen.append(copy.deepcopy(asked.new))
        self.asked.append(asked)
        if asked.draft is not None:
            printed = asked.draft.printed()
            asked.draft.replace({**printed, "metadata": {**printed["metadata"], **self.metadata}})
        return ["changed"]

    def confirm(self, asked: Proposal) -> Sequence[str]:
        self.seen.append(copy.deepcopy(asked.new))
        self.asked.append(asked)
        return ["confirmed"]


def test_they_are_asked_before_and_behind_the_strategy() -> None:
    board = Board(labels={"a": "b"})
    answer = ENGINE.answer(Request("create", body=make.pod(), reviewers=board), None)
    assert (answer.code, answer.warnings) == (201, ("changed", "confirmed"))
    first, last = board.seen
    assert [each.operation for each in board.asked] == ["CREATE", "CREATE"]
    assert "generation" not in first["metadata"]
    assert last == answer.body
    assert answer.body["metadata"]["labels"] == {"a": "b"}


def test_owners_that_they_repeat() -> None:
    answer = ENGINE.answer(Request("create", body=make.pod(), reviewers=Board(ownerReferences=[OWNER, OWNER])), None)
    assert answer.warnings == ("changed", OWNERS_REPEAT_AFTER_ADMISSION + "u", "confirmed")
    assert answer.body["metadata"]["ownerReferences"] == [OWNER]


@pytest.mark.parametrize(
    "grace, generations",
    [
        pytest.param(30, [1], id="marked"),
        pytest.param(0, [1, 2], id="marked-and-removed"),
    ],
)
def test_about_a_delete_they_are_asked_at_each_step(grace: int, generations: list[int]) -> None:
    """What goes at once is marked first, and then removed."""
    stored = ENGINE.create({**make.pod(), "spec": {**make.pod()["spec"], "nodeName": "n"}}).pod
    board = Board()
    answer = ENGINE.answer(Request("delete", name="p", body={"gracePeriodSeconds": grace}, reviewers=board), stored)
    assert (answer.code, answer.warnings) == (200, ("changed", "confirmed"))
    assert [each.operation for each in board.asked] == ["DELETE"] * 2 * len(generations)
    assert [(each.old or {})["metadata"]["generation"] for each in board.asked[::2]] == generations
    assert {each.options["apiVersion"] for each in board.asked} == {"meta.k8s.io/v1"}


def applied(pod: Any, **options: str) -> Any:
    request = Request("patch", body=pod, patch_type="apply", options=options, name=pod["metadata"]["name"])
    return ENGINE.answer(request, None)


def test_what_is_applied_to_nothing_is_created() -> None:
    assert applied(make.pod(), fieldManager="m").code == 201


@pytest.mark.parametrize("options", [{}, {"fieldManager": ""}], ids=["none", "empty"])
def test_whoever_applies_has_a_name(options: dict[str, str]) -> None:
    answer = applied(make.pod(), **options)
    assert answer.code == 422
    assert answer.body["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


def test_whoever_applies_names_an_owner_once() -> None:
    pod = make.pod()
    pod["metadata"]["ownerReferences"] = [OWNER, OWNER]
    answer = applied(pod, fieldManager="m")
    assert answer.code == 500
    assert answer.body["message"].endswith('.metadata.ownerReferences: duplicate entries for key [uid="u"]')
