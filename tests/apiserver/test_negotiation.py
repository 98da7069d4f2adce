"""The forms that bodies have."""

from __future__ import annotations

import pytest

from apiserver import negotiation
from strategy import errors

APPLY = "application/apply-patch+yaml"


@pytest.mark.parametrize(
    "text, complaints",
    [
        pytest.param("a: 1\nb: 2", [], id="none"),
        pytest.param("a: 1\na: 2", ['line 2: key "a" already set in map'], id="repeated-key"),
        pytest.param('{"a": 1, "b": 2,\n"a": 3}', ['line 2: key "a" already set in map'], id="repeated-in-json"),
        pytest.param("m:\n  a: 1\n  a:\n    b: 2", ['line 4: key "a" already set in map'], id="line-of-the-value"),
    ],
)
def test_what_a_strict_reader_has_against_an_apply(text: str, complaints: list[str]) -> None:
    assert negotiation.patch(APPLY, text.encode())[2] == complaints


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("a: b: c", "yaml: mapping values are not allowed in this context", id="first-line"),
        pytest.param("a: 1\n b: 2", "yaml: line 2: mapping values are not allowed in this context", id="second-line"),
    ],
)
def test_an_apply_that_is_no_yaml(text: str, words: str) -> None:
    with pytest.raises(errors.BadRequest) as refused:
        negotiation.patch(APPLY, text.encode())
    assert refused.value.message == f"error decoding YAML: error converting YAML to JSON: {words}"
