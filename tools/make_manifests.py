"""Makes manifests/rendered/*.yaml: what `kubectl kustomize` makes of each overlay, for the command to install.

    python tools/make_manifests.py

A test compares the files with what kubectl makes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

MANIFESTS = Path(__file__).parent.parent / "manifests"
RENDERED = MANIFESTS / "rendered"
SOURCES = {
    "development": "overlays/development",
    "production": "overlays/production",
    "cert-manager": "overlays/cert-manager",
    "complete": "overlays/complete",
    "monitoring": "monitoring",
    "installer": "installer",
    "audit": "audit",
}


def main() -> None:
    for name in SOURCES:
        (RENDERED / f"{name}.yaml").write_text(text(name))


def text(name: str) -> str:
    """The file of an overlay."""
    source = SOURCES[name]
    return f"# Made from manifests/{source} by tools/make_manifests.py: change it there.\n{kustomized(MANIFESTS / source)}"


def kustomized(folder: Path) -> str:
    """What kubectl makes of a folder."""
    return subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
