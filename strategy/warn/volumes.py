"""Warnings about volumes: removed drivers, overlapping paths, empty sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podstrat.records import NamedTuple
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.formats import go
from podstrat.strategy.formats.slashes import Slashes
from podstrat.strategy.warn import containers

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
        return f"{go.quote(self.path)} ({self.source})" if self.source else go.quote(self.path)


def overlapping(volumes: Sequence[Pod]) -> Iterator[str]:
    """Two items that write the same file, or one below the other.

    Upstream: warningsForOverlappingVirtualPaths
    """
    for volume in volumes:
        for key in WITH_ITEMS:
            items = volume[key].get("items") if key in volume else None
            if items and len(items) > 1:
                about = f"volume {go.quote(volume['name'])} ({_source(volume, key)})"
                yield from _overlapping([Placed(item["path"]) for item in items], about)
        if "projected" in volume:
            yield from _projected(volume)


def _source(volume: Pod, key: str) -> str:
    if key == "downwardAPI":
        return "DownwardAPI"
    word, key_of_name = ("ConfigMap", "name") if key == "configMap" else ("Secret", "secretName")
    return f"{word} {go.quote(volume[key].get(key_of_name, ''))}"


def _projected(volume: Pod) -> Iterator[str]:
    """A source that is empty, and paths that overlap across sources, in the order of the sources.

    A source without items fills in files named after its keys, which the server does not know here.
    """
    from podstrat.strategy.rules.projected import SERVICE_ACCOUNT_TOKEN  # here: no pod that people write has a token

    if volume["projected"] == SERVICE_ACCOUNT_TOKEN:
        return
    about = f"volume {go.quote(volume['name'])} (Projected)"
    sources = volume["projected"].get("sources") or ()
    empty = f"{about} has no sources provided"
    yield from _overlapping([placed for source in sources for placed in (_paths(source) if source else (empty,))], about)


def _paths(source: Pod) -> Iterator[Placed]:
    for key, word in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(key, {}).get("items"):
            source_text = f"{word} {go.quote(source[key].get('name', ''))}"
            yield from (Placed(item["path"], source_text) for item in source[key]["items"])
            return
    if source.get("downwardAPI", {}).get("items"):
        yield from (Placed(item["path"], "DownwardAPI") for item in source["downwardAPI"]["items"])
    elif "serviceAccountToken" in source:
        yield Placed(source["serviceAccountToken"]["path"], "ServiceAccountToken")
    elif "clusterTrustBundle" in source:
        bundle = source["clusterTrustBundle"]
        name = bundle["name"] if "name" in bundle else bundle.get("signerName", "")
        yield Placed(bundle["path"], f"ClusterTrustBundle {go.quote(name)}")
    elif "podCertificate" in source:
        for key, part in (("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle")):
            if source["podCertificate"].get(key):
                yield Placed(source["podCertificate"][key], f"PodCertificate {part}")


def _overlapping(listed: Sequence[Placed | str], about: str) -> Iterator[str]:
    """A warning for each path and each earlier one that it equals, holds, or lies in; texts among them are given as they are.

    Nothing is said twice: the server says it for every pair, and sends each text once.
    """
    bare = [each if isinstance(each, str) else each._replace(path=each.path.rstrip("/")) for each in listed]
    paths = [*dict.fromkeys(each for each in bare if isinstance(each, Placed) and each.path)]
    numbers = {placed: number for number, placed in enumerate(paths)}
    tree = Slashes([placed.path for placed in paths])
    added: set[int] = set()
    for each in bare:
        if isinstance(each, str):
            yield each
        elif each.path:
            number = numbers[each]
            yield from (f"{about}: overlapping paths: {each} with {paths[other]}" for other in tree.related(number))
            if number not in added:
                added.add(number)
                tree.add(number)
