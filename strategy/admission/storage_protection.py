"""StorageObjectInUseProtection: a finalizer keeps claims and volumes that are in use from being removed.

Upstream: the admission plugin StorageObjectInUseProtection
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes

FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
}


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: storageProtectionPlugin.Admit"""
    if request.operation != "CREATE" or request.subresource:
        return
    metadata, wanted = request.object["metadata"], FINALIZERS[request.resource]
    finalizers = metadata.get("finalizers") or []
    if wanted not in finalizers:
        metadata["finalizers"] = [*finalizers, wanted]
        yield f"metadata.finalizers[{len(finalizers)}]"
