"""The columns and cells of kinds about storage."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing.cells import AGE, NAME, NONE, UNSET, Cells, Column, Object, age, name
from podstrat.apiserver.printing.policy_rows import BETA_CLASS, access_modes

_DEFAULT_CLASS: Final = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _volume(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPersistentVolume"""
    metadata, spec, status = (obj.get(key) or {} for key in ("metadata", "spec", "status"))
    claim = spec.get("claimRef")
    return [
        name(obj),
        (spec.get("capacity") or {}).get("storage", "0"),
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if metadata.get("deletionTimestamp") else status.get("phase", ""),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        (metadata.get("annotations") or {}).get(BETA_CLASS) or spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        status.get("reason", ""),
        age(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _class(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printStorageClass"""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    mark = " (default)" if any(annotations.get(each) == "true" for each in _DEFAULT_CLASS) else ""
    return [
        name(obj) + mark,
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def _attributes_class(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), obj.get("driverName", ""), age(obj, now)]


def _attachment(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printVolumeAttachment"""
    spec = _spec(obj)
    volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
    attached = bool((obj.get("status") or {}).get("attached"))
    return [name(obj), spec.get("attacher", ""), volume, spec.get("nodeName", ""), attached, age(obj, now)]


def _driver(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printCSIDriver"""
    spec = _spec(obj)
    tokens = [str(each.get("audience", "")) for each in spec.get("tokenRequests") or ()]
    return [
        name(obj),
        spec.get("attachRequired", True),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(tokens) if tokens else UNSET,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age(obj, now),
    ]


def _node(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), len(_spec(obj).get("drivers") or ()), age(obj, now)]


KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "PersistentVolume": (
        (
            NAME,
            Column("Capacity", "How much storage the volume has."),
            Column("Access Modes", "How the volume can be mounted."),
            Column("Reclaim Policy", "What becomes of the volume when its claim goes."),
            Column("Status", "Whether the volume is bound."),
            Column("Claim", "The claim that the volume is bound to."),
            Column("StorageClass", "The class of the storage."),
            Column("VolumeAttributesClass", "The class of the volume's attributes."),
            Column("Reason", "Why the volume is in its state."),
            AGE,
            Column("VolumeMode", "Whether the volume is a file system or a block device.", priority=1),
        ),
        _volume,
    ),
    "StorageClass": (
        (
            NAME,
            Column("Provisioner", "What makes the volumes."),
            Column("ReclaimPolicy", "What becomes of a volume when its claim goes."),
            Column("VolumeBindingMode", "When a claim is bound."),
            Column("AllowVolumeExpansion", "Whether volumes can grow."),
            AGE,
        ),
        _class,
    ),
    "VolumeAttributesClass": ((NAME, Column("DriverName", "The driver that the class is for."), AGE), _attributes_class),
    "VolumeAttachment": (
        (
            NAME,
            Column("Attacher", "The driver that attaches the volume.", format="name"),
            Column("PV", "The volume."),
            Column("Node", "The node that it is attached to."),
            Column("Attached", "Whether it is attached.", "boolean"),
            AGE,
        ),
        _attachment,
    ),
    "CSIDriver": (
        (
            NAME,
            Column("AttachRequired", "Whether volumes are attached before they are mounted.", "boolean"),
            Column("PodInfoOnMount", "Whether the driver is told about the pod.", "boolean"),
            Column("StorageCapacity", "Whether pods wait for storage that is left.", "boolean"),
            Column("TokenRequests", "The audiences of the tokens that the driver gets."),
            Column("RequiresRepublish", "Whether volumes are mounted again from time to time.", "boolean"),
            Column("Modes", "The kinds of volumes that the driver has."),
            AGE,
        ),
        _driver,
    ),
    "CSINode": ((NAME, Column("Drivers", "How many drivers the node has.", "integer"), AGE), _node),
}
