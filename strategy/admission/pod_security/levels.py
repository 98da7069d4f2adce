"""Levels and versions of the Pod Security Standards: ``baseline``, ``restricted:v1.30``, ``restricted:latest``."""

from __future__ import annotations

import re
from typing import NamedTuple

PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
LEVELS = (PRIVILEGED, BASELINE, RESTRICTED)
"""From the laxest to the strictest."""

LATEST = -1
"""The minor version that stands for the newest one that the server knows."""

BAD_LEVEL = "must be one of privileged, baseline, restricted"
BAD_VERSION = 'must be "latest" or "v1.x"'

_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)", re.ASCII)
_DIGITS = 19  # of the greatest int64


class LevelVersion(NamedTuple):
    """A level, and the minor version of the standards that it is meant in."""

    level: str = PRIVILEGED
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{version_text(self.minor)}"


def version_text(minor: int) -> str:
    return "latest" if minor == LATEST else f"v1.{minor}"


def parse_version(text: str) -> int | None:
    """The minor version, LATEST, or None if the text is no version.

    Upstream: ParseVersion
    """
    if text == "latest":
        return LATEST
    match = _VERSION.fullmatch(text)
    if match is None or len(match[1]) > _DIGITS or int(match[1]) >= 2**63:
        return None
    return int(match[1])


def parse(text: str) -> LevelVersion:
    """``LEVEL`` or ``LEVEL:VERSION``; a ValueError says what is wrong with it."""
    level, _, version = text.partition(":")
    if level not in LEVELS:
        raise ValueError(f"{level!r} is not a Pod Security level: {BAD_LEVEL}")
    minor = parse_version(version or "latest")
    if minor is None:
        raise ValueError(f"{version!r} is not a version of the Pod Security Standards: {BAD_VERSION}")
    return LevelVersion(level, minor)


def is_stricter(level: str, other: str) -> bool:
    """Upstream: CompareLevels"""
    return LEVELS.index(level) > LEVELS.index(other)
