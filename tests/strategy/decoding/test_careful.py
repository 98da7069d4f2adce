"""Plans are made when first asked for, by whichever thread asks first."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.decoding.careful import Plans


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_no_thread_meets_half_a_plan() -> None:
    table = types.load("1.37")
    whole = Plans(table, frozenset())["Pod"].zero()
    assert "spec" in whole
    for _ in range(5):
        assert at_once(Plans(table, frozenset())) == [whole] * 8


def at_once(plans: Plans) -> list[object]:
    """What eight threads find that ask at the same time."""
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(plans["Pod"].zero())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
