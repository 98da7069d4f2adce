"""What is refused for its size."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from podstrat import goyaml
from podstrat.goyaml import document, limits, syntax


def bomb(levels: int, width: int = 10) -> str:
    lines = ["a0: &a0 [" + ", ".join(["x"] * width) + "]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * width) + "]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("levels", [6, 9, 60], ids=str)
def test_alias_bomb(parser: str, levels: int) -> None:
    with pytest.raises(goyaml.YamlError, match="document contains excessive aliasing"):
        goyaml.load(bomb(levels))


def test_aliases_of_an_ordinary_measure() -> None:
    assert len(goyaml.load(bomb(3)).value["a2"]) == 10
    shared = "base: &base {a: 1, b: [1, 2, 3]}\n" + "".join(f"use{i}: *base\n" for i in range(2000))
    assert len(goyaml.load(shared).value) == 2001


@pytest.mark.parametrize(
    "aliased, decoded, too_much",
    [
        pytest.param(100, 100_000, False, id="the-first-hundred-are-free"),
        pytest.param(999, 1_000, False, id="small-documents-are-free"),
        pytest.param(99_000, 100_000, False, id="up-to-99-per-cent"),
        pytest.param(99_001, 100_000, True, id="more-than-99-per-cent"),
        pytest.param(1_198_000, 2_200_000, False, id="halfway"),
        pytest.param(1_200_000, 2_200_000, True, id="above-halfway"),
        pytest.param(500_000, 5_000_000, False, id="up-to-10-per-cent"),
        pytest.param(500_001, 5_000_000, True, id="more-than-10-per-cent"),
    ],
)
def test_alias_share(aliased: int, decoded: int, too_much: bool) -> None:
    assert limits.too_much_aliased(aliased, decoded) is too_much


DEEP: dict[str, Callable[[int], str]] = {
    "flow": lambda depth: "[" * depth + "]" * depth,
    "flow-mappings": lambda depth: "{a: " * depth + "x" + "}" * depth,
    "json": lambda depth: '{"a":' * depth + "1" + "}" * depth,
    "json-arrays": lambda depth: '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}",
    "block": lambda depth: "".join(" " * level + "a:\n" for level in range(depth)),
    "dashes": lambda depth: "- " * depth + "x",
    "aliases": lambda depth: f"- &a {'[' * 200}{']' * 200}\n- {'[' * (depth - 201)}*a{']' * (depth - 201)}\n",
}


@pytest.mark.parametrize("shape", DEEP)
def test_deepest(shape: str) -> None:
    (found,) = goyaml.documents(DEEP[shape](limits.MAX_DEPTH))
    depth, level = 0, [found.value]
    while level := [
        child for each in level if isinstance(each, dict | list) for child in (each.values() if isinstance(each, dict) else each)
    ]:
        depth += 1
    assert depth >= limits.MAX_DEPTH - 1
    assert found.mark(("a",) * 1000) >= (1, 1)


@pytest.mark.parametrize("depth", [limits.MAX_DEPTH + 1, 5_000, 100_000], ids=str)
@pytest.mark.parametrize("shape", [shape for shape in DEEP if shape != "block"])
def test_deeper(shape: str, depth: int) -> None:
    with pytest.raises(goyaml.YamlError, match=f"exceeded max depth of {limits.MAX_DEPTH}"):
        list(goyaml.documents(DEEP[shape](depth)))


def test_deeper_blocks(parser: str) -> None:
    with pytest.raises(goyaml.YamlError, match=f"exceeded max depth of {limits.MAX_DEPTH}"):
        goyaml.load(DEEP["block"](limits.MAX_DEPTH + 1))


def test_depth_needs_no_stack() -> None:
    used, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        used += 1
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(used + 150)
    try:
        found = goyaml.load(DEEP["flow"](limits.MAX_DEPTH))
        assert found.mark((0,) * 10) == (1, 11)
    finally:
        sys.setrecursionlimit(before)


def test_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from podstrat.goyaml import jsontext

    monkeypatch.setattr(document, "MAX_SIZE", 20)
    monkeypatch.setattr(jsontext, "MAX_SIZE", 20)
    assert len(list(goyaml.documents("a: 1\n---\nb: 2\n---\nc: 3\n---\nd: 4\n"))) == 4
    with pytest.raises(goyaml.YamlError) as caught:
        list(goyaml.documents("a: 1\n---\nb: " + "x" * 18))
    assert str(caught.value) == "yaml:3:1: the document has 22 characters; more than 20 are not read"
    with pytest.raises(goyaml.YamlError, match="the document has 28 characters"):
        list(goyaml.documents('{"b": "' + "x" * 19 + '"}'))


def test_no_long_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "LONGEST_SECOND_READING", 5)
    with pytest.raises(goyaml.YamlError, match="a question mark in a flow collection; not decided in a document of this size"):
        goyaml.load("[a, b?c]")
    with pytest.raises(goyaml.YamlError, match="found unexpected ':'"):
        goyaml.load("[aaaa:]")
