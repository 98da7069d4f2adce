"""Following a list of objects on the API server: list once, watch from there, and go on where the watch ended.

How to list and to watch is the Source's business: nothing here talks to a server.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from random import Random
from typing import Literal, NamedTuple, Protocol

from node.backoff import Backoff
from node.clock import Clock
from node.holdings import Object


class Expired(Exception):
    """The server does not remember that far back (410): list again."""


class Unavailable(Exception):
    """The server cannot be asked now. The text says why."""


class Source(Protocol):
    async def list(self) -> tuple[list[Object], str]:
        """All objects, and the resourceVersion of the list."""
        ...

    def watch(self, version: str) -> AsyncGenerator[tuple[str, Object], None]:
        """ADDED, MODIFIED, DELETED and BOOKMARK, with their objects, since a version; ends when the server ends it."""
        ...


class Change(NamedTuple):
    """`seen`: the object is so now. `gone`: it was so last. `listed`: all there are have been told; the object is empty."""

    kind: Literal["seen", "gone", "listed"]
    object: Object


async def changes(
    source: Source, clock: Clock, random: Random, note: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Change, None]:
    """What changes, each thing once, whatever becomes of the connection. A trouble is noted once for as long as it lasts."""
    noted = ""
    backoff = Backoff(0.5, 30.0, random)
    known: dict[str, Object] = {}
    version = ""
    while True:
        try:
            if not version:
                objects, version = await source.list()
                for change in _relisted(known, objects):
                    yield change
                yield Change("listed", {})
            async with aclosing(source.watch(version)) as events:
                async for kind, object in events:
                    backoff.reset()
                    noted = ""
                    version = object["metadata"]["resourceVersion"]
                    if (taken := _taken(known, kind, object)) is not None:
                        yield taken
        except Expired:
            version = ""
        except Unavailable as why:
            if str(why) != noted:
                noted = str(why)
                note(noted)
        # Also after a watch that ended well, lest a server that ends each at once be asked without a pause.
        await clock.sleep(backoff.next())


def _relisted(known: dict[str, Object], objects: list[Object]) -> list[Change]:
    """What a list says otherwise than what was known. What has gone comes first: others may have its name."""
    now = {object["metadata"]["uid"]: object for object in objects}
    gone = [Change("gone", known.pop(uid)) for uid in known.keys() - now.keys()]
    return [*gone, *(change for object in objects if (change := _taken(known, "ADDED", object)))]


def _taken(known: dict[str, Object], kind: str, object: Object) -> Change | None:
    uid = object["metadata"].get("uid", "")
    if kind == "BOOKMARK":
        return None
    if kind == "DELETED":
        return Change("gone", object) if known.pop(uid, None) is not None else None
    before = known.get(uid)
    known[uid] = object
    if before is not None and before["metadata"]["resourceVersion"] == object["metadata"]["resourceVersion"]:
        return None
    return Change("seen", object)
