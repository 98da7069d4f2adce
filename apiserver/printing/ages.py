"""Human-readable ages, in the format of kube-apiserver."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from podstrat.strategy.formats import times

UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY
_LONGEST: Final = (1 << 63) // 1_000_000_000  # the server counts nanoseconds in 64 bits: 292 years

# Up to how long, the unit that is shown, and the smaller one that is shown with it unless it is zero.
_STEPS: Final = (
    (2 * _MINUTE, (1, "s"), None),
    (10 * _MINUTE, (_MINUTE, "m"), (1, "s")),
    (3 * _HOUR, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (2 * _DAY, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
    (_LONGEST + 1, (_YEAR, "y"), None),
)


def since(time: str | None, now: datetime) -> str:
    """How long ago a time was.

    Upstream: translateTimestampSince
    """
    if not time:
        return UNKNOWN
    try:
        return short(now.timestamp() - times.seconds(time) - _fraction(time))
    except times.TimeError:  # an object that was stored as it was may hold anything
        return UNKNOWN


def short(seconds: float) -> str:
    """A length of time in one unit, or in two where the first number is small. Clocks may differ by a second.

    Upstream: duration.HumanDuration
    """
    whole = int(max(-_LONGEST, min(seconds, _LONGEST)))
    if whole < -1:
        return INVALID
    whole = max(whole, 0)
    (unit, letter), finer = next((coarse, fine) for limit, coarse, fine in _STEPS if whole < limit)
    text = f"{whole // unit}{letter}"
    if finer and (rest := whole % unit // finer[0]):
        text += f"{rest}{finer[1]}"
    return text


def _fraction(time: str) -> float:
    """The part of a second in a time that says one."""
    digits = time.partition(".")[2].rstrip("Z")
    return float(f"0.{digits}") if digits.isdecimal() else 0.0
