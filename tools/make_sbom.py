"""Writes software bills of materials (CycloneDX 1.6, JSON), one for each way to install podstrat, from requirements.lock.

    python -m tools.make_sbom [--output dist]

Names, versions and hashes are those of the lock; licences are those that the installed packages declare. The same lock gives the
same bytes.
"""

from __future__ import annotations

import argparse
import json
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

from podstrat import __version__
from tools import select_lock
from tools.select_lock import Locked

ROOT = Path(__file__).resolve().parent.parent
DOORS = {"check": (), "serve": ("serve",), "webhook": ("webhook",), "node": ("node",)}


def bill(extras: tuple[str, ...]) -> dict[str, Any]:
    """The bill of an installation with these extras."""
    packages = select_lock.selected(extras)
    name = f"podstrat[{','.join(extras)}]" if extras else "podstrat"
    purl = f"pkg:pypi/podstrat@{__version__}"
    seed = "\n".join([name, __version__, *(f"{each.name}=={each.version}" for each in packages)])
    chosen = {select_lock.normalized(each.name) for each in packages}
    below = {select_lock.normalized(each.name): sorted(_needs(each, packages)) for each in packages}
    direct = [each for each in select_lock.selected(extras) if not each.needed_by & chosen or "podstrat" in each.needed_by]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": name,
                "version": __version__,
                "purl": purl,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [_component(each) for each in packages],
        "dependencies": [
            {"ref": purl, "dependsOn": sorted(_purl(each) for each in direct)},
            *({"ref": _purl(each), "dependsOn": below[select_lock.normalized(each.name)]} for each in packages),
        ],
    }


def _purl(package: Locked) -> str:
    return f"pkg:pypi/{select_lock.normalized(package.name)}@{package.version}"


def _needs(package: Locked, packages: list[Locked]) -> set[str]:
    name = select_lock.normalized(package.name)
    return {_purl(each) for each in packages if name in each.needed_by}


def _component(package: Locked) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package.name,
        "version": package.version,
        "purl": _purl(package),
        # Of the wheels and the source distribution, whichever is installed.
        "hashes": [{"alg": "SHA-256", "content": each} for each in package.hashes],
    }
    if licence := _licence(package):
        made["licenses"] = [licence]
    return made


def _licence(package: Locked) -> dict[str, Any] | None:
    try:
        about = metadata.metadata(package.name)
    except metadata.PackageNotFoundError:
        return None  # for another platform
    if expression := about.get("License-Expression"):
        return {"expression": expression}
    text = (about.get("License") or "").strip().partition("\n")[0]
    return {"license": {"name": text}} if text and len(text) < 100 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", metavar="DIR", help="default: dist")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for door, extras in DOORS.items():
        path = args.output / f"podstrat-{door}.cdx.json"
        path.write_text(json.dumps(bill(extras), indent=2) + "\n")
        print(path)


if __name__ == "__main__":
    main()
