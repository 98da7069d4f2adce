"""Duplicate keys, anchors, aliases and merge keys."""

from __future__ import annotations

import pytest

from podstrat import goyaml

NOT_MAPS = "map merge requires map or sequence of maps as the value"


@pytest.mark.parametrize(
    "text, value, duplicates",
    [
        pytest.param("a: 1\na: 2\n", {"a": 2}, [(("a",), (1, 1), (2, 1), False)], id="last-one-wins"),
        pytest.param(
            "a: 1\na: 2\na: 3\n", {"a": 3}, [(("a",), (1, 1), (2, 1), False), (("a",), (2, 1), (3, 1), False)], id="three-times"
        ),
        pytest.param(
            "x:\n- y: {}\n- a: 1\n  b: {c: 1, c: 2}\n",
            {"x": [{"true": {}}, {"a": 1, "b": {"c": 2}}]},
            [(("x", 1, "b", "c"), (4, 7), (4, 13), False)],
            id="deep",
        ),
        pytest.param("y: 1\ntrue: 2\n", {"true": 2}, [(("true",), (1, 1), (2, 1), False)], id="two-spellings-of-one-key"),
        pytest.param("1: a\n'1': b\n", {"1": "b"}, [(("1",), (1, 1), (2, 1), False)], id="number-and-string"),
        pytest.param("<<: {a: 1}\na: 2\n", {"a": 2}, [(("a",), (1, 6), (2, 1), True)], id="merged-then-written"),
        pytest.param(
            "<<: {a: 1}\na: 2\na: 3\n",
            {"a": 3},
            [(("a",), (1, 6), (2, 1), True), (("a",), (2, 1), (3, 1), False)],
            id="merged-then-written-twice",
        ),
        pytest.param(
            "a:\n  <<: [{x: 1}, {x: 2}]\n  x: 3\n",
            {"a": {"x": 3}},
            [(("a", "x"), (2, 17), (2, 9), True), (("a", "x"), (2, 9), (3, 3), True)],
            id="merged-twice-then-written",
        ),
        pytest.param("a: 2\n<<: {a: 1}\n", {"a": 1}, [(("a",), (1, 1), (2, 6), True)], id="written-then-merged"),
        pytest.param("<<: [{a: 1}, {a: 2, b: 3}]\n", {"a": 1, "b": 3}, [(("a",), (1, 15), (1, 7), True)], id="first-mapping"),
        pytest.param('{"a": {"b": 1,\n "b": 2}}', {"a": {"b": 2}}, [(("a", "b"), (1, 8), (2, 2), False)], id="json"),
    ],
)
def test_duplicates(parser: str, text: str, value: object, duplicates: list[object]) -> None:
    (document,) = goyaml.documents(text)
    assert document.value == value
    assert [(each.path, each.first, each.second, each.merged) for each in document.duplicates] == duplicates


def test_none_where_there_are_none() -> None:
    assert goyaml.load("a: {b: 1}\nc: {b: 1}\n").duplicates == []


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, id="sequence"),
        pytest.param("a: &x k\n*x : 1\n", {"a": "k", "k": 1}, id="key"),
        pytest.param("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}, id="anchor-again"),
        pytest.param("a: &x [&x b, *x]\nc: *x\n", {"a": ["b", "b"], "c": "b"}, id="anchor-again-inside"),
        pytest.param("a: &x\nb: *x\n", {"a": None, "b": None}, id="empty"),
        pytest.param("a: &x 1.0\nb: *x\n", {"a": 1, "b": 1}, id="float"),
        pytest.param("a: &x {k: 1}\nb: {<<: *x, j: 2}\n", {"a": {"k": 1}, "b": {"k": 1, "j": 2}}, id="merge"),
        pytest.param("a: &x {k: 1}\nb: {<<: [*x, {k: 2, l: 3}]}\n", {"a": {"k": 1}, "b": {"k": 1, "l": 3}}, id="merge-several"),
        pytest.param(
            "a: &x {k: 1}\nb: &y {<<: *x}\nc: {<<: *y}\n", {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1}}, id="merge-twice"
        ),
        pytest.param('a: {"<<": {b: 1}}\n', {"a": {"<<": {"b": 1}}}, id="quoted-is-no-merge"),
        pytest.param("a: {!!merge <<: {b: 1}}\n", {"a": {"b": 1}}, id="tagged-merge"),
        pytest.param("a: [<<]\n", {"a": ["<<"]}, id="not-a-key"),
    ],
)
def test_aliases(parser: str, text: str, want: object) -> None:
    assert goyaml.load(text).value == want


def test_each_use_of_an_alias_is_its_own_value() -> None:
    value = goyaml.load("a: &x {b: [1]}\nc: *x\nd: {<<: *x}\n").value
    value["c"]["b"].append(2)
    value["d"]["b"].append(3)
    assert value == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": {"b": [1, 3]}}


@pytest.mark.parametrize(
    "text, message, place",
    [
        pytest.param("a: *x\n", "unknown anchor 'x' referenced", (1, 4), id="unknown"),
        pytest.param("a: &x 1\n---\nb: *x\n", "unknown anchor 'x' referenced", (3, 4), id="of-another-document"),
        pytest.param("a: &x [*x]\n", "anchor 'x' value contains itself", (1, 8), id="itself"),
        pytest.param("a: &x {<<: *x}\n", "anchor 'x' value contains itself", (1, 12), id="merged-into-itself"),
        pytest.param("<<: 1\n", NOT_MAPS, (1, 5), id="merge-a-scalar"),
        pytest.param("<<: [1]\n", NOT_MAPS, (1, 6), id="merge-a-list-of-scalars"),
        pytest.param("a: &x [{}]\n<<: *x\n", NOT_MAPS, (2, 5), id="merge-a-list-by-alias"),
    ],
)
def test_refused(parser: str, text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(goyaml.YamlError) as caught:
        list(goyaml.documents(text))
    assert (caught.value.message, (caught.value.line, caught.value.column)) == (message, place)
