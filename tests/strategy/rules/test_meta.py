"""Metadata: what only a pod that was stored in some other way can have."""

from __future__ import annotations

import pytest

from strategy.engine import Engine
from strategy.rules import meta
from tests.strategy import make


@pytest.mark.parametrize(
    "metadata, errors",
    [
        pytest.param({"name": "a.b-c", "generateName": "a-"}, [], id="ordinary"),
        pytest.param({"name": "..."}, [], id="three-dots"),
        pytest.param({"name": "."}, ["name: Invalid value: \".\": may not be '.'"], id="dot"),
        pytest.param({"name": ".."}, ["name: Invalid value: \"..\": may not be '..'"], id="two-dots"),
        pytest.param({"name": "a", "generateName": ".."}, [], id="a-prefix-may-be-dots"),
        pytest.param(
            {"name": "a%/", "generateName": "b%"},
            [
                "generateName: Invalid value: \"b%\": may not contain '%'",
                "name: Invalid value: \"a%/\": may not contain '/'",
                "name: Invalid value: \"a%/\": may not contain '%'",
            ],
            id="what-a-url-reads-otherwise",
        ),
    ],
)
def test_names_in_urls(metadata: dict[str, str], errors: list[str]) -> None:
    assert [str(error) for error in meta.path_segments(metadata)] == [f"metadata.{error}" for error in errors]


def test_a_stored_generation_is_not_negative() -> None:
    engine = Engine()
    old = engine.create(make.pod()).pod or {}
    old["metadata"]["generation"] = -1
    outcome = engine.update(old, old)
    text = "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
    assert [str(error) for error in outcome.errors] == [text]
