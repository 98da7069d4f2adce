"""DRA health streams: DRAResourceHealth v1 and v1alpha1, and the two NodeHealth services of the KEP texts.

Both directions: reading a message, and writing one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from podstrat.node.drivers.generated import documents_pb2, health_pb2
from podstrat.node.drivers.protocols import calls, wire
from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Reading

LONGEST_TEXT = 4096
"""Bytes of a driver's text that are decoded: four times the limit of the API server, to cut at a whole character."""

_NUMBERS = {UNKNOWN: health_pb2.UNKNOWN, HEALTHY: health_pb2.HEALTHY, UNHEALTHY: health_pb2.UNHEALTHY}
_HEALTHS = {number: text for text, number in _NUMBERS.items()}
_TEXTS = {text.encode(): text for text in _NUMBERS}


Admits = Callable[[str, str], bool]
"""Whether a device is kept, by pool and name."""


class Stream(NamedTuple):
    """One way to learn about the health of a driver's devices."""

    name: str
    method: wire.Method
    read: Callable[[Any, Admits], Iterator[Reading | None]]
    """Lazily: a message may name a hundred thousand devices. None: one that is not admitted."""
    write: Callable[[Iterable[Reading]], Any]
    complete: bool = False
    """Each message names all devices."""


def _read_released(message: Any, admits: Admits) -> Iterator[Reading | None]:
    for device in message.devices:
        identifier = device.device
        pool, name = _name(identifier.pool_name), _name(identifier.device_name)
        if not admits(pool, name):
            yield None
            continue
        health = _HEALTHS.get(device.health, UNKNOWN)
        yield Reading(pool, name, health, _text(device.message), device.health_check_timeout_seconds)


def _write_released(readings: Iterable[Reading]) -> Any:
    message = health_pb2.NodeWatchResourcesResponse()
    for reading in readings:
        device = message.devices.add(health=_NUMBERS[reading.health], message=_bytes(reading.message))
        device.device.pool_name, device.device.device_name = _bytes(reading.pool), _bytes(reading.name)
        device.health_check_timeout_seconds = reading.timeout or 0
    return message


def _read_newer(message: Any, admits: Admits) -> Iterator[Reading | None]:
    for device in message.devices:
        pool, name = _name(device.pool_name), _name(device.device_name)
        health, timeout = _TEXTS.get(device.health_status, UNKNOWN), device.health_check_timeout_seconds
        yield Reading(pool, name, health, timeout=timeout) if admits(pool, name) else None


def _write_newer(readings: Iterable[Reading]) -> Any:
    message = documents_pb2.WatchResourcesResponse()
    for reading in readings:
        device = message.devices.add(pool_name=_bytes(reading.pool), device_name=_bytes(reading.name))
        device.health_status, device.health_check_timeout_seconds = _bytes(reading.health), reading.timeout or 0
    return message


def _read_older(message: Any, admits: Admits) -> Iterator[Reading | None]:
    for device in message.devices:
        pool, name = _name(device.pool_name), _name(device.device_name)
        yield Reading(pool, name, _TEXTS.get(device.health, UNKNOWN)) if admits(pool, name) else None


def _write_older(readings: Iterable[Reading]) -> Any:
    message = documents_pb2.DevicesStatusResponse()
    for reading in readings:
        message.devices.add(pool_name=_bytes(reading.pool), device_name=_bytes(reading.name), health=_bytes(reading.health))
    return message


V1 = Stream("v1.DRAResourceHealth", wire.node_watch_resources("v1"), _read_released, _write_released)
V1ALPHA1 = Stream("v1alpha1.DRAResourceHealth", wire.node_watch_resources("v1alpha1"), _read_released, _write_released)
NEWER = Stream("NodeHealth.WatchResources", wire.WATCH_RESOURCES, _read_newer, _write_newer)
OLDER = Stream("NodeHealth.WatchDevicesStatus", wire.WATCH_DEVICES_STATUS, _read_older, _write_older, complete=True)

RELEASED = (V1, V1ALPHA1)
"""In order of preference: here, unlike with DRAPlugin, the driver's order does not count."""
DOCUMENTS = (NEWER, OLDER)
"""The newer revision first. Drivers do not announce them; one has to try."""


def offered(versions: Iterable[str], documents: bool) -> tuple[Stream, ...]:
    """The streams to try, in this order, with a driver that registered with these versions."""
    announced = set(versions)
    if released := next((stream for stream in RELEASED if stream.name in announced), None):
        return (released,)
    return DOCUMENTS if documents else ()


class Keeps(NamedTuple):
    """The cap on devices, applied while a message is read: what is over it costs no memory."""

    known: Callable[[], Sequence[Collection[Any]]] = tuple
    """Where known devices are, as (driver, pool, name): they always count."""
    driver: str = ""
    most: int = 1 << 62
    """Devices, known and new."""

    def admission(self) -> Callable[[str, str], bool]:
        """Whether a device of a report is kept. Over the cap one more is, so that it is noticed."""
        tables, driver, most = self.known(), self.driver, self.most
        room = max(0, most - max(map(len, tables), default=0)) + 1

        def admits(pool: str, name: str) -> bool:
            nonlocal room
            for table in tables:
                if (driver, pool, name) in table:
                    return True
            room -= 1
            return room >= 0

        return admits


EVERYTHING = Keeps()
SLICE = 2000
"""Devices after which reading gives way to other tasks: a few milliseconds."""


async def kept(readings: Iterator[Reading | None]) -> list[Reading]:
    """The readings that are kept. Long work yields to other tasks."""
    result: list[Reading] = []
    for number, reading in enumerate(readings, 1):
        if reading is not None:
            result.append(reading)
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return result


async def reports(socket: str, stream: Stream, keeps: Keeps = EVERYTHING) -> AsyncGenerator[list[Reading], None]:
    async with aclosing(calls.stream(socket, stream.method, stream.method.request())) as messages:
        async for message in messages:
            yield await kept(stream.read(message, keeps.admission()))
            del message  # the next one may be as large


def _name(name: bytes) -> str:
    """A name; empty if it is not UTF-8, and refused as such later."""
    try:
        return name[:LONGEST_TEXT].decode()
    except UnicodeDecodeError:
        return ""


def _text(text: bytes) -> str:
    return text[:LONGEST_TEXT].decode(errors="replace") if text else ""


def _bytes(text: str) -> bytes:
    """The text; a simulated driver may want to send what is none, as os.fsdecode spells it."""
    return text.encode(errors="surrogateescape")
