"""The documentation says what the commands say: transcripts, and the console blocks of every page."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
_SPEC = importlib.util.spec_from_file_location("make_transcripts", ROOT / "tools/make_transcripts.py")
assert _SPEC is not None
assert _SPEC.loader is not None
make_transcripts = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_transcripts)

TRANSCRIPTS = sorted(make_transcripts.TRANSCRIPTS.glob("*.txt"))
CONSOLE = make_transcripts.CONSOLE
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if CONSOLE.search(page.read_text())]


@pytest.fixture
def files(tmp_path):
    """The example files, in a directory of their own."""
    return shutil.copytree(make_transcripts.FILES, tmp_path / "files")


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name)
def test_transcripts_are_true(path, files):
    """`make transcripts` makes them anew."""
    text = path.read_text()
    assert list(make_transcripts.commands(text))
    assert make_transcripts.made(text, files) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks_are_true(page, files):
    for block in CONSOLE.findall(page.read_text()):
        assert make_transcripts.made(block, files) == block


def test_the_page_about_check_shows_commands():
    assert ROOT / "docs/check.md" in PAGES


@pytest.mark.parametrize("name", ["check", "diff", "explain", "matrix", "status", "gates"])
def test_each_command_has_a_transcript(name):
    assert any(f"$ podstrat {name} " in path.read_text() for path in TRANSCRIPTS)
