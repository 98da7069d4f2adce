"""Blocks that no test executes are compared: with the file that they quote, with what reads them, or with the engine."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from podstrat import Engine
from podstrat.check import config
from tests.docs import pages

QUOTES = re.compile(r"`([\w./-]+)`:$")
"""Above a block: the file that it is quoted from."""
ELSEWHERE = {
    "docs/audit.md": "tests/audit/test_docs.py",
    "docs/policies.md": "tests/policy/test_policy_docs.py",
}
"""Pages whose blocks have a test of their own."""
EXECUTED = {"python", "console"}
"""By test_examples.py and by tests/check/test_transcripts.py."""
READ = {"yaml", "toml"}
SHOWN = {
    ("README.md", "sh"): "tests/check/test_readme.py",
    ("docs/device-health.md", "go"): "upstream's helper, in Go",
    ("docs/editors.md", "lua"): "a setting of Neovim",
}
DRAWINGS = ("   pod.yaml ",)
"""How the pictures begin."""
PAGES = [page for page in pages.pages() if page not in ELSEWHERE]
BLOCKS = [pytest.param(page, block, id=f"{page}-{i}") for page in PAGES for i, block in enumerate(pages.blocks(page))]


@pytest.mark.parametrize("page, block", BLOCKS)
def test_every_block_is_executed_read_or_compared(page: str, block: pages.Block) -> None:
    if block.kind == "text":
        assert block.text.startswith(DRAWINGS) or "is invalid: " in block.text or _is_quoted(block), f"{page}: {block.text}"
    else:
        assert block.kind in EXECUTED | READ or (page, block.kind) in SHOWN, f"{page}: a block of kind {block.kind!r}"


def _is_quoted(block: pages.Block) -> bool:
    """Line by line as in the file, whatever the indentation of the whole."""
    source = QUOTES.search(block.above)
    return source is not None and _flush(block.text) in _flush((pages.ROOT / source[1]).read_text())


def _flush(text: str) -> str:
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page, block", [param for param in BLOCKS if param.values[1].kind in READ])
def test_data_can_be_read(page: str, block: pages.Block) -> None:
    if block.kind == "toml":
        assert tomllib.loads(block.text)
    else:
        assert all(yaml.safe_load_all(block.text))


def test_the_example_of_a_configuration_is_taken(tmp_path):
    [block] = [block for block in pages.blocks("docs/check.md") if block.text.startswith("kubernetesVersion")]
    file = tmp_path / ".podstrat.yaml"
    file.write_text(block.text)
    assert len(config.read(str(file))) == len(yaml.safe_load(block.text))


def test_the_readme_quotes_the_server():
    """What kubectl prints of the answer to the manifest that is shown there."""
    console, words = (block.text for block in list(pages.blocks("README.md"))[:2])
    manifest = console.partition("\n\n")[0].partition("\n")[2]
    answer = Engine("1.37").create(yaml.safe_load(manifest)).status()
    assert words == f"The {answer['message']}\n"


@pytest.mark.parametrize("page, test", ELSEWHERE.items())
def test_the_other_tests_are_there(page: str, test: str) -> None:
    assert page.rpartition("/")[2] in (pages.ROOT / test).read_text()
