"""Nothing in the engine or in goyaml grows faster than linear with any part of its input.

Ratios of processor time, so that the machine does not matter, with a wide margin: eight times the items may cost 24 times as
much, where what is quadratic costs 64 times. A ratio that is too large is measured again: noise goes away, growth does not.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from functools import partial

import pytest

from podstrat import goyaml
from tests.growth import measure
from tests.growth.shapes import SHAPES, TEXTS

SMALL, LARGE = 500, 4000
MARGIN = 3
FLOOR = 0.002
"""Seconds that always are let: below them it is the clock that is measured."""
TRIES = 4


@pytest.fixture(scope="module", autouse=True)
def _warm() -> Iterator[None]:
    """What is loaded once, and the readers that are made once, are there before anything is measured.

    Collecting garbage before each measurement then looks at no object of other tests: that took longer than what is measured.
    """
    for name in (*SHAPES, *TEXTS):
        measure.work(name, 2)()
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def grows_faster_than_linear(name: str, small: int, large: int) -> str:
    """The times at both sizes in words, if their ratio is too large; otherwise empty."""
    least, most = math.inf, math.inf
    for _ in range(TRIES):
        least, most = (min(best, measure.seconds(measure.work(name, size))) for best, size in ((least, small), (most, large)))
        if most <= FLOOR + MARGIN * large / small * least:
            return ""
    return f"{small}: {least * 1000:.1f} ms, {large}: {most * 1000:.1f} ms"


def test_there_are_shapes_of_every_kind() -> None:
    assert len(SHAPES) + len(TEXTS) >= 40


@pytest.mark.parametrize("name", [*SHAPES, *TEXTS])
def test_cost_is_linear(name: str) -> None:
    assert not grows_faster_than_linear(name, SMALL, LARGE)


@pytest.mark.long
@pytest.mark.parametrize("name", [*SHAPES, *TEXTS])
def test_cost_is_linear_up_to_eight_thousand_items(name: str) -> None:
    assert not grows_faster_than_linear(name, 1000, 8000)


def test_what_is_quadratic_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def quadratic(n: int):
        return lambda: sum(i * j for i in range(n // 4) for j in range(n // 4))

    monkeypatch.setitem(SHAPES, "a square", quadratic)
    assert "4000: " in grows_faster_than_linear("a square", SMALL, LARGE)


def test_the_splitter_reads_one_large_document_once() -> None:
    text = b"".join(b"k%07d: v\n" % i for i in range(160_000))
    eighth = len(text) // 8
    small, large = (measure.seconds(partial(list, goyaml.documents(text[:size]))) for size in (eighth, len(text)))
    assert large < FLOOR + MARGIN * 8 * small
