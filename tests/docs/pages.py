"""The pages of the project, and what is on them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block, with the line above it."""

    kind: str
    text: str
    above: str


@cache
def tracked() -> frozenset[str]:
    """Every file of the repository, and every folder."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git ls-files is needed to list the pages", allow_module_level=True)
    files = done.stdout.splitlines()
    return frozenset(files) | {str(parent) for name in files for parent in Path(name).parents}


def pages() -> list[str]:
    return sorted(name for name in tracked() if name.endswith(".md"))


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", text(page))


def blocks(page: str) -> Iterator[Block]:
    whole = text(page)
    for match in FENCE.finditer(whole):
        above = whole[: match.start()].rstrip().rpartition("\n")[2]
        yield Block(match[1], match[2], above)
