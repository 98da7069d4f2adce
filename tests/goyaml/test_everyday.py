"""What the quick reader takes, it reads as the real parser does."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from podstrat import goyaml
from podstrat.goyaml import everyday, everyday_places, syntax

MANIFEST = """\
---
# a pod
apiVersion: v1
kind: Pod   # the kind
metadata:
    name: "x"
    labels: {a: b, "c d": 'e', f: 1}
    annotations:
        example.com/when: 2024-01-02
        'quo''ted'  : x
spec:
  hostNetwork: no
  containers:
  - name: c
    image: registry:5000/a/b:v1@sha256:00
    command: ["sh", '-c', --flag, -1, x=y, ./z]
    args:
      - |
        echo hi
          there

        x: [y

      - "-x \\"y\\"\\n"
      - 'it''s'
    script: |-
       foo
       \tbar
    env:
    - {name: A, value: "1"}
    -   name: B
        value: "é: 😀"
    resources: {}
    ports: []
  tolerations:
  restartPolicy: Never
  note: |+
    kept


"""


def real(text: str) -> Any:
    try:
        tree = syntax.tree(text)
    except goyaml.YamlError:
        return "refused"
    return "duplicates" if tree.duplicates else json.dumps(tree.root and tree.root.value)


def wrong(text: str) -> bool:
    """Whether another value is read than by the real parser, or a part of it found elsewhere."""
    value = everyday.read(text)
    if value is everyday.NOT_MINE:
        return False
    return json.dumps(value) != real(text) or (value is not None and misplaced(text, value) is not None)


def misplaced(text: str, value: Any) -> tuple[Any, ...] | None:
    """The first path that stands elsewhere for the real parser."""
    outline, tree = everyday_places.Outline(text, 1), syntax.tree(text)
    return next((path for path in paths(value) if outline.find(path) != tree.find(path)), None)


def paths(value: Any, to: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All paths of a value, and absent ones beside them."""
    yield to
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from paths(item, (*to, step))
    yield from ((*to, "absent"), (*to, 99))


def test_a_manifest() -> None:
    text = MANIFEST.replace("        'quo''ted'  : x\n", "")
    assert json.dumps(everyday.read(text)) == real(text)


def test_what_yaml_dump_writes() -> None:
    pod = {
        "spec": {
            "containers": [{"name": "c", "env": [{"name": "A", "value": "1"}], "args": ["true", "1.5", "a b", ""]}],
            "none": None,
        }
    }
    for indent in (2, 4):
        text = yaml.dump(pod, indent=indent)
        assert everyday.read(text) == pod


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &x 1\n", id="anchor"),
        pytest.param("a: !!str 1\n", id="tag"),
        pytest.param("a: >\n  b\n", id="folded"),
        pytest.param("a: b\n  c\n", id="two-lines"),
        pytest.param("a: 1\na: 2\n", id="duplicate"),
        pytest.param("a: {b: 1, b: 2}\n", id="duplicate-in-flow"),
        pytest.param("y: 1\n", id="bool-key"),
        pytest.param("1: 1\n", id="number-key"),
        pytest.param("<<: {}\n", id="merge"),
        pytest.param("a: .inf\n", id="not-json"),
        pytest.param("a:\tb\n", id="tab"),
        pytest.param("a: b\r\n", id="carriage-return"),
        pytest.param("a: b\n---\nc: d\n", id="two-documents"),
        pytest.param("---\n---\na: b\n", id="empty-document-first"),
        pytest.param("a:\n  b: 1\n c: 2\n", id="odd-indentation"),
        pytest.param("a: |\n  x", id="block-to-the-very-end"),
        pytest.param("a: |\n   \n  x\n", id="blank-line-first"),
        pytest.param("a: |2\n   x\n", id="indentation-given"),
        pytest.param("a: [b, [c]]\n", id="nested-flow"),
        pytest.param("a: b: c\n", id="mistake"),
        pytest.param("- - a\n", id="sequence-in-sequence"),
        pytest.param("-\n  a: b\n", id="item-on-the-next-line"),
        pytest.param("word\n", id="scalar"),
        pytest.param("".join(" " * level + "a:\n" for level in range(300)), id="deep"),
    ],
)
def test_left_to_the_real_parser(text: str) -> None:
    assert everyday.read(text) is everyday.NOT_MINE


EDITS = [
    *(
        " ",
        "  ",
        "\n",
        "-",
        "- ",
        ":",
        ": ",
        "#",
        " #",
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        "|",
        ">",
        "\t",
        "&a ",
        "*a",
        "!x ",
        "a",
        "1",
        "y",
    ),
    *(
        ",",
        "%",
        "@",
        "?",
        "? ",
        "\\",
        "...",
        "---",
        "\n---\n",
        "\n\n",
        "0",
        ".",
        "~",
        "é",
        "\r",
        "\n  ",
        "\n    ",
        "\n - ",
        "\xa0",
        "\x85",
    ),
]


def edited(text: str, dice: random.Random) -> str:
    """The text with a mistake or two of the kind that people make."""
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(text))
        lines = text.split("\n")
        line = dice.randrange(len(lines))
        match dice.randrange(5):
            case 0 | 1:
                text = text[:at] + dice.choice(EDITS) + text[at:]
            case 2:
                text = text[:at] + text[at + dice.randint(1, 3) :]
            case 3:
                lines[line] = " " * dice.randint(0, 6) + lines[line].lstrip(" ")
                text = "\n".join(lines)
            case _:
                lines.insert(dice.randrange(len(lines)), lines.pop(line))
                text = "\n".join(lines)
    return text


def test_edited_manifests() -> None:
    dice = random.Random(1)
    sound = MANIFEST.replace("        'quo''ted'  : x\n", "")
    short = "a:\n  b:\n  - c: d\n    e: |\n      f\n  - g\nh: [i, 1]\n"
    texts = [edited(dice.choice((sound, short)), dice) for _ in range(4000)]
    assert [text for text in texts if wrong(text)] == []
    assert sum(everyday.read(text) is not everyday.NOT_MINE for text in texts) > 500


KEYS = ["a", "b", "k.x/y-z", '"q"', "'s'", '"a b"', "y", "no", "1", "<<", "_", "-a", '"a":b']
VALUES = [
    *(
        "",
        "x",
        "true",
        "y",
        "1",
        "1.0",
        "0777",
        "1e3",
        "-1",
        "--a",
        "~",
        "null",
        ".inf",
        "1_0",
        "12:30",
        "2024-01-02",
        "0x1F",
        "+1",
        "=",
        "<<",
    ),
    *('"q"', "'s'", "'it''s'", r'"a\nb"', r'"a\/b"', r'"a\qb"', '"open', "'open", '"a": b', '"a" b', '"', "''", '""'),
    *(
        "# c",
        "x # c",
        "x #",
        "x#",
        "a:b",
        "a: b",
        "a:",
        "http://x:80/y",
        "x\ty",
        "x ",
        "  x",
        "x, y",
        "x [y",
        "x {y}",
        "a & b",
        "\xa0",
        "x\xa0",
    ),
    *(
        "[]",
        "{}",
        "[a, b]",
        "[\"a\", 'b', 1]",
        "[a,b,]",
        "[a b]",
        "[y, n, 1.5, .inf]",
        "[a] b",
        "{} x",
        "{a: 1, b: x}",
        "{a: 1, a: 2}",
        "{y: 1}",
    ),
    *("&a x", "*a", "!!str 1", "@", "%x", "é", "- a", "-", "?", "? a", "(a)", "$x", "^", "\\x"),
]
BLOCKS = ["|", "|-", "|+", "|  # c", ">", "|2"]
LOOSE = ["", "   ", "# c", "  # c", "\t", "...", "---", "    text", "  text", "      more text: x"]


def drawn(dice: random.Random) -> str:
    """Lines thrown together, most of them sound by themselves."""
    lines = []
    indent = 0
    for _ in range(dice.randint(1, 9)):
        indent = dice.choice([indent, indent, indent, indent + 2, max(0, indent - 2), 0, dice.randint(0, 6)])
        lead = " " * indent + dice.choice(["", "", "", "- ", "- ", "-  ", "-", "- - "])
        kind = dice.random()
        if kind < 0.75:
            lines.append(
                lead + dice.choice(KEYS) + ":" + dice.choice(["", " ", " ", " ", "  "]) + dice.choice(VALUES + BLOCKS * 3)
            )
        else:
            lines.append(lead + dice.choice(VALUES) if kind < 0.9 else dice.choice(LOOSE))
    return "\n".join(lines) + dice.choice(["\n", "\n", "", "\n\n", "\n  \n"])


def test_drawn_lines() -> None:
    dice = random.Random(2)
    texts = [drawn(dice) for _ in range(10_000)]
    assert [text for text in texts if wrong(text)] == []
    assert sum(everyday.read(text) is not everyday.NOT_MINE for text in texts) > 200


def test_needs_no_pyyaml() -> None:
    code = "from podstrat import goyaml; goyaml.load('a: [b]'); list(goyaml.documents('{}'))"
    code += "; import sys; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2]).returncode == 0


def test_known_lines_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everyday, "_known", {})
    monkeypatch.setattr(everyday, "_MOST_KNOWN", 10)
    for number in range(100):
        assert everyday.read(f"a: x{number}\nb: c\n") == {"a": f"x{number}", "b": "c"}
        assert len(everyday._known) <= 10
