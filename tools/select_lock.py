"""Selects from requirements.lock what one door needs, with its hashes: for pip install --require-hashes.

    python tools/select_lock.py --extra webhook > webhook.lock
    python tools/select_lock.py --package hatchling > build.lock

Without options: what podstrat needs without any extra. The lock says of each package which others need it ("via"), so nothing is
resolved again, and nothing but Python is needed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ENTRY = re.compile(r"([A-Za-z0-9._-]+)==([^ ;\\]+)")
_VIA = re.compile(r" {4}#(?: via)? +([A-Za-z0-9._-]+)(?: \(.*\))?$")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass
class Locked:
    """One package of the lock."""

    name: str
    version: str
    lines: list[str]
    """Its lines, comments left out."""
    needed_by: set[str] = field(default_factory=set)

    @property
    def hashes(self) -> list[str]:
        return re.findall(r"--hash=sha256:([0-9a-f]{64})", "\n".join(self.lines))


def parse(text: str) -> dict[str, Locked]:
    """The packages of a lock by their normalized names."""
    found: dict[str, Locked] = {}
    last: Locked | None = None
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            last = found[normalized(entry[1])] = Locked(entry[1], entry[2], [line])
        elif last is not None and (via := _VIA.match(line)):
            last.needed_by.add(normalized(via[1]))
        elif last is not None and line.strip() and not line.lstrip().startswith("#"):
            last.lines.append(line)
    return found


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def roots(extras: Iterable[str], project: dict[str, object]) -> list[str]:
    """The packages that the project itself names, for these extras."""
    table: dict[str, list[str]] = project.get("optional-dependencies", {})  # type: ignore[assignment]
    wanted: list[str] = list(project.get("dependencies", []))  # type: ignore[call-overload]
    for extra in extras:
        for requirement in table[extra]:
            inner = re.fullmatch(rf"{project['name']}\[(.*)\]", requirement)
            wanted += [each for name in inner[1].split(",") for each in table[name]] if inner else [requirement]
    return [normalized(match[0]) for requirement in wanted if (match := _NAME.match(requirement))]


def select(locked: dict[str, Locked], names: Iterable[str]) -> list[Locked]:
    """These packages and all that they need, in the order of the lock. LookupError for one that is not locked."""
    needs: dict[str, set[str]] = {}
    for name, package in locked.items():
        for above in package.needed_by:
            needs.setdefault(above, set()).add(name)
    chosen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in locked:
            raise LookupError(f"{name} is not in the lock: run make lock")
        if name not in chosen:
            chosen.add(name)
            todo += needs.get(name, ())
    return [package for name, package in locked.items() if name in chosen]


def selected(extras: Sequence[str] = (), packages: Sequence[str] = (), root: Path = ROOT) -> list[Locked]:
    """What these extras, or only these packages, need."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    names = [normalized(each) for each in packages] if packages else roots(extras, project)
    return select(parse((root / "requirements.lock").read_text()), names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="an extra of pyproject.toml")
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="only this package and what it needs")
    args = parser.parse_args()
    try:
        chosen = selected(args.extra, args.package)
    except LookupError as error:
        sys.exit(f"select_lock: {error}")
    for package in chosen:
        # The last line of a package has no backslash, wherever its comments stood.
        print("\n".join(package.lines).rstrip(" \\"))


if __name__ == "__main__":
    main()
