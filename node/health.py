"""The health of the node's devices: a dictionary with rules.

Nothing here reads a clock, a file or a socket: what drivers say goes in together with the time, what changed comes out.

- A device that nobody vouches for is Unknown. It is never assumed to be healthy.
- A reading is good for as long as its driver says, and turns Unknown at that moment.
- Of several endpoints of a driver, the newest one that has reported is believed (rolling updates). What the others say is kept
  beside it, so that the change from one to the next is a single step.
- The end of a stream takes with it what that stream has said, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from node import readings, reports
from node.deadlines import NEVER, Deadlines
from node.reports import NOT_KNOWN, Device, Reading, Report, Verdict


@dataclass(frozen=True)
class Settings:
    grace: float = 0.0
    """For how many seconds devices keep their health after the stream has ended, in case the driver is only restarting."""
    handover: float = 10.0
    """The same, when a newer endpoint of the driver is registered and has not reported yet."""
    devices: int = 16384
    """How many devices of one driver we remember, as the kubelet."""
    quiet: frozenset[str] = frozenset()
    """Drivers that speak only when something changes: what they said is good for as long as the stream is open."""
    note_every: float = 60.0
    """A complaint about a driver is not repeated for so many seconds."""


class Outcome(NamedTuple):
    """What something has led to."""

    changed: set[Device]
    """Devices whose health or message is not what it was."""
    notes: list[str]
    """For the log."""


class Row(NamedTuple):
    """One device, as it is kept over a restart."""

    driver: str
    pool: str
    name: str
    health: str
    message: str | None
    lifetime: float | None
    """None: for as long as the stream is open."""
    received: float


@dataclass(slots=True, eq=False)
class _Entry:
    """One device as one endpoint sees it."""

    device: Device
    endpoint: _Endpoint
    verdict: Verdict
    raw: str
    """The message as it came, to see at a glance whether it is a new one."""
    lifetime: float
    deadline: float
    queued: float = NEVER
    remembered: bool = False
    """From the checkpoint, and not confirmed since."""


@dataclass(slots=True, eq=False)
class _Endpoint:
    path: str
    serial: int
    """Larger is newer. Zero: what was found in the checkpoint."""
    reports: bool
    session: int = 0
    live: bool = False
    """A stream is open, and has said something."""
    table: dict[Device, _Entry] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Driver:
    name: str
    endpoints: dict[str, _Endpoint] = field(default_factory=dict)
    """Those that are registered, by their sockets, the newest last."""
    holder: _Endpoint | None = None
    """The endpoint that is believed. It may be gone already, and be believed for a little longer."""
    lost: float = 0.0
    """When the holder's stream ended."""
    deadline: float = NEVER
    """Until when a holder without a stream is believed."""
    queued: float = NEVER
    noted: dict[str, float] = field(default_factory=dict)


class Health:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.changes = 0
        """Grows when there is something new to remember over a restart."""
        self.refreshes = 0
        """Grows when what is known was confirmed."""
        self._drivers: dict[str, _Driver] = {}
        self._deadlines = Deadlines()
        self._serial = 0

    def size(self) -> int:
        """How many devices are remembered, over all endpoints."""
        return sum(len(endpoint.table) for driver in self._drivers.values() for endpoint in _all_endpoints(driver))

    def look(self, device: Device, now: float) -> Verdict:
        """How a device is. What is too old reads Unknown, even if nobody has called `expire` yet."""
        driver = self._drivers.get(device.driver)
        if driver is None or driver.holder is None or driver.deadline <= now:
            return NOT_KNOWN
        entry = driver.holder.table.get(device)
        return NOT_KNOWN if entry is None or entry.deadline <= now else entry.verdict

    def is_remembered(self, device: Device) -> bool:
        """Whether what is known is from before the restart. It may be older than what was written: so it changes no status."""
        driver = self._drivers.get(device.driver)
        entry = driver.holder.table.get(device) if driver is not None and driver.holder is not None else None
        return entry is not None and entry.remembered

    def healthy(self, driver: str, now: float) -> list[str]:
        """The names of the driver's devices that are healthy, for device plugins: of these containers are given some."""
        return [device.name for device, verdict in self.all(now) if device.driver == driver and verdict.health == reports.HEALTHY]

    def knows(self, driver: str) -> bool:
        """Whether the driver has said something."""
        found = self._drivers.get(driver)
        return found is not None and found.holder is not None

    def all(self, now: float) -> Iterator[tuple[Device, Verdict]]:
        """Every device that somebody vouches for, and how it is."""
        for driver in self._drivers.values():
            if driver.holder is not None and driver.deadline > now:
                yield from ((each.device, each.verdict) for each in driver.holder.table.values() if each.deadline > now)

    def next_deadline(self) -> float:
        """When to call `expire`; infinity: not before something else happens."""
        return self._deadlines.next()

    def expire(self, now: float) -> Outcome:
        """What is due turns Unknown."""
        outcome = Outcome(set(), [])
        self._expire(now, outcome.changed)
        return self._counted(outcome)

    def take(self, event: reports.Event, now: float) -> Outcome:
        """Takes in what a driver says. What is due by now is due before it."""
        outcome = Outcome(set(), [])
        self._expire(now, outcome.changed)
        match event:
            case reports.Registered():
                self._registered(event, now, outcome)
            case Report():
                self._report(event, now, outcome)
            case reports.Closed():
                self._closed(event.session, now, outcome)
            case reports.Silent():
                self._silent(event, now, outcome)
            case reports.Unregistered():
                self._unregistered(event.driver, event.endpoint, now, outcome)
            case reports.Note():
                outcome.notes.append(f"{event.subject}: {event.text}")
        return self._counted(outcome)

    def rows(self, now: float) -> list[Row]:
        """What to remember over a restart: that which is believed, without what is unknown."""
        return [
            Row(*entry.device, *entry.verdict, None if entry.lifetime == NEVER else entry.lifetime, _received(entry, now))
            for driver in self._drivers.values()
            if driver.holder is not None
            for entry in driver.holder.table.values()
            if entry.deadline > now
        ]

    def restore(self, rows: Iterable[Row], now: float) -> None:
        """Believes what was believed before the restart, until it is too old or the driver says something new.

        What was good for as long as a stream was open gets the time of a reading without one.
        """
        for row in rows:
            lifetime = readings.DEFAULT_TIMEOUT if row.lifetime is None else row.lifetime
            if not now - lifetime < row.received <= now:
                continue
            driver = self._driver(row.driver)
            if driver.holder is None:
                driver.holder, driver.lost = _Endpoint("", 0, False), now
            device = Device(row.driver, row.pool, row.name)
            verdict = Verdict(row.health, row.message)
            deadline = row.received + lifetime
            entry = _Entry(device, driver.holder, verdict, row.message or "", lifetime, deadline, remembered=True)
            driver.holder.table[device] = entry
            self._deadlines.watch(entry)

    # What drivers say

    def _registered(self, event: reports.Registered, now: float, outcome: Outcome) -> None:
        driver = self._driver(event.driver)
        if event.endpoint in driver.endpoints:
            self._unregistered(event.driver, event.endpoint, now, outcome)
            driver = self._driver(event.driver)
        self._serial += 1
        driver.endpoints[event.endpoint] = _Endpoint(event.endpoint, self._serial, event.reports)
        self._review(driver, now, outcome.changed)

    def _report(self, report: Report, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(report.session.driver)
        endpoint = driver.endpoints.get(report.session.endpoint) if driver else None
        if driver is None or endpoint is None or report.session.number < endpoint.session:
            return
        endpoint.session, endpoint.live = report.session.number, True
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
            self._hold(driver, endpoint, outcome.changed)

    def _closed(self, session: reports.Session, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(session.driver)
        endpoint = driver.endpoints.get(session.endpoint) if driver else None
        if driver is not None and endpoint is not None and endpoint.session == session.number and endpoint.live:
            self._lose(driver, endpoint, now)
            self._review(driver, now, outcome.changed)

    def _silent(self, event: reports.Silent, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(event.driver)
        endpoint = driver.endpoints.get(event.endpoint) if driver else None
        if driver is not None and endpoint is not None:
            endpoint.reports = False
            self._lose(driver, endpoint, now)
            self._review(driver, now, outcome.changed)

    def _unregistered(self, name: str, path: str, now: float, outcome: Outcome) -> None:
        driver = self._drivers.get(name)
        if driver is not None and path in driver.endpoints:
            self._lose(driver, driver.endpoints.pop(path), now)
            self._review(driver, now, outcome.changed)
            if not driver.endpoints and driver.holder is None:
                self._drivers.pop(name, None)

    # What is remembered

    def _driver(self, name: str) -> _Driver:
        return self._drivers.get(name) or self._drivers.setdefault(name, _Driver(name))

    def _merge(self, driver: _Driver, endpoint: _Endpoint, report: Report, now: float, notes: list[str]) -> set[Device]:
        """Puts a report into the endpoint's table; the result is what it says otherwise than before."""
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
                entry.verdict = Verdict(reading.health, readings.message(reading.message))
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
        self, driver: _Driver, endpoint: _Endpoint, fresh: list[tuple[Device, Reading]], now: float, notes: list[str]
    ) -> Iterator[Device]:
        """Devices that are new to us: of those that can exist, as many as we have room for."""
        implausible = over = 0
        for device, reading in fresh:
            if not readings.is_plausible(device):
                implausible += 1
            elif len(endpoint.table) >= self.settings.devices:
                over += 1
            else:
                verdict = Verdict(reading.health, readings.message(reading.message))
                lifetime = self._lifetime(driver, reading)
                entry = _Entry(device, endpoint, verdict, reading.message, lifetime, now + lifetime)
                endpoint.table[device] = entry
                self._deadlines.watch(entry)
                if verdict != NOT_KNOWN:
                    yield device
        if implausible:
            self._note(driver, "names", f"{implausible} devices have names that no device can have; ignored", now, notes)
        if over:
            text = f"more than {self.settings.devices} devices; {over} new ones ignored"
            self._note(driver, "room", text, now, notes)

    def _lifetime(self, driver: _Driver, reading: Reading) -> float:
        return NEVER if driver.name in self.settings.quiet else readings.lifetime(reading)

    def _carry(self, old: _Endpoint, new: _Endpoint, now: float) -> None:
        """What the new endpoint has not mentioned yet stays as the old one said, for as long as that would have been good."""
        for device, entry in old.table.items():
            if len(new.table) >= self.settings.devices:
                return
            if device not in new.table and now < entry.deadline < NEVER:
                copy = _Entry(device, new, entry.verdict, entry.raw, entry.lifetime, entry.deadline)
                copy.remembered = entry.remembered
                new.table[device] = copy
                self._deadlines.watch(copy)

    def _drop(self, devices: Iterable[Device], endpoint: _Endpoint) -> Iterator[Device]:
        for device in devices:
            entry = endpoint.table.pop(device)
            self._deadlines.forget(entry)
            if entry.verdict != NOT_KNOWN:
                yield device

    # Who is believed

    def _lose(self, driver: _Driver, endpoint: _Endpoint, now: float) -> None:
        """The endpoint's stream has ended, if there was one. What it said is forgotten at once unless it is the one believed."""
        if driver.holder is not endpoint:
            self._clear(endpoint)
        elif endpoint.live:
            driver.lost = now
        endpoint.live = False

    def _review(self, driver: _Driver, now: float, changed: set[Device]) -> None:
        """Whether the holder, if it has no stream any more, is still to be believed; and until when."""
        if driver.holder is None or driver.holder.live:
            return
        driver.deadline = driver.lost + self._patience(driver, driver.holder)
        if driver.deadline <= now:
            live = [endpoint for endpoint in driver.endpoints.values() if endpoint.live]
            self._hold(driver, live[-1] if live else None, changed)
        else:
            self._deadlines.watch(driver)

    def _patience(self, driver: _Driver, holder: _Endpoint) -> float:
        registered = driver.endpoints.get(holder.path) is holder
        if not registered and any(endpoint.live for endpoint in driver.endpoints.values()):
            return 0.0
        heirs = any(endpoint.reports for endpoint in driver.endpoints.values() if endpoint is not holder and not endpoint.live)
        if holder.serial == 0 and (heirs or not driver.endpoints):
            return NEVER  # from the checkpoint: each device has its own deadline
        return max(self.settings.grace, self.settings.handover) if heirs else self.settings.grace

    def _hold(self, driver: _Driver, endpoint: _Endpoint | None, changed: set[Device]) -> None:
        """Believes this endpoint from now on, in one step."""
        old = driver.holder
        before = old.table if old else {}
        after = endpoint.table if endpoint else {}
        for device in before.keys() | after.keys():
            old_entry, new_entry = before.get(device), after.get(device)
            confirmed = old_entry is not None and old_entry.remembered and not (new_entry is not None and new_entry.remembered)
            if confirmed or _verdict(old_entry) != _verdict(new_entry):
                changed.add(device)
        driver.holder, driver.deadline = endpoint, NEVER
        if old is not None and not old.live:
            self._clear(old)
        if endpoint is None and not driver.endpoints:
            self._drivers.pop(driver.name, None)

    def _clear(self, endpoint: _Endpoint) -> None:
        for entry in endpoint.table.values():
            self._deadlines.forget(entry)
        endpoint.table.clear()

    # Time

    def _expire(self, now: float, changed: set[Device]) -> None:
        for thing in self._deadlines.due(now):
            if isinstance(thing, _Driver):
                self._review(thing, now, changed)
                continue
            entry = cast(_Entry, thing)
            endpoint = entry.endpoint
            del endpoint.table[entry.device]
            driver = self._drivers[entry.device.driver]
            if driver.holder is endpoint and entry.verdict != NOT_KNOWN:
                changed.add(entry.device)
            if endpoint.serial == 0 and not endpoint.table:
                self._hold(driver, None, changed)  # nothing is left of the checkpoint

    # Words

    def _note_timeouts(self, driver: _Driver, said: Iterable[Reading], now: float, notes: list[str]) -> None:
        if any(reading.timeout is not None and reading.timeout < 0 for reading in said):
            text = f"a negative health check timeout; {readings.DEFAULT_TIMEOUT:.0f} s is taken"
            self._note(driver, "timeout", text, now, notes)

    def _note(self, driver: _Driver, kind: str, text: str, now: float, notes: list[str]) -> None:
        if now >= driver.noted.get(kind, -NEVER) + self.settings.note_every:
            driver.noted[kind] = now
            notes.append(f"{driver.name}: {text}")

    def _counted(self, outcome: Outcome) -> Outcome:
        self.changes += bool(outcome.changed)
        return outcome


def _verdict(entry: _Entry | None) -> Verdict:
    return NOT_KNOWN if entry is None else entry.verdict


def _received(entry: _Entry, now: float) -> float:
    return now if entry.lifetime == NEVER else entry.deadline - entry.lifetime


def _all_endpoints(driver: _Driver) -> Iterator[_Endpoint]:
    yield from driver.endpoints.values()
    if driver.holder is not None and driver.endpoints.get(driver.holder.path) is not driver.holder:
        yield driver.holder
