"""Endpoint succession: which of a driver's endpoints is authoritative (rolling updates, restarts).

Of several endpoints of a driver, the newest one that has reported is authoritative. What the others report is kept in tables of
their own, so that the switch from one to the next is a single step.

    state of a driver        enters when                            leaves when
    no holder                no endpoint has reported               an endpoint reports
    holder, live             its stream is open and has reported    the stream ends; a newer endpoint reports
    holder, stream lost      the stream ended                       it or another one reports; `grace` is over (`handover`, if
                                                                    another endpoint has registered)
    holder from checkpoint   restored at start (serial 0)           a driver reports; every restored value has expired
"""

from __future__ import annotations

from dataclasses import dataclass, field

from podstrat.node.model import NOT_KNOWN, Device, DeviceHealth
from podstrat.node.runtime.deadlines import NEVER, Deadlines


@dataclass(slots=True, eq=False)
class Entry:
    """One device, as one endpoint reports it."""

    device: Device
    endpoint: Endpoint
    verdict: DeviceHealth
    raw: str
    """The message as received: an unchanged one is not sanitized again."""
    lifetime: float
    deadline: float
    queued: float = NEVER
    remembered: bool = False
    """Restored from the checkpoint, not confirmed since."""


@dataclass(slots=True, eq=False)
class Endpoint:
    path: str
    serial: int
    """Larger is newer. 0: restored from the checkpoint."""
    reports: bool
    session: int = 0
    live: bool = False
    """A stream is open and has reported."""
    table: dict[Device, Entry] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Driver:
    name: str
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    """Registered endpoints by socket, the newest last."""
    holder: Endpoint | None = None
    """The authoritative endpoint. It may have deregistered, and stay authoritative for its grace period."""
    lost: float = 0.0
    """When the holder's stream ended."""
    deadline: float = NEVER
    """Until when a holder without a stream is authoritative."""
    queued: float = NEVER
    noted: dict[str, float] = field(default_factory=dict)


class Succession:
    def __init__(self, drivers: dict[str, Driver], deadlines: Deadlines, grace: float, handover: float) -> None:
        self.drivers = drivers
        self.grace = grace
        self.handover = handover
        self._deadlines = deadlines

    def lose(self, driver: Driver, endpoint: Endpoint, now: float) -> None:
        """The endpoint's stream has ended, if it had one. Its table is dropped at once unless it is authoritative."""
        if driver.holder is not endpoint:
            self.clear(endpoint)
        elif endpoint.live:
            driver.lost = now
        endpoint.live = False

    def review(self, driver: Driver, now: float, changed: set[Device]) -> None:
        """Decides whether a holder without a stream stays authoritative, and until when."""
        if driver.holder is None or driver.holder.live:
            return
        driver.deadline = driver.lost + self._patience(driver, driver.holder)
        if driver.deadline <= now:
            live = [endpoint for endpoint in driver.endpoints.values() if endpoint.live]
            self.hold(driver, live[-1] if live else None, changed)
        else:
            self._deadlines.watch(driver)

    def _patience(self, driver: Driver, holder: Endpoint) -> float:
        registered = driver.endpoints.get(holder.path) is holder
        if not registered and any(endpoint.live for endpoint in driver.endpoints.values()):
            return 0.0
        heirs = any(endpoint.reports for endpoint in driver.endpoints.values() if endpoint is not holder and not endpoint.live)
        if holder.serial == 0 and (heirs or not driver.endpoints):
            return NEVER  # from the checkpoint: each device has its own deadline
        return max(self.grace, self.handover) if heirs else self.grace

    def hold(self, driver: Driver, endpoint: Endpoint | None, changed: set[Device]) -> None:
        """Makes this endpoint authoritative, in one step."""
        old = driver.holder
        before = old.table if old else {}
        after = endpoint.table if endpoint else {}
        for device in before.keys() | after.keys():
            old_entry, new_entry = before.get(device), after.get(device)
            confirmed = old_entry is not None and old_entry.remembered and not (new_entry is not None and new_entry.remembered)
            if confirmed or verdict_of(old_entry) != verdict_of(new_entry):
                changed.add(device)
        driver.holder, driver.deadline = endpoint, NEVER
        if old is not None and not old.live:
            self.clear(old)
        if endpoint is None and not driver.endpoints:
            self.drivers.pop(driver.name, None)

    def clear(self, endpoint: Endpoint) -> None:
        for entry in endpoint.table.values():
            self._deadlines.forget(entry)
        endpoint.table.clear()


def verdict_of(entry: Entry | None) -> DeviceHealth:
    return NOT_KNOWN if entry is None else entry.verdict
