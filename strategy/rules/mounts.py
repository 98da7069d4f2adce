"""Volume mounts and volume devices of containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

Volumes = Mapping[str, dict[str, Any]]
"""The volumes of the pod that passed their own rules, by name."""

PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_READ_ONLY = ("Disabled", "Enabled", "IfPossible")
BIND_OPTIONS = ("nodev", "noexec", "nosuid")

UNIQUE = "must be unique"
PRIVILEGED_ONLY = "Bidirectional mount propagation is available only to privileged containers"
NEEDS_READ_ONLY = "may only be specified when readOnly is true"
NEEDS_NO_PROPAGATION = "may only be specified when mountPropagation is None or not specified"
NOT_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


def each(container: dict[str, Any], at: str, volumes: Volumes) -> Errors:
    """Each mount names a volume of the pod and has a path of its own, which no device has.

    Upstream: ValidateVolumeMounts
    """
    devices = {device["name"]: device["devicePath"] for device in container.get("volumeDevices") or ()}
    paths: set[str] = set()
    for i, mount in enumerate(container["volumeMounts"]):
        name, path = mount["name"], mount["mountPath"]
        if name not in volumes:
            if not name:
                yield field.required(f"{at}.volumeMounts[{i}].name")
            yield field.not_found(f"{at}.volumeMounts[{i}].name", name)
        if not path:
            yield field.required(f"{at}.volumeMounts[{i}].mountPath")
        if path in paths:
            yield field.invalid(f"{at}.volumeMounts[{i}].mountPath", path, UNIQUE)
        paths.add(path)
        if devices:
            if name in devices:
                yield field.invalid(f"{at}.volumeMounts[{i}].name", name, "must not already exist in volumeDevices")
            if path in devices.values():
                text = "must not already exist as a path in volumeDevices"
                yield field.invalid(f"{at}.volumeMounts[{i}].mountPath", path, text)
        # Most mounts have but a name, a path and perhaps readOnly, which alone is never wrong.
        if len(mount) > 2 + ("readOnly" in mount):
            yield from _options(mount, at, i, container, volumes)


def _options(mount: dict[str, Any], at: str, i: int, container: dict[str, Any], volumes: Volumes) -> Errors:
    """What a mount may say beside its name and path; several of the server's paths here lack the index."""
    sub_path, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if sub_path and (faults := validation.local_path(sub_path)):
        place = field.place_of(f"{at}.volumeMounts[{i}].subPath")
        yield from validation.each(f"{at}.volumeMounts.subPath", sub_path, faults, place)
    if expression:
        if sub_path:
            text = "subPathExpr and subPath are mutually exclusive"
            yield field.invalid(f"{at}.volumeMounts[{i}].subPathExpr", expression, text)
        if faults := validation.local_path(expression):
            place = field.place_of(f"{at}.volumeMounts[{i}].subPathExpr")
            yield from validation.each(f"{at}.volumeMounts.subPathExpr", expression, faults, place)
    if "mountPropagation" in mount:
        yield from _propagation(mount["mountPropagation"], at, i, container)
    if "recursiveReadOnly" in mount:
        yield from _recursive_read_only(mount, at, i)
    if "bindMountOptions" in mount:
        yield from _bind_options(mount, f"{at}.volumeMounts[{i}].bindMountOptions", volumes)


def _propagation(propagation: str, at: str, i: int, container: dict[str, Any]) -> Errors:
    """Upstream: validateMountPropagation"""
    if propagation not in PROPAGATIONS:
        place = field.place_of(f"{at}.volumeMounts[{i}].mountPropagation")
        yield field.not_supported(f"{at}.volumeMounts.mountPropagation", propagation, PROPAGATIONS, place)
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        place = field.place_of(f"{at}.volumeMounts[{i}].mountPropagation")
        yield field.forbidden(f"{at}.volumeMounts.mountPropagation", PRIVILEGED_ONLY, place)


def _recursive_read_only(mount: dict[str, Any], at: str, i: int) -> Errors:
    """Only a mount that is read-only and not propagated can be so in its depths.

    Upstream: validateMountRecursiveReadOnly
    """
    wish = mount["recursiveReadOnly"]
    if wish == "Disabled":
        return
    path, place = f"{at}.volumeMounts.recursiveReadOnly", field.place_of(f"{at}.volumeMounts[{i}].recursiveReadOnly")
    if wish not in RECURSIVE_READ_ONLY:
        yield field.not_supported(path, wish, RECURSIVE_READ_ONLY, place)
        return
    if not mount.get("readOnly"):
        yield field.forbidden(path, NEEDS_READ_ONLY, place)
    if mount.get("mountPropagation", "None") != "None":
        yield field.forbidden(path, NEEDS_NO_PROPAGATION, place)


def _bind_options(mount: dict[str, Any], at: str, volumes: Volumes) -> Errors:
    """Bind mount options are known and given once, and not for image volumes (since 1.37).

    Upstream: validateBindMountOptions
    """
    options = mount["bindMountOptions"]
    if options and "image" in volumes.get(mount["name"], ()):
        yield field.invalid(at, options, "bindMountOptions may not be used with image volumes")
    modes: set[str] = set()
    for i, option in enumerate(options):
        if option not in BIND_OPTIONS:
            yield field.not_supported(f"{at}[{i}]", option, BIND_OPTIONS)
        if option in modes:
            yield field.duplicate(f"{at}[{i}]", option)
        modes.add(option)


def devices(container: dict[str, Any], at: str, volumes: Volumes) -> Errors:
    """Each device names a claim of the pod and has a path of its own, which no mount has.

    Upstream: ValidateVolumeDevices
    """
    mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts") or ()}
    names: set[str] = set()
    paths: set[str] = set()
    for i, device in enumerate(container["volumeDevices"]):
        name = device["name"]
        if not name:
            yield field.required(f"{at}.volumeDevices[{i}].name")
        if name in names:
            yield field.invalid(f"{at}.volumeDevices[{i}].name", name, UNIQUE)
        volume = volumes.get(name)
        if volume is None:
            yield field.not_found(f"{at}.volumeDevices[{i}].name", name)
        elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
            yield field.invalid(f"{at}.volumeDevices[{i}].name", name, NOT_BLOCK)
        yield from _device_path(device["devicePath"], f"{at}.volumeDevices[{i}].devicePath", paths)
        if name in mounts:
            yield field.invalid(f"{at}.volumeDevices[{i}].name", name, "must not already exist in volumeMounts")
        if device["devicePath"] in mounts.values():
            text = "must not already exist as a path in volumeMounts"
            yield field.invalid(f"{at}.volumeDevices[{i}].devicePath", device["devicePath"], text)
        if name:
            names.add(name)


def _device_path(path: str, at: str, paths: set[str]) -> Errors:
    """A device path is given, unique and does not climb; one that climbs takes no other's place."""
    if not path:
        yield field.required(at)
    if path in paths:
        yield field.invalid(at, path, UNIQUE)
    if ".." in path.split("/"):
        yield field.invalid(at, path, "can not contain backsteps ('..')")
    else:
        paths.add(path)
