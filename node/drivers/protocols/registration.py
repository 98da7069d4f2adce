"""Plugin registration: GetInfo and NotifyRegistrationStatus."""

from __future__ import annotations

from typing import NamedTuple

from podstrat.node.drivers.generated import registration_pb2
from podstrat.node.drivers.protocols import calls, wire

DEVICE_PLUGIN = "DevicePlugin"
DRA_PLUGIN = "DRAPlugin"


class Info(NamedTuple):
    """What a plugin says it is."""

    type: str
    name: str
    endpoint: str
    """The socket of the service; never empty."""
    versions: tuple[str, ...]


async def get_info(socket: str, timeout: float) -> Info:
    info = await calls.call(socket, wire.GET_INFO, registration_pb2.InfoRequest(), timeout)
    return Info(info.type, info.name, info.endpoint or socket, tuple(info.supported_versions))


async def notify(socket: str, error: str | None, timeout: float) -> None:
    """Notifies the plugin of its registration, or of the error. Never beside a kubelet: drivers act on it."""
    status = registration_pb2.RegistrationStatus(plugin_registered=error is None, error=error or "")
    await calls.call(socket, wire.NOTIFY, status, timeout)
