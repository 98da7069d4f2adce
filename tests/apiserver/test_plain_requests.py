"""Plain requests: what the short way takes, and that it answers as gunicorn does."""

from __future__ import annotations

import re
import socket
import ssl
import urllib.parse
from contextlib import closing
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http import get_parser, wsgi

from podstrat.apiserver import plain_requests
from podstrat.apiserver.negotiation import BODY_LIMIT
from podstrat.apiserver.plain_requests import PlainRequest
from podstrat.testing.server import Server

PODS = b"/api/v1/namespaces/default/pods"
HOST = b"Host: x\r\n"
READ_BY_THE_API = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE")


def request(line: bytes = b"GET " + PODS + b" HTTP/1.1", headers: bytes = HOST, body: bytes = b"") -> bytes:
    return line + b"\r\n" + headers + b"\r\n" + body


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request(), id="get"),
        pytest.param(request(b"GET " + PODS + b"/a?x=%C3%A9&watch=1&y HTTP/1.1"), id="query"),
        pytest.param(request(headers=b"HOST:x\r\nAccept: \t a/b, */* \r\nX-Empty:\r\nConnection: Keep-Alive\r\n"), id="headers"),
        pytest.param(request(b"POST " + PODS + b" HTTP/1.1", b"Content-Type: a/b\r\nContent-Length: 02\r\n", b"{}"), id="body"),
        pytest.param(request(headers=b"Connection: close\r\nHost: x\r\n"), id="close"),
    ],
)
def test_a_plain_request_is_read_as_gunicorn_reads_it(data: bytes) -> None:
    plain = plain_requests.parse(data)
    assert plain is not None
    theirs: Any = next(get_parser(Config(), iter([data]), ("127.0.0.1", 1)))
    _, environ = wsgi.create(theirs, None, ("127.0.0.1", 1), ("127.0.0.1", 2), Config())

    def read(found: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in found.items() if value and (name.startswith("HTTP_") or name in READ_BY_THE_API)}

    ours = {name: value for name, value in plain.environ.items() if name != "HTTP_CONTENT_TYPE"}
    assert read(ours) == read(environ)
    assert plain.should_close() == theirs.should_close()
    assert data[plain.body_at : plain.end] == theirs.body.read()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request(b"GET /healthz HTTP/1.1"), id="another-path"),
        pytest.param(request(b"GET " + PODS + b"/%61 HTTP/1.1"), id="quoted-path"),
        pytest.param(request(b"GET " + PODS + b"?a#b HTTP/1.1"), id="fragment"),
        pytest.param(request(b"HEAD " + PODS + b" HTTP/1.1"), id="another-method"),
        pytest.param(request(b"GET " + PODS + b" HTTP/1.0"), id="http-1.0"),
        pytest.param(request(headers=HOST + HOST), id="repeated"),
        pytest.param(request(headers=b"A_B: c\r\n"), id="underscore"),
        pytest.param(request(headers=b"A : c\r\n"), id="space-before-colon"),
        pytest.param(request(headers=b"A: b\r\n c\r\n"), id="folded"),
        pytest.param(request(headers=b"A: \x01\r\n"), id="control-character"),
        pytest.param(request(headers=b"Transfer-Encoding: chunked\r\n"), id="chunked"),
        pytest.param(request(headers=b"Expect: 100-continue\r\n"), id="expect"),
        pytest.param(request(headers=b"Connection: Upgrade\r\n"), id="upgrade"),
        pytest.param(request(headers=b"X-Forwarded-Proto: http\r\n"), id="forwarded"),
        pytest.param(request(headers=b"Content-Length: +1\r\n"), id="signed-length"),
        pytest.param(request(headers=b"Content-Length: %d\r\n" % (BODY_LIMIT + 1)), id="too-large"),
        pytest.param(request(headers=b"Content-Length: " + b"9" * 5000 + b"\r\n"), id="absurd-length"),
        pytest.param(request(headers=b"A: " + b"b" * 9000 + b"\r\n"), id="long-head"),
        pytest.param(request(headers=b"".join(b"a%d: b\r\n" % number for number in range(101))), id="many-headers"),
        pytest.param(request()[:-1], id="incomplete"),
    ],
)
def test_what_is_left_to_gunicorn(data: bytes) -> None:
    assert plain_requests.parse(data) is None


class Fed:
    """A socket with the data of a client."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = list(chunks)

    def recv(self, size: int) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""


def parser(*chunks: bytes) -> plain_requests.Parser:
    return plain_requests.Parser(get_parser(Config(), Fed(*chunks), ("127.0.0.1", 1)))


def test_a_body_may_come_in_pieces() -> None:
    line, headers = b"POST " + PODS + b" HTTP/1.1", b"Content-Length: 6\r\n"
    found = next(parser(request(line, headers, b"ab"), b"cd", b"ef"))
    assert isinstance(found, PlainRequest)
    assert found.environ["wsgi.input"].read() == b"abcdef"


@pytest.mark.parametrize("body", [pytest.param(b"ab", id="too-short"), pytest.param(b"abcdGET", id="pipelined")])
def test_a_body_of_another_length_is_left_to_gunicorn(body: bytes) -> None:
    found = next(parser(request(b"POST " + PODS + b" HTTP/1.1", b"Content-Length: 4\r\n", body)))
    assert not isinstance(found, PlainRequest)
    assert found.body.read() == body[:4]


def test_a_closed_connection_ends_the_requests() -> None:
    assert list(parser()) == []


def test_both_ways_answer_the_same() -> None:
    """The first request of a connection is gunicorn's, the second one takes the short way."""
    sent = [
        request(b"GET " + PODS + b"?limit=1 HTTP/1.1"),
        request(b"GET " + PODS + b"/none HTTP/1.1", HOST + b"Accept: application/yaml\r\n"),
        request(b"GET " + PODS + b"?watch=1&timeoutSeconds=1 HTTP/1.1"),
        request(b"POST " + PODS + b" HTTP/1.1", HOST + b"Content-Length: 1\r\n", b"{"),
        request(b"GET " + PODS + b" HTTP/1.1", HOST + b"Connection: close\r\n"),
    ]
    with Server() as server:
        for data in sent:
            assert answer(server.url, data) == answer(server.url, request(), data)


def answer(url: str, *sent: bytes) -> bytes:
    """The last response to some requests on one connection, without its date."""
    address = urllib.parse.urlsplit(url)
    context = ssl._create_unverified_context()
    with closing(context.wrap_socket(socket.create_connection((address.hostname, address.port)))) as connection:
        connection.settimeout(30)
        for data in sent:
            connection.sendall(data)
            received = b""
            while not complete(received):
                received += connection.recv(65536)
    return re.sub(rb"Date: [^\r]*", b"", received)


def complete(received: bytes) -> bool:
    head, found, body = received.partition(b"\r\n\r\n")
    if not found:
        return False
    length = re.search(rb"Content-Length: (\d+)", head)
    return body.endswith(b"0\r\n\r\n") if length is None else len(body) == int(length[1])
