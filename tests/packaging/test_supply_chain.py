"""Where packages come from in the image and in the action: the lock, by hash; and our own wheel."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = {".", "/wheels/*.whl"}


def container() -> str:
    return (ROOT / "Containerfile").read_text()


def action() -> str:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    return "\n".join(step["run"] for step in steps)


def installs(text: str) -> list[list[str]]:
    """The words of every pip install."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^\s*#.*\n", "", text))
    found = re.findall(r"pip install ([^&\n]*)", joined)
    return [shlex.split(each) for each in found]


@pytest.mark.parametrize("text", [container(), action()], ids=["image", "action"])
def test_packages_are_installed_by_hash(text: str) -> None:
    found = installs(text)
    assert len(found) >= 2
    for words in found:
        assert "--no-deps" in words
        names = {word for word in words if not word.startswith("-")}
        assert "--require-hashes" in words or names <= OURS, words


def test_the_base_image_is_pinned_in_one_place() -> None:
    assert re.findall(r"(?m)^FROM (\S+)", container()) == ["${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]
    assert "--build-arg PYTHON_IMAGE=docker.io/library/python@sha256:" in container()


def test_no_other_action_is_used() -> None:
    """One that is named by a tag could be replaced."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert [step.get("uses") for step in steps] == [None, None]
