"""The table of layers has all of them for every endpoint. Nothing is asserted about their times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("phase", ["mutate", "preflight"])
def test_table(phase):
    # In a process of its own: it decides where metrics are counted.
    command = [sys.executable, "-m", "bench.webhook_layers", "--reviews", "2", "--rounds", "1", "--phase", phase]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.strip("|").split("|") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [name.strip() for name, _ in rows] == [
        "layer",
        "TLS: decrypt the request",
        "TLS: encrypt the answer",
        "HTTP: find the end of the request",
        "HTTP: parse it",
        "JSON: read the review (orjson)",
        "JSON: check its envelope (pydantic)",
        "JSON: write the answer (pydantic)",
        "dispatch: WSGI, head of the answer",
        "dispatch: limits, counters",
        "the concerns",
        "more than that, one after the other",
        "all of them",
        "(HTTP: gunicorn's parser)",
        "(dispatch: Flask's)",
    ]
