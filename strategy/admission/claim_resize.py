"""PersistentVolumeClaimResize: a claim may grow only if its StorageClass allows that.

Upstream: the admission plugin PersistentVolumeClaimResize
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.default_storage_class import BETA_CLASS
from podstrat.strategy.admission.world import STORAGE_CLASS
from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import Quantity

Object = dict[str, Any]

REFUSED = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: persistentVolumeClaimResize.Validate"""
    if request.operation != "UPDATE" or request.subresource or request.old is None:
        return
    if _size(request.object) > _size(request.old) and not _may_grow(request, request.object, request.old):
        raise request.forbidden(REFUSED)
    yield from ()


def _size(claim: Object) -> Quantity:
    return quantity.parse(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def _may_grow(request: Attributes, claim: Object, old: Object) -> bool:
    """Upstream: allowResize"""
    name = _class(claim)
    if not name or name != _class(old):
        return False
    found = request.find(STORAGE_CLASS, name)
    return found is not None and bool(found.get("allowVolumeExpansion"))


def _class(claim: Object) -> str:
    """The class of a claim; the old annotation outweighs the field.

    Upstream: GetPersistentVolumeClaimClass
    """
    annotations = claim["metadata"].get("annotations") or {}
    return str(annotations[BETA_CLASS] if BETA_CLASS in annotations else claim["spec"].get("storageClassName") or "")
