"""The part of the lock that one door needs, and the bills of materials that are made from it."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import make_sbom, select_lock
from tools.select_lock import Locked, normalized

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DEVELOPMENT = {"pytest", "mypy", "ruff", "hypothesis", "hatchling", "uv", "kopf"}


def installed_closure(names: list[str]) -> set[str]:
    """What the metadata of the installed packages asks for on this machine."""
    found: set[str] = set()
    todo = [Requirement(name) for name in names]
    while todo:
        requirement = todo.pop()
        name = normalized(requirement.name)
        if name in found and not requirement.extras:
            continue
        found.add(name)
        for text in metadata.requires(name) or ():
            each = Requirement(text)
            extras = requirement.extras or {""}
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(each)
    return found


@pytest.mark.parametrize("extra", ["", "serve", "webhook", "node"])
def test_all_that_a_door_needs_and_no_tool(extra: str) -> None:
    chosen = {normalized(each.name) for each in select_lock.selected([extra] if extra else [])}
    wanted = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] if extra else ())]
    assert installed_closure(wanted) <= chosen
    assert chosen & DEVELOPMENT == set()


def test_extras_of_extras() -> None:
    every = {each.name for each in select_lock.selected(["all"])}
    parts = {each.name for name in PROJECT["optional-dependencies"] if name != "all" for each in select_lock.selected([name])}
    assert every == parts


def test_every_package_has_hashes_and_ends_its_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["select_lock", "--extra", "node"])
    select_lock.main()
    blocks = re.split(r"\n(?=[a-z])", capsys.readouterr().out.strip())
    assert len(blocks) == len(select_lock.selected(["node"]))
    for block in blocks:
        *continued, last = block.split("\n")
        assert all(line.endswith(" \\") for line in continued)
        assert re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}", last)


LOCK = """\
a==1 \\
    --hash=sha256:00
    # via podstrat (pyproject.toml)
b-c==2 ; sys_platform == 'win32' \\
    --hash=sha256:00
    # via
    #   a
    #   d
d==3 \\
    --hash=sha256:00
    # via podstrat (pyproject.toml:dev)
"""


@pytest.mark.parametrize("names, found", [(["a"], ["a", "b-c"]), (["d"], ["b-c", "d"]), ([], [])])
def test_what_is_needed_is_followed(names: list[str], found: list[str]) -> None:
    assert [each.name for each in select_lock.select(select_lock.parse(LOCK), names)] == found


def test_what_is_not_locked() -> None:
    with pytest.raises(LookupError, match="x is not in the lock: run make lock"):
        select_lock.select({"a": Locked("a", "1", [])}, ["x"])


@pytest.mark.parametrize("door", make_sbom.DOORS)
def test_bills_of_materials(door: str) -> None:
    extras = make_sbom.DOORS[door]
    made = make_sbom.bill(extras)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert made == json.loads(json.dumps(make_sbom.bill(extras)))
    parts = {each["bom-ref"]: each for each in made["components"]}
    assert len(parts) == len(select_lock.selected(extras))
    assert all(each["purl"].startswith("pkg:pypi/") and each["hashes"] for each in parts.values())
    refs = {*parts, made["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in made["dependencies"]} == refs
    assert {below for each in made["dependencies"] for below in each["dependsOn"]} <= refs
    reached, todo = set(), [made["metadata"]["component"]["bom-ref"]]
    below = {each["ref"]: each["dependsOn"] for each in made["dependencies"]}
    while todo:
        ref = todo.pop()
        if ref not in reached:
            reached.add(ref)
            todo += below[ref]
    assert reached == refs
