from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def folder():
    """A temporary folder with a short name: there are sockets in it."""
    made = Path(tempfile.mkdtemp(prefix="up-"))
    yield made
    shutil.rmtree(made)
