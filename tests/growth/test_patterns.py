"""No regular expression of the project takes more than linear time for any input: not one can be used to stop a process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.growth import adversary
from tests.growth.patterns import Found

ROOT = Path(__file__).parents[2]
SMALL, LARGE = 750, 6_000
MARGIN = 24
"""Eight times as long a text may take so many times as long; what is quadratic takes 64 times."""
FLOOR = 0.003
TRIES = 10
"""The first that is quick enough ends them; on a busy machine several in a row have been slow that were linear."""


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    """In a process of its own, where no module has been imported yet."""
    command = [sys.executable, "-m", "tests.growth.patterns"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


def test_every_pattern_can_be_seen(listed: dict[str, Any]) -> None:
    assert listed["hidden"] == []
    assert len(listed["found"]) > 100


def seconds(pattern: re.Pattern[Any], method: str, text: Any) -> float:
    before = time.process_time()
    if method == "sub":
        pattern.sub(text[:0], text)
    elif method == "finditer":
        sum(1 for _ in pattern.finditer(text))
    else:
        getattr(pattern, method)(text)
    return time.process_time() - before


TRUSTED = {
    ("goyaml/everyday.py", "findall"): "the text has matched SEQUENCE or MAPPING",
    ("goyaml/everyday_places.py", "finditer"): "the text has matched SEQUENCE or MAPPING",
    ("cel/declarations.py", "fullmatch"): "declarations of our own",
    ("strategy/field.py", "findall"): "the text ends with a bracket that closes",
    ("strategy/formats/cron.py", "findall"): "the text has matched _DURATION",
}
"""Patterns that see only texts which have been looked at before, and how."""


def slow(found: Found) -> str:
    """An input that takes too long, in words; empty if none does."""
    pattern = re.compile(found.pattern.encode("latin-1") if found.binary else found.pattern, found.flags)
    pairs = zip(*(adversary.texts(found.pattern, found.flags, size) for size in (SMALL, LARGE)), strict=False)
    for short, long in pairs:
        if found.binary:
            short, long = short.encode("latin-1"), long.encode("latin-1")
        for method in found.methods:
            if (found.path, method) in TRUSTED:
                continue
            quick = slow = 1e9
            for _ in range(TRIES):
                slow = min(slow, seconds(pattern, method, long))
                if slow <= FLOOR:
                    break
                quick = min(quick, seconds(pattern, method, short))
                if slow <= FLOOR + MARGIN * quick:
                    break
            else:
                shown = f"{slow * 1000:.0f} ms for {len(long)} characters: {long[:60]!r}...{long[-10:]!r}"
                return f"{found.path}:{found.line}: {found.pattern}: {method}: {shown}"
    return ""


def test_no_pattern_takes_more_than_linear_time(listed: dict[str, Any]) -> None:
    assert [text for each in listed["found"] if (text := slow(Found(*each)))] == []


@pytest.mark.parametrize(
    "pattern, method, sizes",
    [
        pytest.param(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,; ]+\Z", "search", (750, 12_000), id="many-beginnings"),
        pytest.param(r"(?:a|aa)+b", "match", (2, 16), id="two-ways"),
        pytest.param(r"[a-z]*[a-z0-9]*[a-z.]*!!", "fullmatch", (30, 240), id="neighbours"),
    ],
)
def test_a_bad_pattern_is_noticed(pattern: str, method: str, sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SMALL", sizes[0])
    monkeypatch.setitem(globals(), "LARGE", sizes[1])
    monkeypatch.setitem(globals(), "TRIES", 1)
    assert slow(Found("here.py", 1, pattern, 0, False, (method,)))
