"""libyaml and the parser in Python read alike, and both as go-yaml does where the three would differ."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from podstrat import goyaml
from podstrat.goyaml import syntax

REFUSED = "refused"


def outcome(text: str) -> Any:
    try:
        tree = syntax.tree(text)
    except goyaml.YamlError:
        return REFUSED
    return json.dumps(tree.root and tree.root.value), [(each.path, each.first, each.second) for each in tree.duplicates]


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param(r'"a\/b"', REFUSED, id="escaped-slash"),
        pytest.param(r'"a\\/b"', "a\\/b", id="escaped-backslash-and-slash"),
        pytest.param(r"a\/b", r"a\/b", id="slash-in-a-plain-scalar"),
        pytest.param('- |\n  a\\/b\n- "c/d"\n', ["a\\/b\n", "c/d"], id="slash-in-a-block"),
        pytest.param(r'"it\'s"', "it's", id="escaped-apostrophe"),
        pytest.param(r'"\ud83d\ude00"', REFUSED, id="surrogates"),
        pytest.param(r'"\U00110000"', REFUSED, id="beyond-unicode"),
        pytest.param(r'"\x4"', REFUSED, id="short-escape"),
        pytest.param('"\\\n  a\\\tb\\ c"', "a\tb c", id="escaped-blanks"),
        pytest.param("%YAML 1.1\n---\na", "a", id="version-1.1"),
        pytest.param("%YAML 1.2\n---\na", REFUSED, id="version-1.2"),
        pytest.param("%YAML 1.1\n%YAML 1.1\n---\na", REFUSED, id="version-twice"),
        pytest.param("%FOO bar\n---\na", REFUSED, id="unknown-directive"),
        pytest.param("%TAG !x! tag:x,1:\n---\n!x!y a", "a", id="tag-directive"),
        pytest.param("!x!y a", REFUSED, id="unknown-handle"),
        pytest.param("[a?b]", REFUSED, id="question-mark-in-flow"),
        pytest.param("a: x?y", {"a": "x?y"}, id="question-mark-in-block"),
        pytest.param("[a:, b]", ["a:", "b"], id="colon-before-comma-in-flow"),
        pytest.param("{a:}", {"a:": None}, id="colon-before-brace-in-flow"),
        pytest.param("[a:b]", ["a:b"], id="colon-in-flow"),
        pytest.param("[!!str, b]", ["b"], id="comma-belongs-to-the-tag"),
        pytest.param("!a,b c", "c", id="comma-belongs-to-the-tag-in-block"),
        pytest.param("{a: !!str 1}", {"a": "1"}, id="tag-in-flow"),
        pytest.param("!! a", REFUSED, id="handle-without-tag"),
        pytest.param("a:\tb", {"a": "b"}, id="tab-after-colon"),
        pytest.param("a: b\tc\t# d", {"a": "b\tc"}, id="tab-in-a-plain-scalar"),
        pytest.param("a: |\t# c\n  b\n", {"a": "b\n"}, id="tab-after-block-header"),
        pytest.param("a: |#c\n  b\n", {"a": "b\n"}, id="comment-right-after-block-header"),
        pytest.param("a: |\n  b\n\tc\n", REFUSED, id="tab-in-block-indentation"),
        pytest.param("- a\n-\tb", REFUSED, id="tab-after-dash"),
        pytest.param("a: b\n \tc", {"a": "b c"}, id="tab-after-indentation"),
        pytest.param("a: 1\n\ufeffb: 2", REFUSED, id="byte-order-mark-in-the-middle"),
        pytest.param("a b: c\nd", REFUSED, id="no-colon"),
        pytest.param("a" * 1024 + ": b", {"a" * 1024: "b"}, id="longest-key"),
        pytest.param("a" * 1025 + ": b", REFUSED, id="key-too-long"),
        pytest.param("? " + "a" * 2000 + "\n: b", {"a" * 2000: "b"}, id="long-key-with-question-mark"),
        pytest.param("'a' 'b'", "a", id="what-follows-is-not-read"),
        pytest.param("'a' \"\\/\"", REFUSED, id="but-looked-at"),
        pytest.param("'a' [b?c", "a", id="and-no-further-than-one-token"),
    ],
)
def test_as_go_yaml(parser: str, text: str, want: Any) -> None:
    assert outcome(text) == (REFUSED if want == REFUSED else (json.dumps(want), []))


PIECES = [
    *(
        "a",
        "b",
        "a: ",
        "b: ",
        "- ",
        "-",
        "? ",
        "?",
        ": ",
        ":",
        ", ",
        ",",
        "[",
        "]",
        "{",
        "}",
        "#",
        "# c",
        " #c",
        '"',
        "'",
        "x: y",
        "x: y\n",
    ),
    *(
        '"x"',
        "'y'",
        r'"\n"',
        '"\\\n"',
        r'"\/"',
        '"\\\'"',
        "\\",
        "|",
        "|\n",
        ">\n",
        ">-\n  ",
        "|+\n",
        "|2\n",
        "\t",
        " ",
        "  ",
        "x\ty",
    ),
    *(
        "&x ",
        "*x",
        "*x ",
        "!",
        "! ",
        "!!str ",
        "!!int",
        "!t ",
        "!<a> ",
        "!a,b ",
        "%",
        "%YAML 1.1\n",
        "%TAG ! !x\n",
        "<<: ",
        "&",
        "*",
        "@",
        "`",
    ),
    *(
        "---",
        "---\n",
        "--- ",
        "...",
        "...\n",
        "1",
        "0x1",
        "~",
        "=",
        "\x85",
        "\u2028",
        "\ufeff",
        "\r",
        "\r\n",
        "é",
        "a:b",
        "a?b",
        "a#b",
        "?a",
    ),
    *(
        "[a, b]",
        "{a: b}",
        '"k": ',
        "'k': v",
        "- - ",
        "{a: , b}",
        "[a: b]",
        '{"a":1}',
        "-a",
        ":a",
        "- a: b\n  c: d",
        "a:\n- b\n",
        "a:\n  - b\n",
    ),
    *("\n", "\n", "\n", "\n  ", "\n    ", "\n- ", "\n a", "\n\n", "\n\t"),
]


@pytest.mark.parametrize("length", [4, 8, 16, 40])
def test_alike(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some thousand texts of pieces thrown together."""
    if syntax.libyaml() is None:
        pytest.skip("PyYAML was built without libyaml")
    dice = random.Random(length)
    texts = ["".join(dice.choices(PIECES, k=dice.randint(1, length))) for _ in range(1500)]
    libyaml = [outcome(text) for text in texts]
    monkeypatch.setattr(syntax, "libyaml", lambda: None)
    python = [outcome(text) for text in texts]
    assert [text for text, left, right in zip(texts, libyaml, python, strict=True) if left != right] == []
    accepted = sum(each != REFUSED for each in libyaml)
    assert 100 < accepted < 1400
