"""The types that the layers of node/ share: devices, health, driver events, allocations, planned writes.

A driver is a DRA driver, named like a domain, or a device plugin, named like the resource it serves (`nvidia.com/gpu`). Only the
latter has a slash in its name, so that one namespace holds both. A device plugin's devices are in the pool "".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Object = Mapping[str, Any]
"""A Kubernetes object, or a part of one."""
Operation = dict[str, Any]
"""One operation of a JSON patch."""

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


class DeviceHealth(NamedTuple):
    """Health and message of a device, as the pod's status spells them."""

    health: str
    message: str | None = None


NOT_KNOWN = DeviceHealth(UNKNOWN)


class Reading(NamedTuple):
    """What a driver reports about one device, not yet validated."""

    pool: str
    name: str
    health: str
    message: str = ""
    timeout: int | None = None
    """health_check_timeout_seconds as the driver wrote it; None: valid for as long as the stream is open."""


class Session(NamedTuple):
    """One stream of one endpoint. Numbers grow, over all drivers, so that a stream is never taken for an earlier one."""

    driver: str
    endpoint: str
    number: int


class Registered(NamedTuple):
    """A driver endpoint has registered. The newest endpoint of a driver is authoritative."""

    driver: str
    endpoint: str
    reports: bool
    """Whether it has a health service."""


class Report(NamedTuple):
    """A message of a stream."""

    session: Session
    readings: Sequence[Reading]
    complete: bool
    """The report lists every device: one that is missing is gone."""


class Closed(NamedTuple):
    """A health stream has ended."""

    session: Session
    reason: str


class Silent(NamedTuple):
    """An endpoint does not implement the health service it was asked for."""

    driver: str
    endpoint: str


class Unregistered(NamedTuple):
    """An endpoint has deregistered."""

    driver: str
    endpoint: str


class Note(NamedTuple):
    """A log line; repeats are suppressed."""

    subject: str
    text: str


Event = Registered | Report | Closed | Silent | Unregistered | Note


class ClaimDevice(NamedTuple):
    """A device of a claim, as podresources lists it. The protocol does not say for which request."""

    namespace: str
    claim: str
    driver: str
    pool: str
    name: str
    cdi: str = ""
    """Its own first CDI ID; empty: the driver returned none."""


class PodDevices(NamedTuple):
    """The devices of one pod, as podresources lists them. The protocol does not say the pod's UID."""

    namespace: str
    name: str
    plugins: dict[str, dict[str, tuple[str, ...]]]
    """By container and resource: the IDs."""
    claims: dict[str, tuple[ClaimDevice, ...]]
    """By container."""


class PodEvent(NamedTuple):
    """An Event object to be recorded about a pod."""

    uid: str
    type: str
    """Normal or Warning."""
    reason: str
    message: str


class Plan(NamedTuple):
    """The status patch that a pod needs."""

    pod: Object
    """As it was when the patch was computed; its container statuses are as the patch makes them."""
    patch: list[Operation]
    """Empty: the status is up to date."""


TERMINAL = ("Succeeded", "Failed")
"""Phases that a pod never leaves."""
