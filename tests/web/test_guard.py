"""Who is answered: the browser that was given the start URL, and nobody else. Over real sockets."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from podstrat import exits
from podstrat.web import server as pages
from podstrat.web.assets import Asset
from podstrat.web.guard import HEADERS
from podstrat.web.server import PageServer, Site

PAGE = Asset("text/html; charset=utf-8", b"<p>page</p>")


def echo(asked: object) -> object:
    if asked == "wrong":
        raise exits.BadArguments("that is <b>wrong</b>")
    if asked == "bug":
        raise KeyError("bug")
    return {"asked": asked}


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(Site({"/": PAGE}, {"/api/echo": echo}, {"/api/live": lambda: iter([{"n": "\u202e\n\n"}, None])})) as made:
        yield made


class Visitor:
    """One who talks to the server, with the cookie once it has one."""

    def __init__(self, server: PageServer) -> None:
        self.server = server
        self.host = f"127.0.0.1:{server.server_port}"
        self.cookie = ""

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=30)
        sent = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {name: value for name, value in sent.items() if value != "-"})
        answer = connection.getresponse()
        made = answer.status, answer.headers, answer.read()
        connection.close()
        return made

    def post(self, body: object, **headers: str) -> tuple[int, object]:
        sent = {"Origin": f"http://{self.host}", "Content_Type": "application/json", **headers}
        code, _, text = self.ask("POST", "/api/echo", json.dumps(body).encode(), **sent)
        return code, json.loads(text)


@pytest.fixture
def stranger(server: PageServer) -> Visitor:
    return Visitor(server)


@pytest.fixture
def visitor(server: PageServer) -> Visitor:
    return admitted(server)


def admitted(server: PageServer) -> Visitor:
    made = Visitor(server)
    url = urlsplit(server.url)
    _, headers, _ = made.ask("GET", f"{url.path}?{url.query}")
    made.cookie = headers["Set-Cookie"].partition(";")[0]
    return made


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(server: PageServer, stranger: Visitor) -> None:
    url = urlsplit(server.url)
    code, headers, _ = stranger.ask("GET", f"{url.path}?{url.query}")
    assert (code, headers["Location"]) == (303, "/")
    assert headers["Set-Cookie"].partition("; ")[2] == "Path=/; HttpOnly; SameSite=Strict"
    assert url.query.partition("=")[2] not in headers["Set-Cookie"]


def test_with_the_cookie_the_page_and_its_questions_are_answered(visitor: Visitor) -> None:
    assert visitor.ask("GET", "/")[2] == PAGE.body
    assert visitor.post({"a": 1}) == (200, {"asked": {"a": 1}})
    assert visitor.ask("GET", "/api/live")[2] == b'data: {"n":"\\u202e\\n\\n"}\n\n: alive\n\n'


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%ff", "/api/live", "/base.css"])
def test_without_the_token_nothing_is_served(stranger: Visitor, path: str) -> None:
    code, headers, text = stranger.ask("GET", path)
    assert (code, "Set-Cookie" in headers) == (403, False)
    assert b"<p>" not in text


def test_without_the_token_no_question_is_answered(stranger: Visitor) -> None:
    assert stranger.post({})[0] == 403
    stranger.cookie = f"podstrat-{stranger.server.server_port}=guess"
    assert stranger.post({})[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""])
def test_another_host_is_refused_even_with_the_cookie(visitor: Visitor, host: str) -> None:
    assert visitor.ask("GET", "/", Host=host.format(port=visitor.server.server_port))[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://localhost:{port}", "-"])
def test_a_question_of_another_origin_is_refused(visitor: Visitor, origin: str) -> None:
    assert visitor.post({}, Origin=origin.format(port=visitor.server.server_port))[0] == 403


def test_what_another_site_fetches_is_refused(visitor: Visitor) -> None:
    assert visitor.ask("GET", "/api/live", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403
    assert visitor.ask("GET", "/", Sec_Fetch_Site="same-origin", Sec_Fetch_Mode="no-cors")[0] == 200


@pytest.mark.parametrize(
    "method, path", [("GET", "/"), ("GET", "/nothing"), ("POST", "/"), ("DELETE", "/"), ("OPTIONS", "/api/echo")]
)
def test_every_answer_has_the_headers(visitor: Visitor, stranger: Visitor, method: str, path: str) -> None:
    for each in (visitor, stranger):
        headers = each.ask(method, path)[1]
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert "Access-Control-Allow-Origin" not in headers
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize(
    "body, headers, code",
    [
        pytest.param(b"{}", {"Content_Type": "text/plain"}, 415, id="what a form of another site could send"),
        pytest.param(b"{", {}, 400, id="not JSON"),
        pytest.param(b"[" * 100_000, {}, 400, id="too deep"),
        pytest.param(None, {"Content_Length": "9" * 30}, 413, id="a length that is no length"),
        pytest.param(None, {"Content_Length": str(pages.LARGEST_BODY + 1)}, 413, id="too large"),
        pytest.param(None, {"Content_Length": "-1"}, 411, id="no length"),
        pytest.param(b'"wrong"', {}, 400, id="a wrong question"),
        pytest.param(b'"bug"', {}, 500, id="a bug of ours"),
    ],
)
def test_bad_questions(visitor: Visitor, body: bytes | None, headers: dict[str, str], code: int) -> None:
    sent = {"Origin": f"http://{visitor.host}", "Content_Type": "application/json", **headers}
    found, answered, text = visitor.ask("POST", "/api/echo", body, **sent)
    assert (found, answered["Content-Type"]) == (code, "application/json")
    assert "Traceback" not in json.loads(text)["error"]


def test_files_beside_the_page_are_not_served(visitor: Visitor) -> None:
    for path in ("/../guard.py", "/static/base.css", "/%2e%2e/guard.py"):
        assert visitor.ask("GET", path)[0] == 404


def test_only_so_many_connections_are_held(server: PageServer, visitor: Visitor) -> None:
    held = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(pages.CONNECTIONS)]
    try:
        with socket.create_connection(("127.0.0.1", server.server_port)) as one_more:
            one_more.settimeout(30)
            assert one_more.recv(1) == b""
    finally:
        for each in held:
            each.close()


def test_an_address_that_is_none(visitor: Visitor) -> None:
    assert visitor.ask("GET", "http://[::1/")[0] == 400


def test_a_question_that_was_given_up_is_not_worked_at() -> None:
    begun, go_on, asked = threading.Event(), threading.Event(), []

    def slow(what: object) -> object:
        asked.append(what)
        begun.set()
        assert go_on.wait(60)
        return what

    with PageServer(Site({"/": PAGE}, {"/api/echo": slow}, slow=frozenset({"/api/echo"}))) as server:
        visitor = admitted(server)
        first = threading.Thread(target=visitor.post, args=("first",))
        first.start()
        assert begun.wait(60)
        body = b'"given up"'
        head = f"POST /api/echo HTTP/1.1\r\nHost: {visitor.host}\r\nOrigin: http://{visitor.host}\r\nCookie: {visitor.cookie}\r\n"
        with socket.create_connection(("127.0.0.1", server.server_port)) as other:
            other.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        go_on.set()
        first.join(60)
        assert visitor.post("last") == (200, "last")
    assert asked == ["first", "last"]


def test_a_port_that_is_taken() -> None:
    with PageServer(Site({})) as first, pytest.raises(exits.BadArguments, match="--port 0 takes a free one"):
        PageServer(Site({}), first.server_port)
