"""CDI specs of simulated devices: a file for each prepared claim, and one for a device plugin's devices.

A container runtime reads the files of its CDI directories and applies the edits of the devices that a container names. Simulated
devices have no device nodes: their edits are environment variables, so that containers start and can tell what they were given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podstrat.certs import files

VERSION = "0.5.0"
"""The oldest version of the specification that has all we use: names that begin with a digit, as UIDs may."""


class Folder:
    """A CDI directory, usually /var/run/cdi."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, kind: str, devices: Mapping[str, Mapping[str, str]], suffix: str = "") -> None:
        """A spec of `vendor/class` with these devices and their environment variables. Replaced atomically."""
        self.path.mkdir(parents=True, exist_ok=True)
        files.write(self.file(kind, suffix), json.dumps(spec(kind, devices), indent=2).encode() + b"\n", mode=0o644)

    def remove(self, kind: str, suffix: str = "") -> None:
        self.file(kind, suffix).unlink(missing_ok=True)

    def file(self, kind: str, suffix: str = "") -> Path:
        """`vendor-class.json`, or `vendor-class_suffix.json` for a spec that does not last, as the CDI library names them."""
        name = kind.replace("/", "-") + (f"_{suffix}" if suffix else "")
        return self.path / f"{name}.json"


def spec(kind: str, devices: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return {
        "cdiVersion": VERSION,
        "kind": kind,
        "devices": [
            {"name": name, "containerEdits": {"env": [f"{key}={value}" for key, value in environment.items()]}}
            for name, environment in devices.items()
        ],
    }


def variable(prefix: str, device: str) -> str:
    """The name of an environment variable about a device."""
    return f"{prefix}_{re.sub('[^A-Za-z0-9]', '_', device).upper()}"
