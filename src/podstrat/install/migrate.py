"""Migration of the generation backport: after the upgrade to 1.33, metadata.generation is the only count.

On servers before 1.33 the count is in an annotation. Since 1.33 the API server maintains metadata.generation, beginning with what
is stored, so that a pod of before has two counts: annotation 5, generation 2. The migration removes the annotations.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from podstrat.install import install
from podstrat.install.apply import Cluster, Refused
from podstrat.install.install import Say
from podstrat.install.objects import Object
from podstrat.strategy.review.edits import BASIS

SINCE = (1, 33)
PAGE = 500  # kubectl's --chunk-size


def migrate(cluster: Cluster, annotation: str, dry_run: bool, say: Say) -> int:
    """Removes the annotations from every pod; how many had them."""
    release = install.release(cluster)
    if release < SINCE:
        major, minor = release
        raise Refused(f"the API server is {major}.{minor}: before 1.33 the annotation {annotation} is the only count")
    names = (annotation, annotation + BASIS)
    count = 0
    for pod in _pods(cluster):
        metadata = pod["metadata"]
        annotations = metadata.get("annotations") or {}
        if not any(name in annotations for name in names):
            continue
        count += 1
        namespace, name = metadata["namespace"], metadata["name"]
        # A pod that is gone by now needs no migration.
        removed = {"metadata": {"annotations": dict.fromkeys(names)}}
        cluster.patch(f"/api/v1/namespaces/{namespace}/pods/{name}", removed, dry_run)
        before, now = annotations.get(annotation, "none"), metadata.get("generation", 0)
        say(f"pod/{name} in {namespace}: annotation {before} removed, generation {now}{' (dry run)' if dry_run else ''}")
    return count


def _pods(cluster: Cluster) -> Iterator[Object]:
    token = ""
    while True:
        page = cluster.get(f"/api/v1/pods?limit={PAGE}" + (f"&continue={quote(token)}" if token else "")) or {}
        yield from page.get("items") or ()
        token = (page.get("metadata") or {}).get("continue") or ""
        if not token:
            return
