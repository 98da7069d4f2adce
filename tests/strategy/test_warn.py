"""Warnings, and how they reach the client."""

from __future__ import annotations

import pytest

from strategy import warn
from strategy.engine import Engine
from tests.strategy import make


def test_each_text_is_told_once() -> None:
    assert warn.headers(["a", "b", "a"]) == ("a", "b")


def test_texts_with_control_characters_are_lost() -> None:
    assert warn.headers(["fine", "not\nfine", "\x80"]) == ("fine",)


def test_too_many_are_cut_short() -> None:
    texts = [f"{number:04}" + "x" * 300 for number in range(40)]
    sent = warn.headers(texts)
    assert {len(text) for text in sent} == {256}
    assert len(sent) == 16


@pytest.mark.parametrize(
    "spec, texts",
    [
        pytest.param(
            {"volumes": [{"name": "g", "gitRepo": {"repository": "r"}}]},
            ["spec.volumes[0].gitRepo: deprecated in v1.11"],
            id="git",
        ),
        pytest.param({"containers": [{"name": "c", "image": "i"}]}, [], id="nothing"),
    ],
)
def test_a_driver_that_is_switched_on_is_only_deprecated(spec: dict[str, object], texts: list[str]) -> None:
    engine = Engine("1.35", gates={"GitRepoVolumeDriver": True})
    assert list(engine.create(make.pod(**spec)).warnings) == texts
