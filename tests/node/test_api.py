"""Talking to the API server: whatever can be on the other side of a connection."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from node import credentials
from node.api import Answer, Api
from node.clock import BootClock
from node.credentials import BadCredentials, Credentials
from node.sources import Collection
from node.watch import Expired, Unavailable


class Raw:
    """A server that answers with these bytes, and remembers what it was asked."""

    def __init__(self, *answers, keep=True):
        self.answers = list(answers)
        self.asked = []
        self.connections = 0
        self.writers = []
        self.keep = keep

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.credentials = Credentials("127.0.0.1", self.server.sockets[0].getsockname()[1])
        self.api = Api(self.credentials, BootClock(), timeout=20.0)
        return self

    async def __aexit__(self, *_):
        await self.api.close()
        self.server.close()
        for writer in self.writers:
            writer.transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    async def _serve(self, reader, writer):
        self.connections += 1
        self.writers.append(writer)
        try:
            while self.answers:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: ")), 0)
                self.asked.append((head, (await reader.readexactly(length)).decode()))
                answer = self.answers.pop(0)
                writer.write(answer(head) if callable(answer) else answer)
                await writer.drain()
                if not self.keep:
                    return
            await reader.read()
        except (EOFError, ConnectionError):
            pass
        finally:
            writer.close()


def answer(code=200, body=None, headers=""):
    data = json.dumps(body).encode()
    return f"HTTP/1.1 {code} X\r\nContent-Length: {len(data)}\r\n{headers}\r\n".encode() + data


async def test_requests_share_a_connection():
    async with Raw(answer(body={"a": 1}), answer(404, {"message": "none", "reason": "NotFound"})) as raw:
        assert await raw.api.request("PATCH", "/x", [{"op": "test"}], "application/json-patch+json") == Answer(
            200, {"content-length": "8"}, {"a": 1}
        )
        found = await raw.api.request("GET", "/y")
        assert (found.code, found.reason, found.text) == (404, "NotFound", "none (404)")
        assert raw.connections == 1
        assert raw.asked[0][1] == '[{"op":"test"}]'
        assert "Content-Type: application/json-patch+json" in raw.asked[0][0]


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def test_a_body_in_chunks_and_one_that_ends_with_the_connection():
    pieces = CHUNKED + b'4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n'
    async with Raw(pieces, b'HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n{"b":2}', keep=False) as raw:
        assert (await raw.api.request("GET", "/")).body == {"a": 1}
        assert (await raw.api.request("GET", "/")).body == {"b": 2}


@pytest.mark.parametrize(
    "bytes",
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
async def test_what_is_no_answer_is_a_failure(bytes):
    async with Raw(bytes, keep=False) as raw:
        with pytest.raises(Unavailable):
            await raw.api.request("GET", "/")


async def test_nobody_is_there():
    api = Api(Credentials("127.0.0.1", 1), BootClock())
    with pytest.raises(Unavailable, match="cannot be reached"):
        await api.request("GET", "/")


async def test_an_answer_that_does_not_come():
    async with Raw(b"") as raw:
        raw.api.timeout = 0.05
        with pytest.raises(Unavailable, match="does not answer in time"):
            await raw.api.request("GET", "/")


@pytest.mark.scenario(98)
async def test_a_token_that_was_replaced_is_read_again(tmp_path):
    token = tmp_path / "token"
    token.write_text("old\n")

    def judge(head):
        good = "Authorization: Bearer new\r\n" in head
        return answer(body={"ok": True}) if good else answer(401, {"reason": "Unauthorized", "message": "no"})

    async with Raw(judge, judge, judge, judge) as raw:
        raw.credentials.token_file = token
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
    async with Raw(answer(401, {"message": "no"}), CHUNKED + b"0\r\n\r\n", keep=False) as raw:
        raw.credentials.token_file = token
        raw.credentials.bearer(raw.api.clock.now())
        token.write_text("new")
        with pytest.raises(Unavailable):
            [each async for each in raw.api.watch("/", 10.0)]
        assert [each async for each in raw.api.watch("/", 10.0)] == []
        assert ["Bearer old" in head for head, _ in raw.asked] == [True, False]


async def test_a_watch_tells_line_by_line():
    events = [{"type": "ADDED", "object": {"n": n, "filling": "x" * 100_000}} for n in range(3)]
    text = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    parts = [text[i : i + 33_333] for i in range(0, len(text), 33_333)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    async with Raw(CHUNKED + body + b"0\r\n\r\n") as raw:
        assert [event async for event in raw.api.watch("/", 10.0)] == events


async def test_a_quiet_watch_is_given_up():
    async with Raw(CHUNKED) as raw:
        with pytest.raises(Unavailable, match="does not answer in time"):
            [event async for event in raw.api.watch("/", 0.05)]


async def test_a_list_in_pages_and_a_server_without_such_objects():
    first = {"metadata": {"continue": "next", "resourceVersion": "5"}, "items": [{"n": 1}]}
    second = {"metadata": {"resourceVersion": "5"}, "items": [{"n": 2}]}
    async with Raw(answer(body=first), answer(body=second), answer(404, {}), answer(500, {}), answer(410, {})) as raw:
        things = Collection(raw.api, "/things")
        assert await things.list() == ([{"n": 1}, {"n": 2}], "5")
        assert "continue=next" in raw.asked[1][0]
        assert await things.list() == ([], "0")
        with pytest.raises(Unavailable):
            await things.list()


async def test_an_expired_watch_says_so_either_way():
    event = json.dumps({"type": "ERROR", "object": {"code": 410, "message": "too old"}}).encode() + b"\n"
    async with Raw(answer(410, {}), CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(event), event), keep=False) as raw:
        for _ in range(2):
            with pytest.raises(Expired):
                [each async for each in Collection(raw.api, "/things").watch("1")]


def kubeconfig(path, user=None, **cluster):
    cluster = {"server": "http://10.0.0.1:8080/prefix/", **cluster}
    config = {
        "current-context": "b",
        "contexts": [{"name": "a", "context": {}}, {"name": "b", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {}}],
    }
    path.write_text(json.dumps(config))
    return path


def test_a_kubeconfig(tmp_path):
    found = credentials.load(kubeconfig(tmp_path / "config", {"token": "t"}), {})
    assert (found.host, found.port, found.prefix, found.tls, found.bearer(0.0)) == ("10.0.0.1", 8080, "/prefix", None, "t")
    (tmp_path / "token").write_text("from a file\n")
    found = credentials.load(kubeconfig(tmp_path / "config", {"tokenFile": "token"}), {})
    assert found.bearer(0.0) == "from a file"
    assert credentials.load(None, {"KUBECONFIG": str(tmp_path / "config")}).host == "10.0.0.1"


@pytest.mark.parametrize(
    "content, text",
    [
        pytest.param("a: [", "is no YAML", id="no-yaml"),
        pytest.param("[]", "is no kubeconfig", id="a-list"),
        pytest.param("contexts: []", "is no kubeconfig|list index", id="no-contexts"),
        pytest.param('{"current-context": "x"}', "contexts has no 'x'", id="unknown-context"),
    ],
)
def test_a_bad_kubeconfig(tmp_path, content, text):
    (tmp_path / "config").write_text(content)
    with pytest.raises(BadCredentials, match=text):
        credentials.load(tmp_path / "config", {})


def test_ways_to_authenticate_that_are_not_ours(tmp_path):
    with pytest.raises(BadCredentials, match="the user u has exec"):
        credentials.load(kubeconfig(tmp_path / "config", {"exec": {"command": "aws"}}), {})


def test_in_a_pod(tmp_path, api_server):
    config = json.loads(api_server.kubeconfig.read_text())
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])
    (tmp_path / "ca.crt").write_bytes(authority)
    (tmp_path / "token").write_text("mine")
    environ = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    found = credentials.load(None, environ, tmp_path)
    assert (found.address, found.bearer(0.0)) == ("https://10.96.0.1:443", "mine")
