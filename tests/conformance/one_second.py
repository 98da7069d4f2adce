"""Cases whose answers depend on the second in which they come: managedFields are in the order of their times, in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

TRIES = 5
"""How often a case is sent to meet a second within which it is answered whole, as the recorded ones were."""
T = TypeVar("T")


def in_one_second(case: dict[str, Any], judge: Callable[[], T], agrees: Callable[[T], bool]) -> T:
    """What a case about managedFields comes to when it is answered in one second. What differs within a second counts at once."""
    for _ in range(TRIES):
        began = int(time.time())
        found = judge()
        if agrees(found) or not case.get("managed") or int(time.time()) == began:
            break
    return found
