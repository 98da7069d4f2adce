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

PAGE = 500  # objects of a page, as kubectl asks for them
MOST = 2000
"""Objects of a resource that are followed: more than a page can show."""
MOST_IN_TIMELINE = 300
"""Events, and decisions, that are kept for the timeline, which shows 200 of both together."""
WATCH_SECONDS = 240
"""The server ends a watch after so long, and it is begun again."""
DECISION_SECONDS = 20
"""How long the server may hold a request for decisions that are still to come; it allows 30."""
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


class ClusterView:
    """What has been seen of a cluster, as entries of a board."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._lock = threading.Lock()
        self._pods: dict[str, entries.Pod] = {}
        self._slices: dict[str, tuple[str, tuple[entries.Device, ...]]] = {}
        self._nodes: dict[str, Object] = {}
        self._tables: dict[str, dict[str, Any]] = {"pods": self._pods, "slices": self._slices, "nodes": self._nodes}

    def put(self, kind: str, obj: Object) -> None:
        """An object that is there, or has changed; not one too many."""
        versions = self._tables.get(kind)
        if versions is not None and len(versions) >= MOST and _key(obj) not in versions:
            return
        getattr(self, f"_put_{kind}")(obj)

    def remove(self, kind: str, obj: Object) -> None:
        getattr(self, f"_remove_{kind}")(obj)

    def replace(self, kind: str, objects: list[Object]) -> None:
        """All objects of a kind: those that are not among them are gone."""
        there = {_key(each) for each in objects}
        for key in [key for key in self._tables.get(kind, ()) if key not in there]:
            namespace, _, name = key.rpartition("/")
            self.remove(kind, {"metadata": {"name": name, "namespace": namespace}})
        for each in objects:
            self.put(kind, each)

    # ---- by kind ---------------------------------------------------------------------------------------

    def _put_pods(self, obj: Object) -> None:
        pod = entries.pod(obj)
        with self._lock:
            before = self._pods.get(pod.key)
            self._pods[pod.key] = pod
        self.board.put(f"pod/{pod.key}", pod.shown)
        if before is None or (before.node, before.over, before.devices) != (pod.node, pod.over, pod.devices):
            self._redraw(pod.node, before.node if before else "")

    def _remove_pods(self, obj: Object) -> None:
        key = _key(obj)
        with self._lock:
            before = self._pods.pop(key, None)
        self.board.remove(f"pod/{key}")
        if before is not None:
            self._redraw(before.node)

    def _put_slices(self, obj: Object) -> None:
        with self._lock:
            before = self._slices.get(_key(obj), ("", ()))
            self._slices[_key(obj)] = after = entries.slice_devices(obj)
        if before != after:
            self._redraw(before[0], after[0])

    def _remove_slices(self, obj: Object) -> None:
        with self._lock:
            before = self._slices.pop(_key(obj), ("", ()))
        self._redraw(before[0])

    def _put_nodes(self, obj: Object) -> None:
        name = obj["metadata"]["name"]
        with self._lock:
            self._nodes[_key(obj)] = {"status": {"conditions": (obj.get("status") or {}).get("conditions")}}
        self._redraw(name)

    def _remove_nodes(self, obj: Object) -> None:
        with self._lock:
            self._nodes.pop(_key(obj), None)
        self._redraw(obj["metadata"]["name"])

    def _put_events(self, obj: Object) -> None:
        self._into_timeline("event", obj["metadata"].get("uid") or _key(obj), entries.event(obj))

    def _remove_events(self, obj: Object) -> None:
        """Events expire; what has happened stays in the timeline."""

    def decisions(self, records: list[Object], last: int) -> None:
        for number, each in enumerate(records, last - len(records) + 1):
            self._into_timeline("decision", str(number), entries.decision(each))

    # ---- the board -------------------------------------------------------------------------------------

    def _redraw(self, *names: str) -> None:
        for name in dict.fromkeys(filter(None, names)):
            with self._lock:
                obj = self._nodes.get(f"/{name}")
                pods = [each for each in self._pods.values() if each.node == name]
                offered = [each for node, devices in self._slices.values() if node == name for each in devices]
                entry = entries.node(name, obj, offered, pods)
                # Put while the lock is held: two threads that redraw the same node may not do it in the other order.
                if obj is None and not pods and not offered:
                    self.board.remove(f"node/{name}")
                else:
                    self.board.put(f"node/{name}", entry)

    def _into_timeline(self, kind: str, key: str, value: Object) -> None:
        self.board.put(f"{kind}/{key}", value)
        for old in self.board.keys(kind)[:-MOST_IN_TIMELINE]:
            self.board.remove(old)

    def source(self, kind: str, state: str, message: str = "") -> None:
        """How it stands with a source: live, waiting for the server, or none there."""
        self.board.put(f"source/{kind}", {"state": state, "message": message})


def _key(obj: Object) -> str:
    return f"{obj['metadata'].get('namespace') or ''}/{obj['metadata']['name']}"


class Follower:
    """Keeps a cluster up to date. ``load`` gives the configuration of the client: it may not be there yet, or change."""

    def __init__(self, cluster: ClusterView, load: Callable[[], ClientConfig]) -> None:
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
        objects, version = _listed(client, resource.path)
        self._cluster.replace(resource.kind, objects)
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
    objects: list[Object] = []
    more = ""
    while True:
        page = client.call("GET", f"{path}?{urlencode({'limit': PAGE, **({'continue': more} if more else {})})}")
        objects += page.get("items") or ()
        more = page["metadata"].get("continue") or ""
        if not more or len(objects) >= MOST:
            return objects[:MOST], page["metadata"].get("resourceVersion") or ""


def _watched(client: Client, path: str, version: str) -> Iterator[Object]:
    """The events of a watch; StatusError for one that says so."""
    query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS, "allowWatchBookmarks": "true"}
    for event in client.watch(f"{path}?{urlencode(query)}"):
        if event["type"] == "ERROR":
            status = event["object"]
            raise StatusError(status.get("code") or 500, status.get("message") or "the watch has failed")
        yield event
