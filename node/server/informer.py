"""Informer: lists a collection once, watches from there, resumes after disconnects and relists after a 410.

collection = Collection(api, "/api/v1/pods", "spec.nodeName=node-1")
async for change in informer.changes(collection, clock, random):
    ...
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from random import Random
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import urlencode

from podstrat.kubeclient.errors import Expired, Unavailable
from podstrat.node.model import Object
from podstrat.node.runtime.backoff import Backoff
from podstrat.node.runtime.clock import Clock
from podstrat.node.server.client import ApiClient

PAGE = 500
"""Objects in one page of a list, as client-go's reflectors ask for."""
LONGEST_WATCH = 300
"""Seconds after which the server is asked to end a watch, so that a dead connection is noticed; client-go: 5 to 10 minutes."""


class Source(Protocol):
    async def list(self) -> tuple[list[Object], str]:
        """All objects, and the resourceVersion of the list."""
        ...

    def watch(self, version: str) -> AsyncGenerator[tuple[str, Object], None]:
        """ADDED, MODIFIED, DELETED and BOOKMARK, with their objects, since a version; ends when the server ends it."""
        ...


class Change(NamedTuple):
    """`seen`: added or modified. `gone`: deleted, with its last state. `listed`: the first list is complete; no object."""

    kind: Literal["seen", "gone", "listed"]
    object: Object


async def changes(
    source: Source, clock: Clock, random: Random, note: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Change, None]:
    """Changes, each once, across reconnects. An error is logged once for as long as it lasts."""
    noted = ""
    backoff = Backoff(0.5, 30.0, random)
    cache: dict[str, Object] = {}
    version = ""
    while True:
        try:
            if not version:
                objects, version = await source.list()
                for change in _relisted(cache, objects):
                    yield change
                yield Change("listed", {})
            async with aclosing(source.watch(version)) as events:
                async for kind, object in events:
                    backoff.reset()
                    noted = ""
                    version = object["metadata"]["resourceVersion"]
                    if (news := _taken(cache, kind, object)) is not None:
                        yield news
        except Expired:
            version = ""
        except Unavailable as why:
            if str(why) != noted:
                noted = str(why)
                note(noted)
        # Also after a watch that ended normally: a server that ends every watch at once must not be hammered.
        await clock.sleep(backoff.next())


def _relisted(cache: dict[str, Object], objects: list[Object]) -> list[Change]:
    """The difference between a list and what was known. Deletions first: a new object may have the same name."""
    now = {object["metadata"]["uid"]: object for object in objects}
    gone = [Change("gone", cache.pop(uid)) for uid in cache.keys() - now.keys()]
    return [*gone, *(change for object in objects if (change := _taken(cache, "ADDED", object)))]


def _taken(cache: dict[str, Object], kind: str, object: Object) -> Change | None:
    uid = object["metadata"].get("uid", "")
    if kind == "BOOKMARK":
        return None
    if kind == "DELETED":
        return Change("gone", object) if cache.pop(uid, None) is not None else None
    before = cache.get(uid)
    cache[uid] = object
    if before is not None and before["metadata"]["resourceVersion"] == object["metadata"]["resourceVersion"]:
        return None
    return Change("seen", object)


class Collection:
    """A resource on the API server, optionally restricted by a field selector."""

    def __init__(
        self, api: ApiClient, path: str, selector: str = "", kept: Callable[[Object], Object] = lambda object: object
    ) -> None:
        self.api = api
        self.path = path
        self.selector = selector
        self.kept = kept
        """Trims an object to the fields that are used."""
        self.heard: float | None = None
        """Time of the last response or watch event."""

    async def list(self) -> tuple[list[Object], str]:
        objects: list[Object] = []
        following = ""
        while True:
            answer = await self.api.request("GET", self._url(limit=PAGE, **({"continue": following} if following else {})))
            if answer.code == 410 and following:
                raise Expired(answer.summary)
            if answer.code == 404:
                return [], "0"  # the resource is not served; the watch reports it if it is added later
            if answer.code != 200:
                raise Unavailable(f"{self.path}: {answer.summary}")
            self.heard = self.api.clock.now()
            meta = answer.body.get("metadata") or {}
            objects += map(self.kept, answer.body.get("items") or ())
            following = meta.get("continue") or ""
            if not following:
                return objects, str(meta.get("resourceVersion") or "")

    async def watch(self, version: str) -> AsyncGenerator[tuple[str, Object], None]:
        url = self._url(watch="1", resourceVersion=version, allowWatchBookmarks="true", timeoutSeconds=LONGEST_WATCH)
        async with aclosing(self.api.watch(url, LONGEST_WATCH + 30.0)) as events:
            async for event in events:
                self.heard = self.api.clock.now()
                object: dict[str, Any] = event.get("object") or {}
                if event.get("type") == "ERROR":
                    if object.get("code") == 410:
                        raise Expired(str(object.get("message")))
                    raise Unavailable(f"{self.path}: {object.get('message')}")
                yield str(event.get("type")), object if event.get("type") == "BOOKMARK" else self.kept(object)

    def _url(self, **query: Any) -> str:
        if self.selector:
            query["fieldSelector"] = self.selector
        return f"{self.path}?{urlencode(query)}"
