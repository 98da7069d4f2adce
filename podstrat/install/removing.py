"""Uninstalling, the other way round: first nobody calls us any more, then the server goes."""

from __future__ import annotations

from podstrat.install import installing, objects
from podstrat.install.cluster import Cluster, Refused
from podstrat.install.installing import Patience, Say
from podstrat.install.objects import Object


def uninstall(cluster: Cluster, namespace: str, keep_namespace: bool, patience: Patience, say: Say) -> None:
    """All that any overlay may have brought. Whatever is gone already is passed over."""
    everything = installing.possible(cluster, namespace)
    going = [obj for obj in everything if objects.is_configuration(obj) and _delete(cluster, obj, say)]
    # A configuration that somebody's finalizer holds is still in force: the server stays until it is gone.
    patience.until(lambda: _still_there(cluster, going), say)
    *others, last = [obj for obj in everything if not objects.is_configuration(obj)]
    for obj in others:
        _delete(cluster, obj, say)
    # The namespace takes along whatever else is in it.
    if not keep_namespace and _delete(cluster, last, say):
        patience.until(lambda: _still_there(cluster, [last]), say)


def planned(cluster: Cluster, namespace: str, keep_namespace: bool, say: Say) -> None:
    """What `uninstall` would do; nothing is changed."""
    for obj in installing.possible(cluster, namespace):
        found = cluster.get(objects.path(obj))
        if found is None:
            continue
        stays = not objects.is_ours(found) or (keep_namespace and obj["kind"] == "Namespace")
        say(f"{objects.title(obj)} {'stays' if stays else 'deleted'} (dry run)")


def _delete(cluster: Cluster, obj: Object, say: Say) -> bool:
    """Whether it was there, and ours to delete."""
    found = cluster.get(objects.path(obj))
    if found is None:
        return False
    if not objects.is_ours(found):
        say(f"{objects.title(obj)} is somebody else's, and stays")
        return False
    try:
        cluster.delete(obj)
    except Refused as refused:
        # 409: it is being deleted already.
        if refused.code != 409:
            raise
    say(f"{objects.title(obj)} deleted")
    return True


def _still_there(cluster: Cluster, going: list[Object]) -> str | None:
    for obj in going:
        if cluster.get(objects.path(obj)) is not None:
            return f"{objects.title(obj)} is still being deleted"
    return None
