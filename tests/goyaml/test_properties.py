"""What holds of every text."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podstrat import goyaml
from podstrat.goyaml import syntax

settings.register_profile("goyaml", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
quietly = settings(settings.get_profile("goyaml"), max_examples=100)

# No lone surrogates (no JSON text can hold them), and integers that 64 bits can hold: YAML has no others.
words = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | words
json_values = st.recursive(scalars, lambda each: st.lists(each) | st.dictionaries(words, each), max_leaves=8)

YAMLISH = [
    *(
        "a",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "&x ",
        "*x",
        "!!int ",
        "<<: ",
        '"',
        "'",
        "|\n",
        ">\n",
        "#",
        "---\n",
    ),
    *("?", "\t", "\r\n", "1", ".5", "~", "\x85", "\ufeff", "\0", "\ud800", '{"a": 1}', "%YAML 1.1\n", "...\n"),
]
texts = st.text() | st.lists(st.sampled_from(YAMLISH)).map("".join)


def as_go_has_it(value: Any) -> Any:
    """What Go's JSON keeps of a value: 1.0 is written 1, and 1e21 is the first float that keeps its exponent."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(Decimal(repr(value)))
    if isinstance(value, list):
        return [as_go_has_it(each) for each in value]
    if isinstance(value, dict):
        return {key: as_go_has_it(each) for key, each in value.items()}
    return value


@quietly
@given(st.dictionaries(words, json_values), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_json_comes_back(value: Any, ascii_only: bool, indent: Any) -> None:
    """Any JSON object, written as JSON, is read as what it was."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    (document,) = goyaml.documents(text)
    assert document.value == as_go_has_it(value)
    (again,) = goyaml.documents(text.encode())
    assert again.value == document.value


# What JSON and YAML both can say: no control characters unescaped, no surrogate pairs escaped, no keys beyond 1,024 characters.
shared_words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Co", "Cn"], exclude_characters="\ufeff\u2028\u2029"),
    max_size=50,
)
shared_scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | shared_words
)
shared = st.recursive(shared_scalars, lambda each: st.lists(each) | st.dictionaries(shared_words, each), max_leaves=8)


@quietly
@given(value=shared)
def test_json_is_yaml(parser: str, value: Any) -> None:
    """Any JSON value, read as YAML, is what it was."""
    assert goyaml.load(json.dumps(value, ensure_ascii=False)).value == as_go_has_it(value)


@quietly
@given(text=texts)
def test_documents_or_an_error(parser: str, text: str) -> None:
    """Any text gives documents or YamlError, and every place lies inside the text."""
    for reader in (goyaml.documents, lambda each: iter([goyaml.load(each)])):
        try:
            found = list(reader(text))
        except goyaml.YamlError as error:
            assert_inside(text, (error.line, error.column))
            continue
        for document in found:
            json.dumps(document.value, allow_nan=False)
            assert document.line >= 1
            for path in paths(document.value):
                assert_inside(text, document.mark(path))
                assert_inside(text, document.key_mark(path))
            for duplicate in document.duplicates:
                assert_inside(text, duplicate.first)
                assert_inside(text, duplicate.second)


@quietly
@given(data=st.binary() | texts.map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_bytes(data: bytes) -> None:
    """Any bytes give documents or YamlError."""
    try:
        found = [document.value for document in goyaml.documents(data)]
    except goyaml.YamlError:
        return
    assert all(value is not None for value in found)


def assert_inside(text: str, place: tuple[int, int]) -> None:
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", text)
    line, column = place
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1


def paths(value: Any) -> list[tuple[str | int, ...]]:
    """The paths of everything in the value."""
    found: list[tuple[str | int, ...]] = [()]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += [(key, *path) for path in paths(child)]
    return found


@pytest.mark.parametrize("text", ["a: 1", "\n# x\n---\na:\n - b\n"], ids=["short", "long"])
def test_place(text: str) -> None:
    """place() and the marks of a document count alike."""
    (document,) = goyaml.documents(text)
    assert syntax.place(text, text.index("a")) == document.key_mark(("a",))
