"""Health streams of DRA drivers: the released service in two versions, and the two that only the documents have.

Both ends are here: what a message says, and the message that says it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Any, NamedTuple

from node.generated import documents_pb2, health_pb2
from node.protocols import calls, wire
from node.reports import HEALTHY, UNHEALTHY, UNKNOWN, Reading

LONGEST_TEXT = 4096
"""Bytes of a driver's text that we look at."""

_NUMBERS = {UNKNOWN: health_pb2.UNKNOWN, HEALTHY: health_pb2.HEALTHY, UNHEALTHY: health_pb2.UNHEALTHY}
_HEALTHS = {number: text for text, number in _NUMBERS.items()}
_TEXTS = {text.encode(): text for text in _NUMBERS}


class Stream(NamedTuple):
    """One way to learn about the health of a driver's devices."""

    name: str
    method: wire.Method
    read: Callable[[Any], list[Reading]]
    write: Callable[[Iterable[Reading]], Any]
    complete: bool = False
    """Each message names all devices."""


def _read_released(message: Any) -> list[Reading]:
    return [
        Reading(
            _name(device.device.pool_name),
            _name(device.device.device_name),
            _HEALTHS.get(device.health, UNKNOWN),
            _text(device.message),
            device.health_check_timeout_seconds,
        )
        for device in message.devices
    ]


def _write_released(readings: Iterable[Reading]) -> Any:
    message = health_pb2.NodeWatchResourcesResponse()
    for reading in readings:
        device = message.devices.add(health=_NUMBERS[reading.health], message=_bytes(reading.message))
        device.device.pool_name, device.device.device_name = _bytes(reading.pool), _bytes(reading.name)
        device.health_check_timeout_seconds = reading.timeout or 0
    return message


def _read_newer(message: Any) -> list[Reading]:
    return [
        Reading(
            _name(device.pool_name),
            _name(device.device_name),
            _TEXTS.get(device.health_status, UNKNOWN),
            timeout=device.health_check_timeout_seconds,
        )
        for device in message.devices
    ]


def _write_newer(readings: Iterable[Reading]) -> Any:
    message = documents_pb2.WatchResourcesResponse()
    for reading in readings:
        device = message.devices.add(pool_name=_bytes(reading.pool), device_name=_bytes(reading.name))
        device.health_status, device.health_check_timeout_seconds = _bytes(reading.health), reading.timeout or 0
    return message


def _read_older(message: Any) -> list[Reading]:
    return [
        Reading(_name(device.pool_name), _name(device.device_name), _TEXTS.get(device.health, UNKNOWN))
        for device in message.devices
    ]


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
"""In the order in which we like them: here, unlike with DRAPlugin, it is not the driver's order that counts."""
DOCUMENTS = (NEWER, OLDER)
"""The newer revision first. Drivers do not announce them; one has to try."""


def offered(versions: Iterable[str], documents: bool) -> tuple[Stream, ...]:
    """The streams to try, in this order, with a driver that registered with these versions."""
    announced = set(versions)
    if released := next((stream for stream in RELEASED if stream.name in announced), None):
        return (released,)
    return DOCUMENTS if documents else ()


async def reports(socket: str, stream: Stream) -> AsyncGenerator[list[Reading], None]:
    async with aclosing(calls.stream(socket, stream.method, stream.method.request())) as messages:
        async for message in messages:
            yield stream.read(message)


def _name(name: bytes) -> str:
    """A name; what is not even text is no name at all, and is refused as such later."""
    try:
        return name[:LONGEST_TEXT].decode()
    except UnicodeDecodeError:
        return ""


def _text(text: bytes) -> str:
    return text[:LONGEST_TEXT].decode(errors="replace") if text else ""


def _bytes(text: str) -> bytes:
    """The text; a simulated driver may want to send what is none, as os.fsdecode spells it."""
    return text.encode(errors="surrogateescape")
