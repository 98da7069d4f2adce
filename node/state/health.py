"""The device health table: driver events and the time go in, changed devices come out. No clock, file or socket.

- A device that no driver reports is Unknown, never Healthy by default.
- A reading is valid for its driver's timeout and turns Unknown at that moment.
- Of several endpoints of a driver one is authoritative: see succession.
- The end of a stream invalidates what that stream reported, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from podstrat.node.model import (
    HEALTHY,
    NOT_KNOWN,
    Closed,
    Device,
    DeviceHealth,
    Event,
    Note,
    Reading,
    Registered,
    Report,
    Session,
    Silent,
    Unregistered,
)
from podstrat.node.runtime.deadlines import NEVER, Deadlines
from podstrat.node.state import sanitize
from podstrat.node.state.succession import Driver, Endpoint, Entry, Succession


@dataclass(frozen=True)
class Settings:
    grace: float = 0.0
    """Seconds that devices keep their health after the stream has ended, in case the driver is only restarting."""
    handover: float = 10.0
    """The same, when a newer endpoint of the driver is registered and has not reported yet."""
    devices: int = 16384
    """Devices of one driver that are tracked: the kubelet's own limit (1.37)."""
    quiet: frozenset[str] = frozenset()
    """Drivers that report only changes: their readings are valid for as long as the stream is open."""
    note_every: float = 60.0
    """Seconds for which a log line about a driver is not repeated: once a minute is visible and harmless in a log."""


class Outcome(NamedTuple):
    """The effect of an event."""

    changed: set[Device]
    """Devices whose health or message has changed."""
    notes: list[str]
    """Log lines."""


class Row(NamedTuple):
    """One device in the checkpoint."""

    driver: str
    pool: str
    name: str
    health: str
    message: str | None
    lifetime: float | None
    """None: valid for as long as the stream is open."""
    received: float


class Health:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.changes = 0
        """Counts changes that belong in the checkpoint."""
        self.refreshes = 0
        """Counts reports that only confirm known values."""
        self.heard: set[str] = set()
        """Drivers that have ever reported, also before a restart: one that is silent now is lost, not unheard."""
        self._spoken: set[str] = set()
        """Drivers that have reported since the start."""
        self._drivers: dict[str, Driver] = {}
        self._deadlines = Deadlines()
        self._succession = Succession(self._drivers, self._deadlines, self.settings.grace, self.settings.handover)
        self._serial = 0

    def size(self) -> int:
        """Tracked devices, over all endpoints."""
        return sum(len(endpoint.table) for driver in self._drivers.values() for endpoint in _all_endpoints(driver))

    def look(self, device: Device, now: float) -> DeviceHealth:
        """The health of a device. Expired values read Unknown, also before `expire` is called."""
        driver = self._drivers.get(device.driver)
        if driver is None or driver.holder is None or driver.deadline <= now:
            return NOT_KNOWN
        entry = driver.holder.table.get(device)
        return NOT_KNOWN if entry is None or entry.deadline <= now else entry.verdict

    def is_remembered(self, device: Device) -> bool:
        """Whether the value is from the checkpoint. It may be older than the pod's status, so it changes none."""
        driver = self._drivers.get(device.driver)
        entry = driver.holder.table.get(device) if driver is not None and driver.holder is not None else None
        return entry is not None and entry.remembered

    def healthy(self, driver: str, now: float) -> list[str]:
        """Names of the healthy devices of a device plugin: those that can be allocated."""
        return [device.name for device, verdict in self.all(now) if device.driver == driver and verdict.health == HEALTHY]

    def plugin_devices(self) -> dict[str, tuple[int, int]]:
        """By resource of a device plugin: how many devices there are, and how many are healthy."""
        return {
            name: (len(entries), sum(each.verdict.health == HEALTHY for each in entries))
            for name, driver in self._drivers.items()
            if "/" in name and driver.holder is not None
            for entries in [driver.holder.table.values()]
        }

    def tables(self, driver: str) -> list[Mapping[Device, object]]:
        """The tables that hold known devices of a driver, one for each of its endpoints."""
        entry = self._drivers.get(driver)
        return [endpoint.table for endpoint in _all_endpoints(entry) if endpoint.table] if entry is not None else []

    def was_heard(self, driver: str) -> bool:
        """Whether the driver has ever reported."""
        return driver in self.heard

    def has_spoken(self, driver: str) -> bool:
        """Whether the driver has reported since the start."""
        return driver in self._spoken

    def knows(self, driver: str) -> bool:
        """Whether the driver has reported."""
        entry = self._drivers.get(driver)
        return entry is not None and entry.holder is not None

    def all(self, now: float) -> Iterator[tuple[Device, DeviceHealth]]:
        """Every device with a valid reading, and its health."""
        for driver in self._drivers.values():
            if driver.holder is not None and driver.deadline > now:
                yield from ((each.device, each.verdict) for each in driver.holder.table.values() if each.deadline > now)

    def next_deadline(self) -> float:
        """When to call `expire`; infinity: not before something else happens."""
        return self._deadlines.next()

    def expire(self, now: float) -> Outcome:
        """Expired readings turn Unknown."""
        outcome = Outcome(set(), [])
        self._expire(now, outcome.changed)
        return self._counted(outcome)

    def take(self, event: Event, now: float) -> Outcome:
        """Applies a driver event, after expiring what is due by now."""
        outcome = Outcome(set(), [])
        self._expire(now, outcome.changed)
        match event:
            case Registered():
                self._registered(event, now, outcome)
            case Report():
                self._report(event, now, outcome)
            case Closed():
                self._closed(event.session, now, outcome)
            case Silent():
                self._silent(event, now, outcome)
            case Unregistered():
                self._unregistered(event.driver, event.endpoint, now, outcome)
            case Note():
                outcome.notes.append(f"{event.subject}: {event.text}")
        return self._counted(outcome)

    def rows(self, now: float) -> list[Row]:
        """Rows for the checkpoint: valid readings of authoritative endpoints."""
        return [
            Row(*entry.device, *entry.verdict, None if entry.lifetime == NEVER else entry.lifetime, _received(entry, now))
            for driver in self._drivers.values()
            if driver.holder is not None
            for entry in driver.holder.table.values()
            if entry.deadline > now
        ]

    def restore(self, rows: Iterable[Row], now: float) -> None:
        """Restores readings, each until its own timeout or until the driver reports.

        Readings without a timeout get the default one.
        """
        for row in rows:
            lifetime = sanitize.DEFAULT_TIMEOUT if row.lifetime is None else row.lifetime
            if not now - lifetime < row.received <= now:
                continue
            driver = self._driver(row.driver)
            if driver.holder is None:
                driver.holder, driver.lost = Endpoint("", 0, False), now
            device = Device(row.driver, row.pool, row.name)
            verdict = DeviceHealth(row.health, row.message)
            deadline = row.received + lifetime
            entry = Entry(device, driver.holder, verdict, row.message or "", lifetime, deadline, remembered=True)
            driver.holder.table[device] = entry
            self._deadlines.watch(entry)

    # Driver events

    def _registered(self, event: Registered, now: float, outcome: Outcome) -> None:
        driver = self._driver(event.driver)
        if event.endpoint in driver.endpoints:
            self._unregistered(event.driver, event.endpoint, now, outcome)
            driver = self._driver(event.driver)
        self._serial += 1
        driver.endpoints[event.endpoint] = Endpoint(event.endpoint, self._serial, event.reports)
        self._succession.review(driver, now, outcome.changed)

    def _report(self, report: Report, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(report.session.driver)
        endpoint = driver.endpoints.get(report.session.endpoint) if driver else None
        if driver is None or endpoint is None or report.session.number < endpoint.session:
            return
        endpoint.session, endpoint.live = report.session.number, True
        if driver.name not in self._spoken:
            self._spoken.add(driver.name)
            self.heard.add(driver.name)
            self.changes += 1
        self.refreshes += 1
        if driver.holder is endpoint:
            driver.deadline = NEVER
            outcome.changed.update(self._merge(driver, endpoint, report, now, outcome.notes))
            return
        self._merge(driver, endpoint, report, now, outcome.notes)
        holder = driver.holder
        if holder is None or endpoint.serial > holder.serial or driver.endpoints.get(holder.path) is not holder:
            if holder is not None and not report.complete:
                self._carry(holder, endpoint, now)
            self._succession.hold(driver, endpoint, outcome.changed)

    def _closed(self, session: Session, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(session.driver)
        endpoint = driver.endpoints.get(session.endpoint) if driver else None
        if driver is not None and endpoint is not None and endpoint.session == session.number and endpoint.live:
            self._succession.lose(driver, endpoint, now)
            self._succession.review(driver, now, outcome.changed)

    def _silent(self, event: Silent, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(event.driver)
        endpoint = driver.endpoints.get(event.endpoint) if driver else None
        if driver is not None and endpoint is not None:
            endpoint.reports = False
            self._succession.lose(driver, endpoint, now)
            self._succession.review(driver, now, outcome.changed)

    def _unregistered(self, name: str, path: str, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(name)
        if driver is not None and path in driver.endpoints:
            self._succession.lose(driver, driver.endpoints.pop(path), now)
            self._succession.review(driver, now, outcome.changed)
            if not driver.endpoints and driver.holder is None:
                self._drivers.pop(name, None)

    # The table

    def _driver(self, name: str) -> Driver:
        return self._drivers.get(name) or self._drivers.setdefault(name, Driver(name))

    def _merge(self, driver: Driver, endpoint: Endpoint, report: Report, now: float, notes: list[str]) -> set[Device]:
        """Merges a report into the endpoint's table; returns the devices that changed."""
        table, changed, fresh = endpoint.table, set(), []
        name, timeout, lifetime = driver.name, None, NEVER
        # As a dictionary, because a device may be there twice: the last one counts. The keys equal Devices, and are made faster.
        latest = {(name, reading.pool, reading.name): reading for reading in report.readings}
        for key, reading in latest.items():
            entry = table.get(key)  # type: ignore[call-overload]
            if entry is None:
                fresh.append((Device(*key), reading))
                continue
            if reading.health != entry.verdict.health or reading.message != entry.raw:
                before, entry.raw = entry.verdict, reading.message
                entry.verdict = DeviceHealth(reading.health, sanitize.message(reading.message))
                if entry.verdict != before:
                    changed.add(entry.device)
            if entry.remembered:
                entry.remembered = False
                changed.add(entry.device)
            if reading.timeout != timeout:
                timeout, lifetime = reading.timeout, self._lifetime(driver, reading)
            entry.lifetime, entry.deadline = lifetime, now + lifetime
            if entry.deadline < entry.queued:
                self._deadlines.watch(entry)
        if report.complete:
            changed.update(self._drop([device for device in table if device not in latest], endpoint))
        changed.update(self._add(driver, endpoint, fresh, now, notes))
        self._note_timeouts(driver, report.readings, now, notes)
        return changed

    def _add(
        self, driver: Driver, endpoint: Endpoint, fresh: list[tuple[Device, Reading]], now: float, notes: list[str]
    ) -> Iterator[Device]:
        """Adds devices with valid names, up to the limit."""
        implausible = over = 0
        for device, reading in fresh:
            if not sanitize.is_plausible(device):
                implausible += 1
            elif len(endpoint.table) >= self.settings.devices:
                over += 1
            else:
                verdict = DeviceHealth(reading.health, sanitize.message(reading.message))
                lifetime = self._lifetime(driver, reading)
                entry = Entry(device, endpoint, verdict, reading.message, lifetime, now + lifetime)
                endpoint.table[device] = entry
                self._deadlines.watch(entry)
                if verdict != NOT_KNOWN:
                    yield device
        if implausible:
            self._note(driver, "names", f"{implausible} devices with invalid names ignored", now, notes)
        if over:
            text = f"more than {self.settings.devices} devices; {over} new devices ignored"
            self._note(driver, "room", text, now, notes)

    def _lifetime(self, driver: Driver, reading: Reading) -> float:
        return NEVER if driver.name in self.settings.quiet else sanitize.lifetime(reading)

    def _carry(self, old: Endpoint, new: Endpoint, now: float) -> None:
        """Devices that the new endpoint has not reported keep the old endpoint's reading until its timeout."""
        for device, entry in old.table.items():
            if len(new.table) >= self.settings.devices:
                return
            if device not in new.table and now < entry.deadline < NEVER:
                copy = Entry(device, new, entry.verdict, entry.raw, entry.lifetime, entry.deadline)
                copy.remembered = entry.remembered
                new.table[device] = copy
                self._deadlines.watch(copy)

    def _drop(self, devices: Iterable[Device], endpoint: Endpoint) -> Iterator[Device]:
        for device in devices:
            entry = endpoint.table.pop(device)
            self._deadlines.forget(entry)
            if entry.verdict != NOT_KNOWN:
                yield device

    # Time

    def _expire(self, now: float, changed: set[Device]) -> None:
        for thing in self._deadlines.due(now):
            if isinstance(thing, Driver):
                self._succession.review(thing, now, changed)
                continue
            entry = cast(Entry, thing)
            endpoint = entry.endpoint
            del endpoint.table[entry.device]
            driver = self._drivers[entry.device.driver]
            if driver.holder is endpoint and entry.verdict != NOT_KNOWN:
                changed.add(entry.device)
            if endpoint.serial == 0 and not endpoint.table:
                self._succession.hold(driver, None, changed)  # nothing is left of the checkpoint

    # Log lines

    def _note_timeouts(self, driver: Driver, readings: Iterable[Reading], now: float, notes: list[str]) -> None:
        if any(reading.timeout is not None and reading.timeout < 0 for reading in readings):
            text = f"negative health_check_timeout_seconds; using {sanitize.DEFAULT_TIMEOUT:.0f} s"
            self._note(driver, "timeout", text, now, notes)

    def _note(self, driver: Driver, kind: str, text: str, now: float, notes: list[str]) -> None:
        if now >= driver.noted.get(kind, -NEVER) + self.settings.note_every:
            driver.noted[kind] = now
            notes.append(f"{driver.name}: {text}")

    def _counted(self, outcome: Outcome) -> Outcome:
        self.changes += bool(outcome.changed)
        return outcome


def _received(entry: Entry, now: float) -> float:
    return now if entry.lifetime == NEVER else entry.deadline - entry.lifetime


def _all_endpoints(driver: Driver) -> Iterator[Endpoint]:
    yield from driver.endpoints.values()
    if driver.holder is not None and driver.endpoints.get(driver.holder.path) is not driver.holder:
        yield driver.holder
