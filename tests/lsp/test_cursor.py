"""The place under the cursor, in whole and in incomplete YAML. ``|`` marks the cursor."""

from __future__ import annotations

import pytest

from podstrat.lsp import cursor

POD = "apiVersion: v1\nkind: Pod\n"


def at(text: str) -> cursor.Cursor:
    before, _, after = text.partition("|")
    lines = (before + after).split("\n")
    return cursor.at(lines, before.count("\n"), len(before.rpartition("\n")[2]))


@pytest.mark.parametrize(
    "text, place, on_value",
    [
        pytest.param("ki|nd: Pod", (), False, id="a key at the top"),
        pytest.param("kind: P|od", ("kind",), True, id="a value at the top"),
        pytest.param("spec:\n  restartPolicy: |", ("spec", "restartPolicy"), True, id="a value still to come"),
        pytest.param("spec:\n  re|", ("spec",), False, id="a key that is being typed"),
        pytest.param("spec:\n  |", ("spec",), False, id="an empty line in a mapping"),
        pytest.param("spec:\n  a: 1\n|", (), False, id="an empty line at the top"),
        pytest.param("spec:\n  containers:\n  - na|me: c", ("spec", "containers", 0), False, id="a list at its key's column"),
        pytest.param("spec:\n  containers:\n    - name: c\n    - im|", ("spec", "containers", 1), False, id="a second item"),
        pytest.param("spec:\n  containers:\n  - name: c\n    |", ("spec", "containers", 0), False, id="an empty line in an item"),
        pytest.param(
            "spec:\n  containers:\n  - name: c\n    ports:\n    - containerPort: 1\n  - name: d|",
            ("spec", "containers", 1, "name"),
            True,
            id="after a list in a list",
        ),
        pytest.param("a:\n- - b\n  - c|: 1", ("a", 0, 1), False, id="dashes after dashes"),
        pytest.param("a: 1\n---\nb:\n  c|: 1", ("b",), False, id="the second document"),
        pytest.param('"a b":\n  "c": |', ("a b", "c"), True, id="quoted keys"),
        pytest.param("# a:\nb:\n  # c:\n  |", ("b",), False, id="comments"),
    ],
)
def test_place(text: str, place: tuple[str | int, ...], on_value: bool) -> None:
    found = at(text)
    assert (found.place, found.on_value) == (place, on_value)


def test_lines_of_a_block_scalar_are_not_keys() -> None:
    text = "data:\n  script: >\n    kind: no\n    - item: no\n  other: 1"
    assert cursor.at(text.split("\n"), 4, 4).place == ("data",)


def test_what_is_typed_and_the_key() -> None:
    found = at(POD + "spec:\n  restartPolicy: On|Failure")
    assert (found.typed, found.key, found.head) == ("On", "restartPolicy", {"apiVersion": "v1", "kind": "Pod"})


def test_the_kind_may_stand_below_the_cursor() -> None:
    assert at("spec:\n  |\napiVersion: v1\nkind: Pod").head == {"apiVersion": "v1", "kind": "Pod"}


@pytest.mark.parametrize("text", ["|", "\t|", "- |", ": |", "-\n|", "a: [b, |", "a: {b: |", "---\n|", "'|", "? |"])
def test_whatever_is_typed_there_is_a_place(text: str) -> None:
    assert isinstance(at(text).place, tuple)
