"""Links and names of files in the documentation lead somewhere; commands and options that it names exist."""

from __future__ import annotations

import argparse
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

from podstrat import cli
from tests.docs import pages

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
SOURCE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|json|toml|yaml|yml|proto|txt|lock))(?:::\w+)?`")
COMMAND = re.compile(r"\bpodstrat ((?:[a-z][a-z-]*)(?: [^\n`|]*)?)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
PAGES = [page for page in pages.pages() if page != "CHANGELOG.md"]
"""The changelog names what is no more."""


@cache
def anchors(page: str) -> set[str]:
    """The anchors of a page, as hosts make them of headings."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+?)\s*$", pages.prose(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {name if not repeat else f"{name}-{repeat}" for name, last in found.items() for repeat in range(last + 1)}


@pytest.mark.parametrize("page", pages.pages())
def test_links_lead_somewhere(page: str) -> None:
    dead = []
    for target in LINK.findall(pages.prose(page)):
        if re.match(r"(https?|mailto):", target):
            continue
        path, _, anchor = target.partition("#")
        file = str((Path(page).parent / path).as_posix()) if path else page
        resolved = (pages.ROOT / file).resolve().relative_to(pages.ROOT.resolve()).as_posix()
        if resolved not in pages.tracked() or (anchor and anchor not in anchors(resolved)):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    """By their path from the root, from `src/`, from the page's folder or from the engine's."""
    roots = ("", "src/", "strategy/", f"{Path(page).parent.as_posix()}/")
    names = [name for name in SOURCE.findall(pages.prose(page)) if name.split("/")[0] not in {"..", "~", "path"}]
    assert [name for name in names if not any(str(Path(root + name)) in pages.tracked() for root in roots)] == []


@cache
def options(command: str) -> frozenset[str]:
    """The options of a command and of all its sub-commands."""
    parser = argparse.ArgumentParser()
    importlib.import_module(cli.COMMANDS[command].module).arguments(parser)
    return frozenset(_options(parser))


def _options(parser: argparse.ArgumentParser) -> set[str]:
    found = {option for action in parser._actions for option in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(*(_options(inner) for inner in action.choices.values()))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_exist(page: str) -> None:
    """What stands in code: in a block, an indented line, or between backticks."""
    whole = pages.text(page)
    code = re.findall(r"`([^`\n]+)`", pages.prose(page)) + re.findall(r"^ {4,}(.+)$", whole, re.MULTILINE)
    code += [line for block in pages.blocks(page) if block.kind in {"console", "sh", "text"} for line in block.text.splitlines()]
    wrong = []
    for command in (match for line in code for match in COMMAND.findall(line.partition("  #")[0])):
        name = command.split()[0]
        if name not in cli.COMMANDS:
            continue
        known = options(name)
        wrong += [f"podstrat {name} {option}" for option in OPTION.findall(command.partition(" -- ")[0]) if option not in known]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", pages.text("Makefile"), re.MULTILINE))
    named = re.findall(r"(?:`|^ {4})make ([a-z][a-z-]*)", pages.text(page), re.MULTILINE)
    assert [name for name in named if name not in targets] == []


def test_a_dead_link_is_found() -> None:
    assert "the-way-of-a-request" not in anchors("README.md")
    assert LINK.findall("see [a page](gone.md#there), or [this](#here)") == ["gone.md#there", "#here"]
