"""Finds imports of a room under its bare name (`strategy` instead of `podstrat.strategy`), in this process and in its children.

The rooms stand at the top of the repository, so a bare import works by accident wherever the root is on the path, and breaks for
users of the wheel. A finder on sys.meta_path records each such import in a file; children inherit it by PYTHONPATH.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = frozenset(path.parent.name for path in ROOT.glob("*/__init__.py")) - {"tests"}
RECORD = "PODSTRAT_BARE_NAMES"
"""The environment variable with the file that bare imports are recorded in."""


class Finder(MetaPathFinder):
    """Finds nothing, and records who looks for a room."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in ROOMS:
            with open(os.environ[RECORD], "a", encoding="utf-8") as record:
                record.write(f"{fullname} in {' '.join(sys.orig_argv)}\n")


def watch(record: Path, environ: MutableMapping[str, str] = os.environ) -> None:
    """Records the bare imports of this process, and of every child that inherits the environment."""
    environ[RECORD] = str(record)
    path = [str(Path(__file__).parent / "site"), *filter(None, [environ.get("PYTHONPATH")])]
    environ["PYTHONPATH"] = os.pathsep.join(path)
    install()


def install() -> None:
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
