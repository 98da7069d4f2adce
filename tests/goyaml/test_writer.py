"""YAML as the server writes it."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat import goyaml
from podstrat.goyaml import writer


@pytest.mark.parametrize(
    "value, text",
    [
        pytest.param({"b": 1, "a": None}, "a: null\nb: 1\n", id="keys-in-order"),
        pytest.param({"a10": 1, "a9": 2}, "a9: 2\na10: 1\n", id="numbers-in-keys"),
        pytest.param({"a": [{"b": [1]}]}, "a:\n- b:\n  - 1\n", id="lists-below-their-key"),
        pytest.param({"a": {}, "b": []}, "a: {}\nb: []\n", id="empty"),
        pytest.param({"a": "true"}, 'a: "true"\n', id="a-word-that-is-a-boolean"),
        pytest.param({"n": "12"}, '"n": "12"\n', id="a-key-that-is-a-boolean"),
        pytest.param({"a": "1:30"}, 'a: "1:30"\n', id="base-60"),
        pytest.param({"a": ""}, 'a: ""\n', id="empty-text"),
        pytest.param({"a": "x: y"}, "a: 'x: y'\n", id="a-colon"),
        pytest.param({"a": "x\ny\n"}, "a: |\n  x\n  y\n", id="lines"),
        pytest.param({"a": "x\ny"}, "a: |-\n  x\n  y\n", id="lines-without-an-end"),
        pytest.param({"a": "x" * 100 + " y"}, f"a: {'x' * 100} y\n", id="a-long-line"),
        pytest.param({"a": True, "b": "\u00e9"}, "a: true\nb: \u00e9\n", id="unicode"),
        pytest.param({"a": "x\x85y", "b": "x\ny\x85"}, 'a: "x\\Ny"\nb: "x\\ny\\N"\n', id="next-line"),
    ],
)
def test_text(value: Any, text: str) -> None:
    assert writer.dump(value) == text
    assert goyaml.load(text.encode()).value == value
