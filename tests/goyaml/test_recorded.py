"""What sigs.k8s.io/yaml, in strict mode, made of 890 texts; each as it must come out of ours, by every way that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat import goyaml
from podstrat.goyaml import syntax

CASES = [json.loads(line) for line in (Path(__file__).parent / "cases" / "yaml.jsonl").read_text().splitlines()]
REFUSED = "refused"


def wanted(case: dict[str, str]) -> Any:
    return REFUSED if "error" in case else json.loads(case["json"])


def from_tree(text: str) -> Any:
    try:
        tree = syntax.tree(text)
    except goyaml.YamlError:
        return REFUSED
    return REFUSED if tree.duplicates else tree.root and tree.root.value


def from_load(text: str | bytes) -> Any:
    try:
        document = goyaml.load(text)
    except goyaml.YamlError:
        return REFUSED
    return REFUSED if document.duplicates else document.value


def differs(got: Any, want: Any) -> bool:
    """Python holds True for 1 and 1 for 1.0; JSON does not."""
    return json.dumps(got, sort_keys=True) != json.dumps(want, sort_keys=True)


def test_there_are_cases() -> None:
    assert len(CASES) == 890
    assert sum("error" in case for case in CASES) == 50


@pytest.mark.parametrize("read", [from_tree, from_load], ids=["tree", "load"])
def test_every_recorded_text(parser: str, read: Any) -> None:
    assert [case for case in CASES if differs(read(case["yaml"]), wanted(case))] == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_recorded_text_as_bytes(encoding: str) -> None:
    assert [case for case in CASES if differs(from_load(case["yaml"].encode(encoding)), wanted(case))] == []
