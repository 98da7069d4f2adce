"""JSON patches between objects: made and applied, they meet again; bad ones are named."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat import patches

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "before, after, operations",
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [{"op": "replace", "path": "/a", "value": 2}]),
        ({"a/b": 1}, {}, [{"op": "remove", "path": "/a~1b"}]),
        ({"l": [1]}, {"l": [1, 2]}, [{"op": "add", "path": "/l/1", "value": 2}]),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
    ],
)
def test_differences(before: Any, after: Any, operations: list[Any]) -> None:
    assert patches.difference(before, after) == operations


@given(JSON, JSON)
def test_a_difference_leads_from_one_to_the_other(before: Any, after: Any) -> None:
    kept = copy.deepcopy(before)
    assert patches.applied({"x": before}, patches.difference({"x": before}, {"x": after})) == {"x": after}
    assert before == kept


@pytest.mark.parametrize(
    "operation, text",
    [
        ({"op": "remove", "path": "/b"}, "remove /b: can't remove a non-existent object 'b'"),
        ({"op": "test", "path": "/a", "value": 2}, "test /a 2: 1 "),
        ({"op": "jump", "path": "/a"}, "jump /a: Unknown operation 'jump'"),
        ({"op": "add", "path": "a", "value": 1}, "add a 1: Location must start with /"),
    ],
)
def test_a_patch_that_cannot_be_applied(operation: dict[str, Any], text: str) -> None:
    with pytest.raises(patches.BadPatch) as caught:
        patches.applied({"a": 1}, [operation])
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    "operation, text",
    [
        ({"op": "add", "path": "/a", "value": "x\x1b\n"}, 'add /a "x\\u001b\\n"'),
        ({"op": "move", "path": "/a", "from": "/b"}, "move /a /b"),
        ({"op": "remove", "path": "/a"}, "remove /a"),
        ({"op": "add", "path": "/a", "value": "x" * 200}, f'add /a "{"x" * 99}...'),
    ],
)
def test_how_an_operation_is_shown(operation: dict[str, Any], text: str) -> None:
    assert patches.shown(operation) == text
