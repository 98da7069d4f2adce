"""Refuses to build half a package: every room under src/podstrat has to be a folder.

The rooms stand at the top of the repository, and src/podstrat has a symbolic link to each. Zip archives and clones with
core.symlinks=false lose links, and a wheel without the engine would be built without a word. hatchling runs this for wheels,
sdists and editable installations; `make` runs it as a script before it installs anything.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # run by make, before hatchling is installed
    BuildHookInterface = object  # type: ignore[assignment,misc]

PACKAGE = Path("src", "podstrat")
ROOMS = ("apiserver", "cel", "certs", "goyaml", "kubeclient", "manifests", "node", "strategy", "telemetry", "webhook")
REMEDY = """\
podstrat cannot be built from this tree: {missing} not a folder.
In git it is a symbolic link to the folder of that name at the top. Zip archives and clones with core.symlinks=false lose links.
  - take a git clone, the .tar.gz archive or the sdist instead of the .zip archive
  - on Windows: enable Developer Mode, then
        git config core.symlinks true
        git checkout -- src/podstrat"""


def missing_rooms(root: Path) -> list[str]:
    """The rooms under src/podstrat that are not folders."""
    return [room for room in ROOMS if not (root / PACKAGE / room / "__init__.py").is_file()]


def remedy(missing: list[str]) -> str:
    paths = ", ".join((PACKAGE / room).as_posix() for room in missing)
    return REMEDY.format(missing=f"{paths} {'is' if len(missing) == 1 else 'are'}")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls before it builds anything."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if missing := missing_rooms(Path(self.root)):
            raise SystemExit(remedy(missing))


if __name__ == "__main__":
    if missing := missing_rooms(Path(__file__).resolve().parent):
        sys.exit(remedy(missing))
