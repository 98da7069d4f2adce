"""Validation of plugin registrations: what a plugin announces in, a Plugin or a refusal out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from podstrat.node.drivers.protocols import deviceplugin, dra, registration, streams
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import resources


class Refusal(ValueError):
    """Why a plugin cannot be registered. The text is for its author."""


class Plugin(NamedTuple):
    """A DRA driver or a device plugin that is registered."""

    driver: str
    """The driver's name, or the resource that the device plugin serves."""
    endpoint: str
    """The socket of its service."""
    prepares: str | None
    """Which version of DRAPlugin to speak with it; None: it is a device plugin."""
    streams: tuple[streams.Stream, ...] = ()
    """The health services to try, for a DRA driver."""

    @property
    def reports(self) -> bool:
        """Whether it has a health service."""
        return self.prepares is None or bool(self.streams)


def from_info(info: registration.Info, documents: bool) -> Plugin:
    """The plugin behind a socket of the registry."""
    if info.type == registration.DRA_PLUGIN:
        return _dra(info, documents)
    if info.type == registration.DEVICE_PLUGIN:
        if deviceplugin.VERSION not in info.versions:
            version = deviceplugin.VERSION
            raise Refusal(f"device plugin {info.name!r}: supported_versions has no {version}: {_listed(info.versions)}")
        return Plugin(_resource(info.name), info.endpoint, None)
    raise Refusal(f"plugin type {info.type!r} is neither {registration.DRA_PLUGIN} nor {registration.DEVICE_PLUGIN}")


def from_registration(request: deviceplugin.Registration, directory: Path) -> Plugin:
    """The plugin that has called kubelet.sock. Its endpoint is a file beside that socket."""
    if request.version != deviceplugin.VERSION:
        raise Refusal(f"version {request.version!r} is not {deviceplugin.VERSION}")
    resource = _resource(request.resource)
    if request.endpoint in ("", ".", "..") or "/" in request.endpoint:
        raise Refusal(f"endpoint {request.endpoint!r} is not the name of a file in {directory}")
    return Plugin(resource, str(directory / request.endpoint), None)


def _dra(info: registration.Info, documents: bool) -> Plugin:
    """Of the versions that driver and we both speak, the one that the driver names first, as in the kubelet."""
    if validation.dns_subdomain(info.name):
        raise Refusal(f"{info.name!r} is not the name of a DRA driver, which is a DNS subdomain")
    prepares = next((dra.VERSIONS[version] for version in info.versions if version in dra.VERSIONS), None)
    if prepares is None:
        versions = " or ".join(dra.VERSIONS)
        raise Refusal(f"DRA driver {info.name!r}: supported_versions has no {versions}: {_listed(info.versions)}")
    return Plugin(info.name, info.endpoint, prepares, streams.offered(info.versions, documents))


def _resource(name: str) -> str:
    if not resources.is_extended(name):
        raise Refusal(f"{name!r} is not the name of an extended resource")
    return name


def _listed(versions: tuple[str, ...]) -> str:
    return f"it is {', '.join(versions)}" if versions else "it is empty"
