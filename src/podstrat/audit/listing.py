"""Pages of a kind's objects, by limit and continue; only GET requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from podstrat.check.cluster import Listed
from podstrat.kubeclient.errors import Expired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podstrat.kubeclient.sync import Client

KINDS = (
    Listed("apps/v1", "deployments", "Deployment", True),
    Listed("batch/v1", "cronjobs", "CronJob", True),
    Listed("apps/v1", "statefulsets", "StatefulSet", True),
    Listed("apps/v1", "daemonsets", "DaemonSet", True),
    Listed("apps/v1", "replicasets", "ReplicaSet", True),
    Listed("v1", "replicationcontrollers", "ReplicationController", True),
    Listed("batch/v1", "jobs", "Job", True),
    Listed("v1", "pods", "Pod", True),
)
"""Controllers come before what they control: by then it is known whether they may be listed."""


class Position(NamedTuple):
    """How far the list of a kind has been read."""

    token: str = ""
    """The continue token of the next page."""
    last: str = ""
    """The key of the last object that was read."""


class Page(NamedTuple):
    """Some objects of a kind, in the order of their keys."""

    items: list[dict[str, Any]]
    position: Position
    """Where the next page begins; without a token this is the last page."""
    remaining: int
    """How many objects follow, as far as the server says."""


def key(obj: dict[str, Any]) -> str:
    """What the server sorts objects of a kind by."""
    metadata = obj["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def pages(
    client: Client, kind: Listed, namespace: str, limit: int, start: Position, restarted: Callable[[], None]
) -> Iterator[Page]:
    """The pages from a position on.

    When the continue token has expired (410) the list is read from its beginning, and objects up to the last one are passed
    over; ``restarted`` is told.
    """
    at = start
    while True:
        following = f"&continue={quote(at.token)}" if at.token else ""
        try:
            answer = client.call("GET", f"{kind.path(namespace)}?limit={limit}{following}")
        except Expired:
            if not at.token:
                raise
            restarted()
            at = at._replace(token="")
            continue
        items = [obj for obj in answer.get("items") or () if key(obj).encode() > at.last.encode()]
        metadata = answer.get("metadata") or {}
        at = Position(metadata.get("continue") or "", key(items[-1]) if items else at.last)
        yield Page(items, at, metadata.get("remainingItemCount") or 0)
        if not at.token:
            return
