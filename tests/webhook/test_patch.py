"""Edits as JSON Patch, and back by somebody else's code."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest

from podstrat.strategy.review.edits import ABSENT, Edit
from podstrat.webhook import patch


@pytest.mark.parametrize(
    "value, edits, operations",
    [
        pytest.param({"a": 1}, [Edit(("a",), 2)], [("replace", "/a", 2)], id="another-value"),
        pytest.param({"a": 1}, [Edit(("a",), 1)], [], id="the-same-value"),
        pytest.param({}, [Edit(("a",), 1)], [("add", "/a", 1)], id="a-new-field"),
        pytest.param({"a": 1}, [Edit(("a",), ABSENT)], [("remove", "/a")], id="gone"),
        pytest.param({}, [Edit(("a",), ABSENT)], [], id="gone-already"),
        pytest.param({}, [Edit(("a", "b"), ABSENT)], [], id="gone-with-its-holder"),
        pytest.param({}, [Edit(("a", "b", "c"), 1)], [("add", "/a", {"b": {"c": 1}})], id="holders-are-made"),
        pytest.param({}, [Edit(("a", "b"), 1), Edit(("a", "c"), 2)], [("add", "/a", {"b": 1, "c": 2})], id="one-holder-for-both"),
        pytest.param({"a": None}, [Edit(("a", "b"), 1)], [("add", "/a", {"b": 1})], id="null-holds-nothing"),
        pytest.param({"a": {}}, [Edit(("a", "x/y~z"), 1)], [("add", "/a/x~1y~0z", 1)], id="names-with-slashes"),
        pytest.param(
            {"a": [{"b": 1}, 2, 3, 4]},
            [Edit(("a", 1), ABSENT), Edit(("a", 3), ABSENT), Edit(("a", 0, "b"), ABSENT)],
            [("remove", "/a/0/b"), ("remove", "/a/3"), ("remove", "/a/1")],
            id="items-leave-from-the-end",
        ),
        pytest.param({"a": [1]}, [Edit(("a", 1), ABSENT)], [], id="no-such-item"),
        pytest.param({"a": [None]}, [Edit(("a", 0, "b"), 1)], [], id="nothing-to-put-it-into"),
        pytest.param({"a": "text"}, [Edit(("a", "b"), 1)], [], id="nothing-that-holds"),
    ],
)
def test_operations(value: Any, edits: list[Edit], operations: list[tuple[Any, ...]]) -> None:
    made = patch.operations(value, edits)
    assert [tuple(each.values()) for each in made] == operations
    jsonpatch.apply_patch(value, made)
