"""The files of a page, read once: what is not among them is not served."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX = "index.html"


class Asset(NamedTuple):
    content_type: str
    body: bytes


def of(*packages: str) -> dict[str, Asset]:
    """The static files of these packages by their paths; the page itself is ``/``."""
    assets = {}
    for package in packages:
        for file in resources.files(package).joinpath("static").iterdir():
            kind = TYPES.get(file.name.rpartition(".")[2])
            if kind is not None:
                assets["/" if file.name == INDEX else f"/{file.name}"] = Asset(kind, file.read_bytes())
    return assets
