"""Sanitizing of driver input: valid names, bounded timeouts, messages that the API server accepts."""

from __future__ import annotations

import re
from functools import lru_cache

from podstrat.node.model import Device, Reading
from podstrat.strategy.formats import validation
from podstrat.strategy.rules.health import MESSAGE_LIMIT

DEFAULT_TIMEOUT = 30.0
"""Seconds: the kubelet's default."""
SHORTEST_TIMEOUT = 1.0  # the unit of the protocol's field
LONGEST_TIMEOUT = 24 * 3600.0
"""A day: longer ones would keep the last word of a dead driver for good; the kubelet overflows at 2^63 ns."""
ELLIPSIS = "..."
LONGEST_ID = 1024
"""Characters of a device-plugin ID. Upstream has no limit; 1024 is the limit of the message beside it."""

# Everything that would break a line or a terminal, and what JSON can only escape.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def is_plausible(device: Device) -> bool:
    """Whether a device of this name can be in a claim or a container at all.

    A pool is one or more DNS subdomains with slashes between, a DRA device a DNS label; a device plugin's ID is any text.
    """
    if not device.pool:
        return "/" in device.driver and 0 < len(device.name) <= LONGEST_ID and _UNPRINTABLE.search(device.name) is None
    return len(device.name) <= 63 and not validation.dns_label(device.name) and _is_pool(device.pool)


@lru_cache(maxsize=256)
def _is_pool(pool: str) -> bool:
    return len(pool) <= 253 and not any(validation.dns_subdomain(part) for part in pool.split("/"))


def lifetime(reading: Reading) -> float:
    """For how many seconds a reading is good.

    Nothing and less is the default, as in the kubelet; what is absurd is brought within a second and a day.
    """
    timeout = reading.timeout
    if timeout is None:
        return float("inf")
    if timeout <= 0:
        return DEFAULT_TIMEOUT
    return min(max(float(timeout), SHORTEST_TIMEOUT), LONGEST_TIMEOUT)


def message(text: str) -> str | None:
    """A driver's message as the API server takes it: one line, not empty, at most 1024 bytes of whole characters."""
    if not text:
        return None
    if not (text.isascii() and text.isprintable()):
        text = _UNPRINTABLE.sub(" ", text)
    return cut(text.strip()) or None


def cut(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """As many whole characters as fit, with an ellipsis if they are not all. The limit counts bytes, as the server's does."""
    if len(text) * 4 <= limit:
        return text
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return encoded[: limit - len(ELLIPSIS)].decode(errors="ignore") + ELLIPSIS
