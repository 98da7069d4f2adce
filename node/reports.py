"""What drivers say, as plain tuples: the words between the protocols and the state.

A driver is a DRA driver, named like a domain, or a device plugin, named like the resource it serves (`nvidia.com/gpu`). Only the
latter has a slash in its name, so that one namespace holds both. A device plugin's devices are in the pool "".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HEALTHY = "Healthy"
UNHEALTHY = "Unhealthy"
UNKNOWN = "Unknown"


class Device(NamedTuple):
    """One device of this node."""

    driver: str
    pool: str
    name: str

    @property
    def id(self) -> str:
        """The device as resourceID spells it: `driver/pool/device`, or the bare ID of a device plugin's."""
        return f"{self.driver}/{self.pool}/{self.name}" if self.pool else self.name


class Verdict(NamedTuple):
    """How a device is, in the words of the pod's status."""

    health: str
    message: str | None = None


NOT_KNOWN = Verdict(UNKNOWN)


class Reading(NamedTuple):
    """What a driver says about one device, before anybody has looked whether it makes sense."""

    pool: str
    name: str
    health: str
    message: str = ""
    timeout: int | None = None
    """How many seconds it is good for, as the driver wrote it; None: for as long as the stream is open."""


class Session(NamedTuple):
    """One stream of one endpoint. Numbers grow, over all drivers, so that a stream is never taken for an earlier one."""

    driver: str
    endpoint: str
    number: int


class Registered(NamedTuple):
    """An endpoint of a driver is there. The newest one of a driver is the one to believe."""

    driver: str
    endpoint: str
    reports: bool
    """Whether it can be expected to say something about health."""


class Report(NamedTuple):
    """A message of a stream."""

    session: Session
    readings: Sequence[Reading]
    complete: bool
    """A device that is missing has gone; otherwise it is merely not mentioned."""


class Closed(NamedTuple):
    """A stream has ended, for whatever reason."""

    session: Session
    reason: str


class Silent(NamedTuple):
    """An endpoint turns out not to have the health service that it was asked for."""

    driver: str
    endpoint: str


class Unregistered(NamedTuple):
    """An endpoint has gone."""

    driver: str
    endpoint: str


class Note(NamedTuple):
    """Something for the log. It is sent once, however often the same thing happens again."""

    subject: str
    text: str


Event = Registered | Report | Closed | Silent | Unregistered | Note
