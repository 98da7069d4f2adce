"""restrictedVolumes (restricted): only volumes that the cluster provides, none of a node or of a storage system directly."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Place, Pod, Violation, plural, quoted

_ALLOWED = frozenset(
    ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret")
)


def types(pod: Pod) -> Violation | None:
    """Upstream: restrictedVolumes_1_0"""
    bad: list[str] = []
    found: set[str] = set()
    places: list[Place] = []
    for i, volume in enumerate(pod.spec.get("volumes") or ()):
        if not _ALLOWED.isdisjoint(volume):
            continue
        sources = [name for name in volume if name != "name"]
        bad.append(volume.get("name", ""))
        found.add(sources[0] if sources else "unknown")
        places.append(("spec", "volumes", i, *sources[:1]))
    if not bad:
        return None
    detail = (
        f"{plural(len(bad), 'volume', 'volumes')} {quoted(bad)} {plural(len(bad), 'uses', 'use')} restricted volume "
        f"{plural(len(found), 'type', 'types')} {quoted(sorted(found))}"
    )
    return Violation("restricted volume types", detail, tuple(places))
