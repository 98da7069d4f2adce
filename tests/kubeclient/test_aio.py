"""The asyncio client: whatever can be on the other side of a connection."""

from __future__ import annotations

import asyncio
import json

import pytest

from podstrat.kubeclient import aio
from podstrat.kubeclient.answer import JSON_PATCH
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.errors import Unavailable
from tests.eventually import eventually_async
from tests.kubeclient.raw import CHUNKED, Raw, answer


async def test_requests_share_a_connection() -> None:
    async with Raw(answer(body={"a": 1}), answer(404, {"message": "none", "reason": "NotFound"})) as raw:
        first = await raw.api.request("PATCH", "/x", [{"op": "test"}], JSON_PATCH)
        assert (first.code, first.headers.items(), first.body) == (200, [("Content-Length", "8")], {"a": 1})
        found = await raw.api.request("GET", "/y")
        assert (found.code, found.reason, found.summary) == (404, "NotFound", "none (404)")
        assert raw.connections == 1
        assert raw.asked[0][1] == '[{"op":"test"}]'
        assert "Content-Type: application/json-patch+json" in raw.asked[0][0]


async def test_a_burst_leaves_few_connections_open() -> None:
    async with Raw(*[answer(body={})] * 12) as raw:
        await asyncio.gather(*(raw.api.request("GET", "/") for _ in range(12)))
        assert raw.connections == 12
        await eventually_async(lambda: raw.open == aio.IDLE_CONNECTIONS)


async def test_a_body_in_chunks_and_one_that_ends_with_the_connection() -> None:
    pieces = CHUNKED + b'4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n'
    async with Raw(pieces, b'HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n{"b":2}', keep=False) as raw:
        assert (await raw.api.request("GET", "/")).body == {"a": 1}
        assert (await raw.api.request("GET", "/")).body == {"b": 2}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", id="no-http"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", id="cut-short"),
        pytest.param(b"HTTP/1.1 2", id="cut-in-the-head"),
        pytest.param(b"HTTP/1.1 abc\r\n\r\n", id="no-code"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", id="long-head"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", id="too-long"),
        pytest.param(CHUNKED + b"zz\r\n", id="bad-chunk"),
    ],
)
async def test_what_is_no_answer_is_a_failure(data: bytes) -> None:
    async with Raw(data, keep=False) as raw:
        with pytest.raises(Unavailable):
            await raw.api.request("GET", "/")


async def test_nobody_is_there() -> None:
    api = aio.Client(ClientConfig("http://127.0.0.1:1"))
    with pytest.raises(Unavailable, match="cannot be reached"):
        await api.request("GET", "/")


async def test_an_answer_that_does_not_come() -> None:
    async with Raw(b"") as raw:
        raw.api.timeout = 0.05
        with pytest.raises(Unavailable, match="does not answer in time"):
            await raw.api.request("GET", "/")


async def test_a_watch_tells_line_by_line() -> None:
    events = [{"type": "ADDED", "object": {"n": n, "filling": "x" * 100_000}} for n in range(3)]
    text = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    parts = [text[i : i + 33_333] for i in range(0, len(text), 33_333)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    async with Raw(CHUNKED + body + b"0\r\n\r\n") as raw:
        assert [event async for event in raw.api.watch("/", 10.0)] == events


async def test_a_quiet_watch_is_given_up() -> None:
    async with Raw(CHUNKED) as raw:
        with pytest.raises(Unavailable, match="does not answer in time"):
            [event async for event in raw.api.watch("/", 0.05)]
