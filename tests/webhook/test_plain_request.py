"""The requests that API servers send are parsed as gunicorn parses them; every other one is left to gunicorn."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http import get_parser, wsgi

from podstrat.webhook import plain_request
from tests.webhook.child import PATIENCE, Replica, certificates, trusting, until
from tests.webhook.test_slow_clients import BODY

SENT = b"""POST /mutate?timeout=10s HTTP/1.1\r
Host: podstrat-webhook.podstrat-system.svc:443\r
User-Agent: kube-apiserver-admission\r
Content-Length: 2\r
Accept: application/json, */*\r
Content-Type: application/json\r
Accept-Encoding: gzip\r
\r
{}"""


def test_as_gunicorn_parses_it() -> None:
    parsed = plain_request.parse(SENT)
    assert parsed is not None
    ours = parsed.environ(None)
    request = next(get_parser(Config(), iter([SENT]), ("127.0.0.1", 1)))
    _, theirs = wsgi.create(request, None, ("127.0.0.1", 1), ("127.0.0.1", 2), Config())
    assert ours.pop("wsgi.input").read() == theirs["wsgi.input"].read() == b"{}"
    assert ours.pop("gunicorn.socket") is None
    assert ours == {name: theirs[name] for name in ours}
    assert parsed.keep_alive is not request.should_close()


@pytest.mark.parametrize(
    "old, new",
    [
        pytest.param(b"POST", b"GET", id="another-method"),
        pytest.param(b"HTTP/1.1", b"HTTP/1.0", id="an-older-protocol"),
        pytest.param(b"/mutate?", b"/mut\xc3\xa4te?", id="a-path-beyond-ascii"),
        pytest.param(b"Content-Length: 2", b"Content-Length: 2\r\nContent-Length: 2", id="two-lengths"),
        pytest.param(b"Content-Length: 2", b"Content-Length: +2", id="a-length-that-is-no-number"),
        pytest.param(b"Content-Length: 2", b"Content-Length: 02", id="a-length-with-a-zero-in-front"),
        pytest.param(b"Content-Length: 2", b"Content-Length: 1", id="more-than-the-length"),
        pytest.param(b"Content-Length: 2\r\n", b"", id="no-length"),
        pytest.param(b"Content-Length: 2", b"Content-Length: 2\r\nTransfer-Encoding: chunked", id="both-framings"),
        pytest.param(b"Content-Length: 2", b"Content-Length : 2", id="space-before-the-colon"),
        pytest.param(b"Accept:", b" folded\r\nAccept:", id="a-folded-line"),
        pytest.param(b"kube-apiserver", b"kube\x00apiserver", id="a-control-character"),
        pytest.param(b"kube-apiserver", b"kube\napiserver", id="a-bare-line-feed"),
        pytest.param(b"Accept-Encoding: gzip", b"Connection: upgrade", id="another-connection"),
        pytest.param(b"Accept-Encoding: gzip", b"Expect: 100-continue", id="an-expectation"),
        pytest.param(b"Accept-Encoding: gzip", b"X: " + b"a" * plain_request.HEAD_LIMIT, id="a-long-head"),
    ],
)
def test_left_to_gunicorn(old: bytes, new: bytes) -> None:
    assert plain_request.parse(SENT) is not None
    assert SENT.count(old) >= 1
    assert plain_request.parse(SENT.replace(old, new, 1)) is None


@pytest.mark.parametrize("value, kept", [(b"keep-alive", True), (b"Keep-Alive", True), (b"close", False)])
def test_connection(value: bytes, kept: bool) -> None:
    parsed = plain_request.parse(SENT.replace(b"Accept-Encoding: gzip", b"Connection: " + value))
    assert parsed is not None
    assert parsed.keep_alive is kept


def test_response() -> None:
    def application(environ: dict[str, Any], start_response: Any) -> tuple[bytes, ...]:
        start_response("503 Service Unavailable", [("Content-Length", "4"), ("Retry-After", "1")])
        return (b"wa", b"it")

    head, _, body = plain_request.respond(application, {}, False).partition(b"\r\n\r\n")
    first, date, *rest = head.split(b"\r\n")
    assert first == b"HTTP/1.1 503 Service Unavailable"
    assert date.startswith(b"Date: ")
    assert date.endswith(b" GMT")
    assert rest == [b"Connection: close", b"Content-Length: 4", b"Retry-After: 1"]
    assert body == b"wait"


def test_over_a_connection(tmp_path: Path) -> None:
    """Two reviews and a probe, which gunicorn parses, on one connection; it ends when the client asks for that."""
    tls = certificates(tmp_path / "tls")
    with Replica(tmp_path / "replica", cert_dir=tls, workers=1) as replica:
        until(replica.is_ready)
        client = http.client.HTTPSConnection("localhost", replica.port, timeout=PATIENCE, context=trusting(tls / "ca.crt"))
        ports = set()
        for method, path, connection in (
            ("POST", "/mutate", "keep-alive"),
            ("GET", "/livez", "keep-alive"),
            ("POST", "/mutate?timeout=5s", "close"),
        ):
            body = BODY if method == "POST" else None
            client.request(method, path, body, {"Content-Type": "application/json", "Connection": connection})
            ports.add(client.sock.getsockname()[1])
            answer = client.getresponse()
            assert (answer.status, answer.getheader("Connection")) == (200, connection)
            answer.read()
        assert len(ports) == 1
        assert client.sock is None
