"""Whatever the patch: an answer comes out, the stored object stays as it is, and what comes out is JSON."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy import errors, patch
from podstrat.strategy.api import types

TYPES = types.load("1.37")
STORED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a": "1"}, "finalizers": ["a", "b"]},
    "spec": {
        "containers": [{"name": "a", "resources": {}, "env": [{"name": "b"}], "ports": [{"containerPort": 1}]}, {"name": "b"}],
        "tolerations": [{"key": "a"}],
        "imagePullSecrets": [{}],
    },
    "status": {"podIPs": [{"ip": "a"}], "startTime": None},
}
LISTS = ("containers", "env", "ports", "finalizers", "tolerations", "imagePullSecrets", "podIPs", "nope")
NAMES = st.sampled_from(
    (
        *("metadata", "spec", "status", "labels", "resources", "name", "ip", "key", "containerPort", "a"),
        *LISTS,
        *("$patch", "$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList"),
        *(f"{directive}/{name}" for directive in ("$setElementOrder", "$deleteFromPrimitiveList") for name in LISTS),
    )
)
SCALARS = st.sampled_from((None, True, 1, 1.0, 1.5, 2**63, "a", "b", "<é", "delete", "replace", "merge"))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
SEGMENTS = st.sampled_from(
    ("metadata", "spec", "labels", "containers", "tolerations", "0", "1", "-1", "-", "name", "a", "~1", "")
)
PATHS = st.lists(SEGMENTS, max_size=4).map("/".join).map(lambda path: "/" + path) | st.sampled_from(("", "a", "a/b"))
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(("add", "remove", "replace", "move", "copy", "test")), "path": PATHS},
    optional={"from": PATHS, "value": VALUES},
)


def settle(kind: str, body: Any, version: tuple[int, int]) -> None:
    stored = copy.deepcopy(STORED)
    text = json.dumps(body, ensure_ascii=False).encode()
    with contextlib.suppress(errors.ApiError):
        done = patch.result(kind, stored, text, TYPES, version)
        json.dumps(done.value)
        done.readable(stored, TYPES)
    assert stored == STORED


@settings(max_examples=100, deadline=None)
@given(VALUES, st.sampled_from(((1, 34), (1, 37))))
def test_strategic(body: Any, version: tuple[int, int]) -> None:
    settle("strategic", body, version)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_merge(body: Any) -> None:
    settle("merge", body, (1, 37))


@settings(max_examples=100, deadline=None)
@given(st.lists(OPERATIONS, max_size=4), st.sampled_from(((1, 34), (1, 37))))
def test_json(body: Any, version: tuple[int, int]) -> None:
    settle("json", body, version)
