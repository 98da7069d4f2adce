"""References of a pod to secrets and config maps.

Upstream: VisitPodSecretNames, VisitPodConfigmapNames
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

Object = dict[str, Any]

SECRET_REFS = (
    ("azureFile", "secretName"),
    ("cephfs", "secretRef"),
    ("cinder", "secretRef"),
    ("flexVolume", "secretRef"),
    ("rbd", "secretRef"),
    ("scaleIO", "secretRef"),
    ("iscsi", "secretRef"),
    ("storageos", "secretRef"),
    ("csi", "nodePublishSecretRef"),
)
"""Where volumes refer to secrets, beside those that are secrets."""


def projected(volume: Object) -> Iterable[Object]:
    """The sources of a projected volume."""
    return (volume.get("projected") or {}).get("sources") or ()


def has_secrets(spec: Object) -> bool:
    """Whether anything of the pod refers to a secret."""
    if spec.get("imagePullSecrets") or any("secretKeyRef" in each or "secretRef" in each for each in _sources(spec)):
        return True
    return any(_is_secret(volume) for volume in spec.get("volumes") or ())


def _is_secret(volume: Object) -> bool:
    if volume.get("secret") is not None or any(source.get("secret") is not None for source in projected(volume)):
        return True
    return any((volume.get(source) or {}).get(name) not in (None, "") for source, name in SECRET_REFS)


def has_config_maps(spec: Object) -> bool:
    """Whether anything of the pod refers to a config map."""
    if any("configMapKeyRef" in each or "configMapRef" in each for each in _sources(spec)):
        return True
    volumes = spec.get("volumes") or ()
    return any(each.get("configMap") is not None for volume in volumes for each in (volume, *projected(volume)))


def _sources(spec: Object) -> Iterator[Object]:
    """Where the environment of containers comes from."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            for env in container.get("env") or ():
                yield {name: each for name, each in (env.get("valueFrom") or {}).items() if each is not None}
            for source in container.get("envFrom") or ():
                yield {name: each for name, each in source.items() if each is not None}
