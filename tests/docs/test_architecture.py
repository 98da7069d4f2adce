"""docs/architecture.md follows the tree: every room has its row, and every module that it names is there."""

from __future__ import annotations

import re

import pytest

from tests.docs import pages

PAGE = pages.text("docs/architecture.md")
ROOMS = sorted(path.name for path in (pages.ROOT / "src/podstrat").iterdir() if path.is_symlink())
DOORS = {
    "check": ("src/podstrat/check", "inputs selection kubectl evaluate findings outputs pipeline parallel"),
    "serve": (
        "apiserver",
        "app resources paths negotiation auth api reads writes storage listing representation strategies definitions",
    ),
    "webhook": ("webhook", "connections handler limiter chain concerns verdict supervisor version activation registration"),
    "node": ("node", "drivers router state planner status server/writer owner/prepare state/inventory"),
}
"""The folder of each door, and the modules on a request's way through it."""


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_its_row(room: str) -> None:
    assert f"\n| `{room}/` |" in PAGE or room == "manifests"


@pytest.mark.parametrize("door", DOORS)
def test_the_way_names_modules_that_exist(door: str) -> None:
    folder, modules = DOORS[door]
    start = PAGE.index(f"**Through `podstrat {door}`**")
    way = PAGE[start : PAGE.index("\n**", start) if "\n**" in PAGE[start:] else PAGE.index("\n## ", start)]
    for module in modules.split():
        assert re.search(rf"\b{module}\b", way), f"{door}: {module} is not named"
        assert {f"{folder}/{module}", f"{folder}/{module}.py"} & pages.tracked(), f"{folder}/{module}"
