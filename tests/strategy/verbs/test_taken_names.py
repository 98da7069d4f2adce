"""A new object whose name is taken."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from tests.strategy import make

UNIQUE = ", the server was not able to generate a unique name for the object"
engine = Engine()
STORED = engine.create(make.pod()).pod or {}


def held(pod: dict[str, Any]) -> dict[str, Any]:
    return {**pod, "metadata": {**pod["metadata"], "finalizers": ["a/b"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    "stored, metadata, message, details",
    [
        pytest.param(STORED, {}, 'pods "p" already exists', {}, id="plain"),
        pytest.param(held(STORED), {}, 'object is being deleted: pods "p" already exists', {}, id="terminating"),
        pytest.param(
            STORED, {"generateName": "p-"}, f'pods "p" already exists{UNIQUE}', {"retryAfterSeconds": 1}, id="beside-generateName"
        ),
    ],
)
def test_a_name_that_is_taken(stored: Any, metadata: Any, message: str, details: Any) -> None:
    pod = make.pod()
    pod["metadata"] |= metadata
    answer = engine.answer(Request("create", body=pod, name="p"), stored)
    assert (answer.code, answer.body["message"], answer.effects) == (409, message, ())
    assert answer.body["details"] == {"name": "p", "kind": "pods", **details}
