"""Where things stand."""

from __future__ import annotations

import pytest

from podstrat import goyaml

POD = """\
# a pod
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {"a b": c}}
spec:
  containers:
  - name: c
    image: "nginx"
    ports:
      - containerPort: 80
      -
        containerPort: 81
  -   name: d
  restartPolicy:
"""


@pytest.mark.parametrize(
    "path, value, key",
    [
        pytest.param((), (2, 1), (2, 1), id="document"),
        pytest.param(("kind",), (3, 7), (3, 1), id="scalar"),
        pytest.param(("metadata",), (4, 11), (4, 1), id="flow-mapping"),
        pytest.param(("metadata", "labels", "a b"), (4, 37), (4, 30), id="quoted-key"),
        pytest.param(("spec",), (6, 3), (5, 1), id="block-mapping"),
        pytest.param(("spec", "containers"), (7, 3), (6, 3), id="sequence"),
        pytest.param(("spec", "containers", 0), (7, 5), (7, 5), id="item"),
        pytest.param(("spec", "containers", 0, "image"), (8, 12), (8, 5), id="quoted-value"),
        pytest.param(("spec", "containers", 0, "ports", 1, "containerPort"), (12, 24), (12, 9), id="item-on-the-next-line"),
        pytest.param(("spec", "containers", 1, "name"), (13, 13), (13, 7), id="wide-dash"),
        pytest.param(("spec", "containers", 1, "image"), (13, 7), (13, 7), id="absent-field"),
        pytest.param(("spec", "containers", 7, "image"), (7, 3), (6, 3), id="absent-item"),
        pytest.param(("spec", "containers", "x"), (7, 3), (6, 3), id="key-of-a-sequence"),
        pytest.param(("spec", 0), (6, 3), (5, 1), id="index-of-a-mapping"),
        pytest.param(("kind", "x", "y"), (3, 7), (3, 1), id="child-of-a-scalar"),
        pytest.param(("spec", "restartPolicy"), (14, 17), (14, 3), id="null"),
    ],
)
def test_mark(parser: str, path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]) -> None:
    (document,) = goyaml.documents(POD)
    assert (document.mark(path), document.key_mark(path)) == (value, key)


@pytest.mark.parametrize("lead", ["", "a: 1\n---\n", "---\n", '{"a": 1}\n'], ids=["alone", "second", "separated", "after-json"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_lines_count_from_the_start_of_the_stream(lead: str, line_break: str) -> None:
    text = (lead + POD).replace("\n", line_break)
    last = list(goyaml.documents(text.encode()))[-1]
    line, column = last.mark(("spec", "containers", 0, "image"))
    assert text.split(line_break)[line - 1][column - 1 :] == '"nginx"'
    assert last.line == 2 + lead.count("\n")


def test_json() -> None:
    text = '\n{"a": 1}\n  {"b": [1, {"c\\n": true}],\r\n "d": {}}'
    _, document = goyaml.documents(text)
    assert document.line == 3
    assert document.mark(("b",)) == (3, 9)
    assert document.mark(("b", 1, "c\n")) == (3, 21)
    assert document.key_mark(("b", 1, "c\n")) == (3, 14)
    assert document.mark(("d",)) == (4, 7)
    assert document.key_mark(("d", "x")) == (4, 2)


def test_alias_stands_where_it_is_used_and_its_parts_where_they_are_written(parser: str) -> None:
    document = goyaml.load("a: &x {b: 1}\nc: *x\n")
    assert document.mark(("c",)) == (2, 4)
    assert document.mark(("c", "b")) == (1, 11)


def test_merged_key_stands_where_it_is_written(parser: str) -> None:
    document = goyaml.load("a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n")
    assert document.value == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}
    assert document.mark(("c", "b")) == (2, 6)
    assert document.key_mark(("c", "b")) == (2, 3)


def test_characters_count_not_bytes() -> None:
    assert goyaml.load('"é😀": {ü: x}\n').mark(("é😀", "ü")) == (1, 11)


@pytest.mark.parametrize(
    "text, place",
    [
        pytest.param("a:\nb: 1\n", (1, 3), id="nothing-after-the-colon"),
        pytest.param("? a\n", (1, 3), id="no-colon"),
        pytest.param("a:\n  ~\n", (2, 3), id="written-on-the-next-line"),
        pytest.param("{a, b}\n", (1, 3), id="flow"),
    ],
)
def test_null_value(parser: str, text: str, place: tuple[int, int]) -> None:
    assert goyaml.load(text).mark(("a",)) == place


def test_null_document() -> None:
    assert goyaml.load("\n# c\n").mark(("a",)) == (3, 1)
