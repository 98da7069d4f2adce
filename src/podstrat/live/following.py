"""Following a cluster: a thread for each resource lists and watches it, and another asks for the decisions of webhooks.

What cannot be reached is shown as such on the board, and tried again. Threads are daemons: they end with the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.errors import ConfigError, StatusError, Unavailable
from podstrat.kubeclient.sync import Client
from podstrat.live import entries
from podstrat.live.board import Board

Object = dict[str, Any]

PAGE = 500
MOST = 2000
"""Objects of a resource that are followed: more than a page can show."""
MOST_IN_TIMELINE = 300
WATCH_SECONDS = 240
"""The server ends a watch after so long, and it is begun again."""
DECISION_SECONDS = 20
PATIENCE = 300.0
"""Seconds without a byte after which a connection is given up; longer than a watch."""
RETRY, LATER = 1.0, 30.0
"""Seconds until the next try: of what failed, and of what the server does not have or does not allow."""
DECISIONS = "/podstrat/webhook-decisions"
LIVE, WAITING, NONE = "live", "waiting", "none"


class Resource(NamedTuple):
    kind: str
    path: str


RESOURCES = (
    Resource("pods", "/api/v1/pods"),
    Resource("events", "/api/v1/events"),
    Resource("nodes", "/api/v1/nodes"),
    Resource("slices", "/apis/resource.k8s.io/v1/resourceslices"),
)


class Cluster:
    """What has been seen of a cluster, as entries of a board."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._lock = threading.Lock()
        self._pods: dict[str, entries.Pod] = {}
        self._slices: dict[str, tuple[str, tuple[entries.Device, ...]]] = {}
        self._nodes: dict[str, Object] = {}
        self._known: dict[str, dict[str, Any]] = {"pods": self._pods, "slices": self._slices, "nodes": self._nodes}

    def put(self, kind: str, found: Object) -> None:
        """An object that is there, or has changed; not one too many."""
        known = self._known.get(kind)
        if known is not None and len(known) >= MOST and _key(found) not in known:
            return
        getattr(self, f"_put_{kind}")(found)

    def remove(self, kind: str, found: Object) -> None:
        getattr(self, f"_remove_{kind}")(found)

    def replace(self, kind: str, found: list[Object]) -> None:
        """All objects of a kind: those that are not among them are gone."""
        there = {_key(each) for each in found}
        for key in [key for key in self._known.get(kind, ()) if key not in there]:
            namespace, _, name = key.rpartition("/")
            self.remove(kind, {"metadata": {"name": name, "namespace": namespace}})
        for each in found:
            self.put(kind, each)

    # ---- by kind ---------------------------------------------------------------------------------------

    def _put_pods(self, found: Object) -> None:
        made = entries.pod(found)
        with self._lock:
            before = self._pods.get(made.key)
            self._pods[made.key] = made
        self.board.put(f"pod/{made.key}", made.shown)
        if before is None or (before.node, before.over, before.devices) != (made.node, made.over, made.devices):
            self._redraw(made.node, before.node if before else "")

    def _remove_pods(self, found: Object) -> None:
        key = _key(found)
        with self._lock:
            before = self._pods.pop(key, None)
        self.board.remove(f"pod/{key}")
        if before is not None:
            self._redraw(before.node)

    def _put_slices(self, found: Object) -> None:
        with self._lock:
            before = self._slices.get(_key(found), ("", ()))
            self._slices[_key(found)] = after = entries.slice_devices(found)
        if before != after:
            self._redraw(before[0], after[0])

    def _remove_slices(self, found: Object) -> None:
        with self._lock:
            before = self._slices.pop(_key(found), ("", ()))
        self._redraw(before[0])

    def _put_nodes(self, found: Object) -> None:
        name = found["metadata"]["name"]
        with self._lock:
            self._nodes[_key(found)] = {"status": {"conditions": (found.get("status") or {}).get("conditions")}}
        self._redraw(name)

    def _remove_nodes(self, found: Object) -> None:
        with self._lock:
            self._nodes.pop(_key(found), None)
        self._redraw(found["metadata"]["name"])

    def _put_events(self, found: Object) -> None:
        self._into_timeline("event", found["metadata"].get("uid") or _key(found), entries.event(found))

    def _remove_events(self, found: Object) -> None:
        """Events expire; what has happened stays in the timeline."""

    def decisions(self, found: list[Object], last: int) -> None:
        for number, each in enumerate(found, last - len(found) + 1):
            self._into_timeline("decision", str(number), entries.decision(each))

    # ---- the board -------------------------------------------------------------------------------------

    def _redraw(self, *names: str) -> None:
        for name in dict.fromkeys(filter(None, names)):
            with self._lock:
                found = self._nodes.get(f"/{name}")
                pods = [each for each in self._pods.values() if each.node == name]
                offered = [each for node, devices in self._slices.values() if node == name for each in devices]
                made = entries.node(name, found, offered, pods)
                # Put while the lock is held: two threads that redraw the same node may not do it in the other order.
                if found is None and not pods and not offered:
                    self.board.remove(f"node/{name}")
                else:
                    self.board.put(f"node/{name}", made)

    def _into_timeline(self, kind: str, key: str, value: Object) -> None:
        self.board.put(f"{kind}/{key}", value)
        for old in self.board.keys(kind)[:-MOST_IN_TIMELINE]:
            self.board.remove(old)

    def source(self, kind: str, state: str, message: str = "") -> None:
        """How it stands with a source: live, waiting for the server, or none there."""
        self.board.put(f"source/{kind}", {"state": state, "message": message})


def _key(found: Object) -> str:
    return f"{found['metadata'].get('namespace') or ''}/{found['metadata']['name']}"


class Follower:
    """Keeps a cluster up to date. ``load`` gives the configuration of the client: it may not be there yet, or change."""

    def __init__(self, cluster: Cluster, load: Callable[[], ClientConfig]) -> None:
        self._cluster = cluster
        self._load = load
        self.stopping = threading.Event()

    def start(self) -> None:
        for resource in RESOURCES:
            self._run(resource.kind, lambda client, resource=resource: self._follow(client, resource))  # type: ignore[misc]
        self._run("decisions", self._follow_decisions)

    def _run(self, kind: str, follow: Callable[[Client], None]) -> None:
        self._cluster.source(kind, WAITING)
        threading.Thread(target=self._again_and_again, args=(kind, follow), name=f"follow-{kind}", daemon=True).start()

    def _again_and_again(self, kind: str, follow: Callable[[Client], None]) -> None:
        while not self.stopping.is_set():
            pause = 0.0
            try:
                with Client(self._load(), PATIENCE) as client:
                    follow(client)
            except StatusError as error:
                absent = error.code in (401, 403, 404)
                if error.code != 410:  # too old: listed anew, at once
                    pause = LATER if absent else RETRY
                    self._cluster.source(kind, NONE if absent else WAITING, error.message)
            except (Unavailable, ConfigError, OSError) as error:
                pause = RETRY
                self._cluster.source(kind, WAITING, str(error))
            except Exception as error:  # a bug of ours, or no API server: the page says so, and the other sources go on
                pause = LATER
                self._cluster.source(kind, WAITING, f"{type(error).__name__}: {error}")
            self.stopping.wait(pause)

    def _follow(self, client: Client, resource: Resource) -> None:
        """Lists, then watches for as long as the server lets it."""
        found, version = _listed(client, resource.path)
        self._cluster.replace(resource.kind, found)
        self._cluster.source(resource.kind, LIVE)
        while not self.stopping.is_set():
            began = time.monotonic()
            for event in _watched(client, resource.path, version):
                version = event["object"]["metadata"].get("resourceVersion") or version
                if event["type"] in ("ADDED", "MODIFIED"):
                    self._cluster.put(resource.kind, event["object"])
                elif event["type"] == "DELETED":
                    self._cluster.remove(resource.kind, event["object"])
            if time.monotonic() - began < RETRY:
                self.stopping.wait(RETRY)  # a server that ends watches at once is not asked without a pause

    def _follow_decisions(self, client: Client) -> None:
        """Only the embedded server tells them."""
        last, seconds = 0, 0  # what there is comes at once, what comes later is waited for
        while not self.stopping.is_set():
            answer = client.call("GET", f"{DECISIONS}?{urlencode({'after': last, 'timeoutSeconds': seconds})}")
            self._cluster.decisions(answer["items"], answer["last"])
            self._cluster.source("decisions", LIVE)
            if answer["last"] < last:
                self.stopping.wait(RETRY)  # it has been started anew
            last, seconds = answer["last"], DECISION_SECONDS


def _listed(client: Client, path: str) -> tuple[list[Object], str]:
    """The objects of a resource, in pages, and the version that a watch begins with."""
    found: list[Object] = []
    more = ""
    while True:
        page = client.call("GET", f"{path}?{urlencode({'limit': PAGE, **({'continue': more} if more else {})})}")
        found += page.get("items") or ()
        more = page["metadata"].get("continue") or ""
        if not more or len(found) >= MOST:
            return found[:MOST], page["metadata"].get("resourceVersion") or ""


def _watched(client: Client, path: str, version: str) -> Iterator[Object]:
    """The events of a watch; StatusError for one that says so."""
    asked = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS, "allowWatchBookmarks": "true"}
    for event in client.watch(f"{path}?{urlencode(asked)}"):
        if event["type"] == "ERROR":
            status = event["object"]
            raise StatusError(status.get("code") or 500, status.get("message") or "the watch has failed")
        yield event
