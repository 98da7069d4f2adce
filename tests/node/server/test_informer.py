"""Following objects on the API server, whatever becomes of the connection."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from podstrat.kubeclient.errors import Expired, Unavailable
from podstrat.node.server.informer import Change, changes
from tests.node.fixtures import VirtualClock


def thing(name, version, uid=None):
    return {"metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}}


class Server:
    """A source that does as it is told: each list and each watch is the next one of the script."""

    def __init__(self, *script):
        self.script = list(script)
        self.asked = []

    async def list(self):
        self.asked.append("list")
        return self._next()

    async def watch(self, version):
        self.asked.append(f"watch {version}")
        for event in self._next():
            if isinstance(event, Exception):
                raise event
            yield event

    def _next(self):
        if not self.script:
            raise asyncio.CancelledError
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


async def followed(server):
    """All that comes, until the script is at its end; nobody waits for the pauses."""
    clock, seen = VirtualClock(), []

    async def hurry():
        while True:
            await clock.until_asleep(1)
            clock.advance(100.0)
            await asyncio.sleep(0)

    hurrying = asyncio.ensure_future(hurry())
    try:
        async for change in changes(server, clock, Random(1)):
            meta = change.object.get("metadata", {})
            seen.append((change.kind, *(meta[key] for key in ("name", "resourceVersion") if key in meta)))
    except asyncio.CancelledError:
        pass
    hurrying.cancel()
    await asyncio.wait({hurrying})
    return seen


async def test_a_list_and_what_comes_after_it():
    server = Server(
        ([thing("a", 1), thing("b", 2)], "5"),
        [("ADDED", thing("c", 6)), ("MODIFIED", thing("a", 7)), ("DELETED", thing("b", 8))],
    )
    assert await followed(server) == [
        ("seen", "a", "1"),
        ("seen", "b", "2"),
        ("listed",),
        ("seen", "c", "6"),
        ("seen", "a", "7"),
        ("gone", "b", "8"),
    ]


async def test_a_watch_that_ends_goes_on_where_it_ended():
    bookmark = ("BOOKMARK", {"metadata": {"resourceVersion": "20"}})
    server = Server(
        ([thing("a", 1)], "5"),
        [("MODIFIED", thing("a", 7))],
        Unavailable("down"),
        [bookmark],
        [("MODIFIED", thing("a", 21))],
    )
    assert await followed(server) == [("seen", "a", "1"), ("listed",), ("seen", "a", "7"), ("seen", "a", "21")]
    assert server.asked == ["list", "watch 5", "watch 7", "watch 7", "watch 20", "watch 21"]


@pytest.mark.scenario(96)
async def test_an_expired_watch_is_listed_again_without_telling_anything_twice():
    server = Server(
        ([thing("a", 1), thing("b", 2), thing("c", 3)], "5"),
        [("MODIFIED", thing("a", 7)), Expired("too old")],
        Unavailable("still down"),
        ([thing("a", 7), thing("b", 9), thing("d", 10), thing("c", 11, uid="another")], "12"),
        [("MODIFIED", thing("b", 9)), ("MODIFIED", thing("d", 13))],
    )
    assert await followed(server) == [
        ("seen", "a", "1"),
        ("seen", "b", "2"),
        ("seen", "c", "3"),
        ("listed",),
        ("seen", "a", "7"),
        ("gone", "c", "3"),
        ("seen", "b", "9"),
        ("seen", "d", "10"),
        ("seen", "c", "11"),
        ("listed",),
        ("seen", "d", "13"),
    ]
    assert server.asked == ["list", "watch 5", "list", "list", "watch 12", "watch 13"]


async def test_what_was_never_there_cannot_go():
    assert await followed(Server(([], "5"), [("DELETED", thing("a", 6))])) == [("listed",)]
    assert Change("listed", {}) == ("listed", {})


async def test_a_server_that_ends_each_watch_at_once_is_not_asked_without_a_pause():
    clock, server = VirtualClock(), Server(([], "5"), [], [], [])
    following = changes(server, clock, Random(1))
    assert (await anext(following)).kind == "listed"
    coming = asyncio.ensure_future(anext(following))
    for pause in (1, 2, 3):
        await clock.until_slept(pause)
        clock.advance(100.0)
    with pytest.raises(asyncio.CancelledError):
        await coming
    first, second, third = clock.slept
    assert 0.25 <= first <= 0.5 <= second <= 1.0 <= third <= 2.0
