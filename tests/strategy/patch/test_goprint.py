"""Go's printing of values."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.patch import goprint


@pytest.mark.parametrize(
    "value, plain, text",
    [
        pytest.param("a b", "a b", "a b", id="string"),
        pytest.param(None, "<nil>", "%!s(<nil>)", id="nil"),
        pytest.param(True, "true", "%!s(bool=true)", id="bool"),
        pytest.param(-7, "-7", "%!s(int64=-7)", id="int"),
        pytest.param(1.5, "1.5", "%!s(float64=1.5)", id="float"),
        pytest.param([1, ["a"], None], "[1 [a] <nil>]", "[%!s(int64=1) [a] %!s(<nil>)]", id="list"),
        pytest.param({"b": 1, "a": {}, "B": []}, "map[B:[] a:map[] b:1]", "map[B:[] a:map[] b:%!s(int64=1)]", id="map"),
    ],
)
def test_printed(value: Any, plain: str, text: str) -> None:
    assert goprint.plain(value) == plain
    assert goprint.text(value) == text


@pytest.mark.parametrize(
    "number, text",
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (-1234567.0, "-1.234567e+06"),
        (9223372036854775808.0, "9.223372036854776e+18"),
        (123.456, "123.456"),
        (0.5, "0.5"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (1e300, "1e+300"),
    ],
)
def test_floats(number: float, text: str) -> None:
    assert goprint.plain(number) == text
