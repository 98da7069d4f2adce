"""Shapes of YAML documents."""

from __future__ import annotations

from collections.abc import Callable

from podstrat import goyaml
from tests.growth.shapes.base import SHAPES, Work


def loaded(source: str) -> Work:
    data = source.encode()

    def work() -> object:
        try:
            return [document.value for document in goyaml.documents(data)]
        except goyaml.YamlError as error:
            return error

    return work


def yaml(name: str, unit: Callable[[int], str], before: str = "", after: str = "") -> None:
    SHAPES[f"yaml: {name}"] = lambda n: loaded(before + "".join(unit(i) for i in range(n)) + after)


yaml("keys", lambda i: f"k{i}: v\n")
yaml("items", lambda i: f"- a: {i}\n  b: x\n")
yaml("documents", lambda i: f"---\na: {i}\n")
yaml("empty documents", lambda i: "---\n")
yaml("comments", lambda i: f"# c{i}\n", after="a: b\n")
yaml("blank lines", lambda i: "\n", "a: b\n", "c: d\n")
yaml("a literal block", lambda i: f"  line {i}\n", "a: |\n")
yaml("a folded block", lambda i: f"  line {i}\n", "a: >\n")
yaml("a plain text over lines", lambda i: f"  line {i}\n", "a: b\n")
yaml("a quoted text over lines", lambda i: f"  line {i}\n", 'a: "b\n', '  "\n')
yaml("a flow sequence", lambda i: f"{i}, ", "a: [", "]\n")
yaml("a flow mapping", lambda i: f"k{i}: {i}, ", "a: {", "}\n")
yaml("anchors", lambda i: f"- &a{i} x\n")
yaml("aliases", lambda i: "- *a\n", "- &a x\n")
yaml("tags", lambda i: f"- !!str {i}\n")
yaml("merge keys", lambda i: f"- <<: *a\n  b: {i}\n", "- &a {x: y}\n")
yaml("the same key", lambda i: "a: b\n")
yaml("JSON documents", lambda i: f'{{"a": {i}}}\n')
yaml("depth", lambda i: f"{'  ' * (i % 64)}k{i}:\n" if i % 64 else f"t{i}:\n")
yaml("not YAML", lambda i: "a: b\n", after="\t- [\n")
yaml("separators in a block", lambda i: "  ---\n", "a: |\n")
yaml("carriage returns", lambda i: f"k{i}: v\r\n")
