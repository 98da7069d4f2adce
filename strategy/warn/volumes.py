"""Warnings about volumes: drivers that are gone, paths that overlap, sources that are empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from strategy import gotext
from strategy.context import Context, Pod
from strategy.warn import containers

# The volume's field, how the server spells it, and what became of the driver.
GONE = (
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("ephemeral", "", ""),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
_LOOKED_AT = frozenset(key for key, _, _ in GONE)
WITH_ITEMS = ("configMap", "secret", "downwardAPI")


def deprecated(volumes: Sequence[Pod], at: str, ctx: Context) -> Iterator[str]:
    for i, volume in enumerate(volumes):
        if volume.keys().isdisjoint(_LOOKED_AT):
            continue
        for key, spelling, text in GONE:
            if key not in volume:
                continue
            if key == "ephemeral":
                yield from _claim_template(volume["ephemeral"], f"{at}[{i}].ephemeral.volumeClaimTemplate.spec.resources")
            elif key == "gitRepo" and "GitRepoVolumeDriver" in ctx.gates:
                yield f"{at}[{i}].gitRepo: deprecated in v1.11"
            else:
                yield f"{at}[{i}].{spelling}: {text}"


def _claim_template(source: Pod, at: str) -> Iterator[str]:
    """Upstream: GetWarningsForPersistentVolumeClaimSpec"""
    resources = ((source.get("volumeClaimTemplate") or {}).get("spec") or {}).get("resources") or {}
    for kind in ("requests", "limits"):
        yield from containers.fractional_bytes(resources.get(kind) or {}, f"{at}.{kind}", ("storage",))


class Placed(NamedTuple):
    """A path that a volume fills, and by which source."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{gotext.quote(self.path)} ({self.source})" if self.source else gotext.quote(self.path)


def overlapping(volumes: Sequence[Pod]) -> Iterator[str]:
    """Two items that write the same file, or one below the other.

    Upstream: warningsForOverlappingVirtualPaths
    """
    for volume in volumes:
        for key in WITH_ITEMS:
            items = volume[key].get("items") if key in volume else None
            if items and len(items) > 1:
                for pair in _pairs([Placed(item["path"]) for item in items]):
                    yield f"volume {gotext.quote(volume['name'])} ({_source(volume, key)}): overlapping paths: {pair}"
        if "projected" in volume:
            about = f"volume {gotext.quote(volume['name'])} (Projected)"
            yield from _projected(volume["projected"].get("sources") or (), about)


def _source(volume: Pod, key: str) -> str:
    if key == "downwardAPI":
        return "DownwardAPI"
    word, named = ("ConfigMap", "name") if key == "configMap" else ("Secret", "secretName")
    return f"{word} {gotext.quote(volume[key].get(named, ''))}"


def _projected(sources: Iterable[Pod], about: str) -> Iterator[str]:
    """A source that is empty, and paths that overlap across sources, in the order of the sources.

    A source that names no paths is taken for the one before it, whose paths then overlap with themselves.
    """
    before: list[Placed] = []
    paths: list[Placed] = []
    for source in sources:
        if not source:
            yield f"{about} has no sources provided"
            continue
        if _names_paths(source):
            paths = list(_paths(source))
        for placed in paths:
            yield from (f"{about}: overlapping paths: {pair}" for pair in _meets(before, placed))
            before.append(placed._replace(path=placed.path.rstrip("/")))


def _names_paths(source: Pod) -> bool:
    """Whether it says where its files go; without items they go where their keys say, of which the server knows nothing."""
    return any("items" in held if kind in WITH_ITEMS else True for kind, held in source.items())


def _paths(source: Pod) -> Iterator[Placed]:
    for key, word in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(key, {}).get("items"):
            told = f"{word} {gotext.quote(source[key].get('name', ''))}"
            yield from (Placed(item["path"], told) for item in source[key]["items"])
            return
    if source.get("downwardAPI", {}).get("items"):
        yield from (Placed(item["path"], "DownwardAPI") for item in source["downwardAPI"]["items"])
    elif "serviceAccountToken" in source:
        yield Placed(source["serviceAccountToken"]["path"], "ServiceAccountToken")
    elif "clusterTrustBundle" in source:
        bundle = source["clusterTrustBundle"]
        name = bundle["name"] if "name" in bundle else bundle.get("signerName", "")
        yield Placed(bundle["path"], f"ClusterTrustBundle {gotext.quote(name)}")
    elif "podCertificate" in source:
        for key, part in (("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle")):
            if source["podCertificate"].get(key):
                yield Placed(source["podCertificate"][key], f"PodCertificate {part}")


def _pairs(paths: Sequence[Placed]) -> Iterator[str]:
    before: list[Placed] = []
    for placed in paths:
        yield from _meets(before, placed)
        before.append(placed._replace(path=placed.path.rstrip("/")))


def _meets(before: Sequence[Placed], placed: Placed) -> Iterator[str]:
    """The earlier paths that this one equals, holds, or lies in."""
    placed = placed._replace(path=placed.path.rstrip("/"))
    if not placed.path:
        return
    below = placed.path + "/"
    for other in before:
        if other.path and (below.startswith(other.path + "/") or (other.path + "/").startswith(below)):
            yield f"{placed} with {other}"
