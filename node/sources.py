"""The pods of this node and the claims, on the API server: as node.watch wants to list and follow them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import quote, urlencode

from node.api import Api
from node.holdings import Object
from node.watch import Expired, Unavailable

PAGE = 500
"""Objects in one answer."""
LONGEST_WATCH = 300
"""Seconds after which we ask the server to end a watch. It is opened again where it ended."""


class Collection:
    """All objects of a kind, or those that a field selector picks."""

    def __init__(self, api: Api, path: str, selector: str = "", kept: Callable[[Object], Object] = lambda object: object) -> None:
        self.api = api
        self.path = path
        self.selector = selector
        self.kept = kept
        """What of an object is worth remembering."""
        self.heard: float | None = None
        """When the server last said something."""

    async def list(self) -> tuple[list[Object], str]:
        found: list[Object] = []
        following = ""
        while True:
            answer = await self.api.request("GET", self._url(limit=PAGE, **({"continue": following} if following else {})))
            if answer.code == 410 and following:
                raise Expired(answer.text)
            if answer.code == 404:
                return [], "0"  # a server without such objects; should they come, the watch tells of them
            if answer.code != 200:
                raise Unavailable(f"{self.path}: {answer.text}")
            self.heard = self.api.clock.now()
            meta = answer.body.get("metadata") or {}
            found += map(self.kept, answer.body.get("items") or ())
            following = meta.get("continue") or ""
            if not following:
                return found, str(meta.get("resourceVersion") or "")

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


def pods(api: Api, node: str) -> Collection:
    return Collection(api, "/api/v1/pods", f"spec.nodeName={node}", pod_kept)


def claims(api: Api) -> Collection:
    return Collection(api, "/apis/resource.k8s.io/v1/resourceclaims", kept=_claim)


def pod_path(namespace: str, name: str, subresource: str = "") -> str:
    return f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}{f'/{subresource}' if subresource else ''}"


def pod_kept(pod: Object) -> Object:
    """Without what we never look at, which is often the larger half."""
    meta = {key: value for key, value in pod["metadata"].items() if key != "managedFields"}
    return {**pod, "metadata": meta}


def _claim(claim: Object) -> Object:
    """Of claims, which are those of all nodes, only who has what."""
    meta, status = claim["metadata"], claim.get("status") or {}
    kept = {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in meta}
    return {"metadata": kept, "status": {key: status[key] for key in ("allocation", "reservedFor") if key in status}}
