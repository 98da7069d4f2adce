"""Size limits, and the reason for each."""

from __future__ import annotations

MAX_SIZE = 128 * 1024 * 1024
"""Characters of one document. A list of 10,000 running pods has some 100 million; the values of more would take gigabytes."""

MAX_DEPTH = 500
"""Levels of nesting. go-yaml stops at 10,000; what walks our values is Python, whose calls nest 1,000 deep. Manifests need 20."""

LONGEST_SECOND_READING = 3 * 1024 * 1024
"""Characters; the API server takes no larger body. What libyaml stumbles over is read again in Python, which is far slower."""

# go-yaml's own guard against alias bombs: of up to 400,000 nodes 99 % may come from aliases, of 4 million and more 10 %.
ALIAS_FREE = 100
ALIAS_NODES = 1_000
ALIAS_RANGE = (400_000, 4_000_000)
ALIAS_SHARE = (0.99, 0.10)


def too_much_aliased(aliased: int, decoded: int) -> bool:
    """Whether too many of the nodes decoded so far come from aliases.

    Upstream: allowedAliasRatio
    """
    if aliased <= ALIAS_FREE or decoded <= ALIAS_NODES:
        return False
    low, high = ALIAS_RANGE
    most, least = ALIAS_SHARE
    if decoded <= low:
        share = most
    elif decoded >= high:
        share = least
    else:
        share = most - (most - least) * (decoded - low) / (high - low)
    return aliased / decoded > share
