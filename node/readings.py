"""Making sense of what a driver says: names that can exist, timeouts that can be kept, messages that the API server takes."""

from __future__ import annotations

import re
from functools import lru_cache

from node.reports import Device, Reading
from strategy import formats
from strategy.rules.health import MESSAGE_LIMIT

DEFAULT_TIMEOUT = 30.0
SHORTEST_TIMEOUT = 1.0
LONGEST_TIMEOUT = 24 * 3600.0
ELLIPSIS = "..."
LONGEST_ID = 1024
"""Of a device plugin's device, in characters. Nothing upstream limits it."""

# Everything that would break a line or a terminal, and what JSON can only escape.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def is_plausible(device: Device) -> bool:
    """Whether a device of this name can be in a claim or a container at all.

    A pool is one or more DNS subdomains with slashes between, a DRA device a DNS label; a device plugin's ID is any text.
    """
    if not device.pool:
        return "/" in device.driver and 0 < len(device.name) <= LONGEST_ID and _UNPRINTABLE.search(device.name) is None
    return len(device.name) <= 63 and not formats.dns_label(device.name) and _is_pool(device.pool)


@lru_cache(maxsize=256)
def _is_pool(pool: str) -> bool:
    return len(pool) <= 253 and not any(formats.dns_subdomain(part) for part in pool.split("/"))


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
