"""JSON merge patch: members merged, lists replaced, nulls dropped where the library drops them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat.strategy import patch
from podstrat.strategy.api import types

TYPES = types.load("1.37")
STORED: dict[str, Any] = {
    "metadata": {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["x/y"]},
    "spec": {"containers": [{"name": "c", "image": "x:1"}], "dnsPolicy": "Default", "securityContext": {"runAsUser": 1}},
    "status": {"startTime": None},
}


def apply(body: Any) -> Any:
    stored = copy.deepcopy(STORED)
    result = patch.apply("merge", stored, body, TYPES, (1, 37))
    assert stored == STORED
    return result


@pytest.mark.parametrize(
    "body, place, value",
    [
        pytest.param({"metadata": {"labels": {"b": None, "c": "3"}}}, ["metadata", "labels"], {"a": "1", "c": "3"}, id="merged"),
        pytest.param({"metadata": {"labels": None}}, ["metadata", "labels"], None, id="null-removes"),
        pytest.param({"metadata": {"nope": None}}, ["metadata", "nope"], None, id="null-of-nothing"),
        pytest.param({"metadata": {"finalizers": ["z"]}}, ["metadata", "finalizers"], ["z"], id="list-replaced"),
        pytest.param(
            {"spec": {"containers": [{"name": "c", "image": None}, None]}},
            ["spec", "containers"],
            [{"name": "c"}, None],
            id="list-for-list-loses-null-members-keeps-null-items",
        ),
        pytest.param(
            {"spec": {"affinity": {"nodeAffinity": None, "podAffinity": {"x": None, "y": [None, {"z": None}]}}}},
            ["spec", "affinity"],
            {"podAffinity": {"y": [None, {}]}},
            id="new-object-loses-null-members",
        ),
        pytest.param({"status": {"startTime": {"x": None}}}, ["status", "startTime"], {}, id="object-for-null"),
        pytest.param({"spec": {"dnsPolicy": {"x": None}}}, ["spec", "dnsPolicy"], {}, id="object-for-scalar"),
        pytest.param({"spec": {"securityContext": "x"}}, ["spec", "securityContext"], "x", id="scalar-for-object"),
        pytest.param(
            {"spec": {"securityContext": [{"x": None}]}},
            ["spec", "securityContext"],
            [{"x": None}],
            id="list-for-object-keeps-nulls",
        ),
    ],
)
def test_merged(body: Any, place: list[str], value: Any) -> None:
    result = apply(body)
    for name in place:
        result = result.get(name)
    assert result == value


def test_what_is_not_touched_is_shared() -> None:
    assert patch.apply("merge", STORED, {"metadata": {"name": "q"}}, TYPES, (1, 37))["spec"] is STORED["spec"]


def test_merged_objects_come_out_sorted() -> None:
    assert list(apply({"spec": {"activeDeadlineSeconds": 5}})["spec"]) == [
        "activeDeadlineSeconds",
        "containers",
        "dnsPolicy",
        "securityContext",
    ]
