"""The order of API versions: general availability before beta before alpha, higher numbers first."""

from __future__ import annotations

import re
from typing import Final

_VERSION: Final = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES: Final = {None: 2, "beta": 1, "alpha": 0}


def priority(version: str) -> tuple[int, int, int, int]:
    """What versions are sorted by, the highest first: v2, v1, v1beta1, v1alpha1, then others by name.

    Upstream: version.CompareKubeAwareVersionStrings
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0, 0)
    return (1, _STAGES[match[2]], int(match[1]), int(match[3] or 0))


def by_priority(versions: list[str]) -> list[str]:
    """Versions in the order in which they are preferred."""
    return sorted(sorted(versions), key=priority, reverse=True)
