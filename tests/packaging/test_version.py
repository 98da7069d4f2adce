"""One version, named everywhere the same: images, chart, hook, changelog."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import podstrat

ROOT = Path(__file__).parent.parent.parent
PAGES = ["Containerfile", "docs/check.md", "docs/device-health.md", "docs/install.md", "docs/tutorials.md"]
MANIFESTS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "manifests").rglob("*.yaml"))]
IMAGE = r"\bpodstrat-(?:webhook|node|audit):([\w.]+)"
KEY = r"^\s*(?:rev: v|tag: |version: |appVersion: )\"?(\d+\.\d+\.\d+)\"?$"
NAMED = re.compile(f"{IMAGE}|{KEY}", re.MULTILINE)


@pytest.mark.parametrize("name", [*PAGES, *MANIFESTS])
def test_the_version_is_this_one(name):
    found = {image or other for image, other in NAMED.findall((ROOT / name).read_text())}
    assert found <= {podstrat.__version__}
    assert found or name in MANIFESTS, f"{name} names no version: take it off the list"


def test_some_manifests_name_it():
    assert sum(bool(NAMED.search((ROOT / name).read_text())) for name in MANIFESTS) >= 8


def test_the_changelog_begins_with_it():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == podstrat.__version__
