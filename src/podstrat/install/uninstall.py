"""Uninstall in reverse order: the webhook configurations first, then the server."""

from __future__ import annotations

from podstrat.install import install, objects
from podstrat.install.apply import Cluster, Refused
from podstrat.install.install import Patience, Say
from podstrat.install.objects import Object


def uninstall(cluster: Cluster, namespace: str, keep_namespace: bool, patience: Patience, say: Say) -> None:
    """Removes the objects of every overlay; absent objects are skipped."""
    everything = install.possible(cluster, namespace)
    going = [obj for obj in everything if objects.is_configuration(obj) and _delete(cluster, obj, say)]
    # A configuration held by a finalizer is still in force: the server must stay until it is gone.
    patience.until(lambda: _still_there(cluster, going), say)
    *others, last = [obj for obj in everything if not objects.is_configuration(obj)]
    for obj in others:
        _delete(cluster, obj, say)
    # Deleting the namespace deletes everything in it.
    if not keep_namespace and _delete(cluster, last, say):
        patience.until(lambda: _still_there(cluster, [last]), say)


def planned(cluster: Cluster, namespace: str, keep_namespace: bool, say: Say) -> None:
    """Dry run of `uninstall`."""
    for obj in install.possible(cluster, namespace):
        current = cluster.get(objects.path(obj))
        if current is None:
            continue
        stays = not objects.is_ours(current) or (keep_namespace and obj["kind"] == "Namespace")
        say(f"{objects.title(obj)} {'kept' if stays else 'deleted'} (dry run)")


def _delete(cluster: Cluster, obj: Object, say: Say) -> bool:
    """Deletes an object; False if it is absent or not managed by podstrat."""
    current = cluster.get(objects.path(obj))
    if current is None:
        return False
    if not objects.is_ours(current):
        say(f"{objects.title(obj)} is not managed by podstrat: kept")
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
