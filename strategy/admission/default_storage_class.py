"""DefaultStorageClass: a claim that names no class gets the default one.

Upstream: the admission plugin DefaultStorageClass
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.world import STORAGE_CLASS

Object = dict[str, Any]

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: claimDefaulterPlugin.Admit"""
    if request.operation != "CREATE" or request.subresource:
        return
    claim = request.object
    if BETA_CLASS in (claim["metadata"].get("annotations") or ()) or claim["spec"].get("storageClassName") is not None:
        return
    found = _default(request)
    if found is not None:
        claim["spec"]["storageClassName"] = found["metadata"]["name"]
        yield "spec.storageClassName"


def _default(request: Attributes) -> Object | None:
    """The newest of those that are marked; of two that are equally new the first by name.

    Upstream: GetDefaultClass
    """
    marked = [each for each in request.every(STORAGE_CLASS) if _is_default(each)]
    by_name = sorted(marked, key=lambda each: str(each["metadata"]["name"]))
    return max(by_name, key=lambda each: str(each["metadata"].get("creationTimestamp") or ""), default=None)


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(key) == "true" for key in DEFAULT)
