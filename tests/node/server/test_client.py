"""The node writer and the API server: tokens that are replaced, lists in pages, watches that expire."""

from __future__ import annotations

import json

import pytest

from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import TokenFile
from podstrat.kubeclient.errors import Expired, Unavailable
from podstrat.node.runtime.clock import BootClock
from podstrat.node.server.client import ApiClient
from podstrat.node.server.informer import Collection
from tests.kubeclient.raw import CHUNKED, Raw, answer


def timed(config: ClientConfig) -> ApiClient:
    return ApiClient(config, BootClock(), timeout=20.0)


@pytest.mark.scenario(98)
async def test_a_token_that_was_replaced_is_read_again(tmp_path):
    token = tmp_path / "token"
    token.write_text("old\n")

    def judge(head):
        good = "Authorization: Bearer new\r\n" in head
        return answer(body={"ok": True}) if good else answer(401, {"reason": "Unauthorized", "message": "no"})

    async with Raw(judge, judge, judge, judge, credentials=TokenFile(token)) as raw:
        assert (await raw.api.request("GET", "/")).code == 401  # there is no newer one yet
        token.write_text("new\n")
        assert (await raw.api.request("GET", "/")).code == 200
        assert len(raw.asked) == 3
        token.unlink()
        assert (await raw.api.request("GET", "/")).code == 200  # what was read stays good


@pytest.mark.scenario(98)
async def test_a_watch_with_an_old_token_reads_the_new_one(tmp_path):
    token = tmp_path / "token"
    token.write_text("old")
    credentials = TokenFile(token)
    credentials.current()
    token.write_text("new")
    async with Raw(answer(401, {"message": "no"}), CHUNKED + b"0\r\n\r\n", keep=False, credentials=credentials) as raw:
        with pytest.raises(Unavailable):
            [each async for each in raw.api.watch("/", 10.0)]
        assert [each async for each in raw.api.watch("/", 10.0)] == []
        assert ["Bearer old" in head for head, _ in raw.asked] == [True, False]


async def test_a_list_in_pages_and_a_server_without_such_objects():
    first = {"metadata": {"continue": "next", "resourceVersion": "5"}, "items": [{"n": 1}]}
    second = {"metadata": {"resourceVersion": "5"}, "items": [{"n": 2}]}
    async with Raw(
        answer(body=first), answer(body=second), answer(404, {}), answer(500, {}), answer(410, {}), client=timed
    ) as raw:
        things = Collection(raw.api, "/things")
        assert await things.list() == ([{"n": 1}, {"n": 2}], "5")
        assert "continue=next" in raw.asked[1][0]
        assert await things.list() == ([], "0")
        with pytest.raises(Unavailable):
            await things.list()


async def test_an_expired_watch_says_so_either_way():
    event = json.dumps({"type": "ERROR", "object": {"code": 410, "message": "too old"}}).encode() + b"\n"
    async with Raw(answer(410, {}), CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(event), event), keep=False, client=timed) as raw:
        for _ in range(2):
            with pytest.raises(Expired):
                [each async for each in Collection(raw.api, "/things").watch("1")]
