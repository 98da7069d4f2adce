"""One request cannot starve the others: work is bounded beforehand, has a deadline, and liveness does not wait for it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from podstrat.apiserver import responses, serving
from podstrat.apiserver.api import Api
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.deadline import Deadline, Exceeded
from podstrat.apiserver.kinds import BY_PATH, NAMESPACE
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.worker import REQUEST_LINE
from podstrat.strategy.api import types
from podstrat.testing.server import Server
from tests.eventually import eventually

MAP = BY_PATH["", "v1", "configmaps"]
TIMEOUT = "Timeout: request did not complete within the allotted timeout"


# ---- bounded beforehand ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server("--http") as running:
        yield running


def ask(server: Server, path: str) -> tuple[int, Any]:
    address = urlsplit(server.url)
    with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_a_request_line_has_an_end(server: Server) -> None:
    """Reading it takes time by the square of its length: eight megabytes took half a minute."""
    path = "/api/v1/pods?continue="
    code, status = ask(server, path + "a" * (REQUEST_LINE - 1000))
    assert (code, status["reason"]) == (400, "BadRequest")
    code, status = ask(server, path + "a" * (8 * REQUEST_LINE))
    assert (code, status["kind"], status["code"]) == (431, "Status", 431)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"kind": "List", "metadata": {"a": "ü"}, "items": [{"a": 1}, {"b": [2]}]}, id="list"),
        pytest.param({"items": []}, id="empty"),
        pytest.param({"kind": "List", "items": None}, id="null"),
        pytest.param({"items": [1], "kind": "List"}, id="first"),
        pytest.param({"kind": "Pod", "spec": {}}, id="object"),
    ],
)
def test_a_list_that_is_encoded_in_pieces_is_the_same(body: dict[str, Any]) -> None:
    assert (
        responses.response(Reply(200, body), types.load("1.37"), None).body
        == json.dumps(body, separators=(",", ":")).encode() + b"\n"
    )


# ---- a deadline ------------------------------------------------------------------------------------


class Checks:
    """A deadline that passes after some checks: no test measures the machine."""

    def __init__(self, left: int) -> None:
        self.left = left

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Exceeded()


@pytest.fixture
def api() -> Iterator[Api]:
    made = serving.api(serving.Settings())
    for number in range(10):
        body = json.dumps({"metadata": {"name": f"m{number}"}}).encode()
        assert made.handle(Call("POST", Target(MAP, "default"), {}, body, "application/json")).code == 201
    yield made
    made.store.close()


def send(api: Api, method: str, target: Target, checks: int, **query: str) -> Reply:
    given = {name: [value] for name, value in query.items()}
    return api.handle(Call(method, target, given, deadline=cast(Deadline, Checks(checks))))


def test_a_list_with_selectors(api: Api) -> None:
    reply = send(api, "GET", Target(MAP, "default"), 9, labelSelector="a")
    assert reply.body is not None
    assert (reply.code, reply.body["reason"], reply.body["message"]) == (504, "Timeout", TIMEOUT)
    assert send(api, "GET", Target(MAP, "default"), 10, labelSelector="a").code == 200


def test_a_deletion_of_many_goes_on_with_the_next_request(api: Api) -> None:
    assert send(api, "DELETE", Target(MAP, "default"), 4).code == 504
    assert len(api.store.list(MAP, "default")[0]) == 6
    assert send(api, "DELETE", Target(MAP, "default"), 100).code == 200
    assert api.store.list(MAP, "default")[0] == []


def test_a_namespace_that_is_emptied(api: Api) -> None:
    """What does not fit into the time of the request goes on in the background."""
    api.bootstrap(["full"])
    for number in range(10):
        body = json.dumps({"metadata": {"name": f"m{number}"}}).encode()
        assert api.handle(Call("POST", Target(MAP, "full"), {}, body, "application/json")).code == 201
    namespace = Target(NAMESPACE, "", "full")
    assert send(api, "DELETE", namespace, 5).code == 504
    eventually(lambda: send(api, "GET", namespace, 1).code == 404)
    assert api.store.list(MAP, "full")[0] == []


def test_every_request_but_a_watch_has_one(api: Api) -> None:
    client = Http(api, Authenticator((), True), lambda _: None, Metrics(), request_seconds=-1).app().test_client()
    refused = client.post("/api/v1/namespaces/default/configmaps", json={"metadata": {"name": "late"}})
    assert (refused.status_code, refused.json["message"], refused.json["details"]) == (504, TIMEOUT, {})
    assert client.get("/api/v1/namespaces/default/configmaps/m1").status_code == 200
    watched = client.get("/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1")
    assert len(watched.get_data().splitlines()) == 10


# ---- liveness --------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def worker_of(server: Server) -> int:
    assert server.process is not None
    found = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True)
    return int(found.stdout.split()[0])


def get(url: str, timeout: float = 20) -> tuple[int, str]:
    with urllib.request.urlopen(url, timeout=timeout) as response:
        return response.status, response.read().decode()


def test_liveness_does_not_wait_for_the_worker() -> None:
    port = free_port()
    with Server("--http", "--health-port", str(port)) as server:
        live = f"http://127.0.0.1:{port}"
        assert [get(f"{live}{path}") for path in ("/livez", "/healthz")] == [(200, "ok"), (200, "ok")]
        worker = worker_of(server)
        os.kill(worker, signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                get(f"{server.url}/livez", timeout=1)
            assert get(f"{live}/livez") == (200, "ok")
        finally:
            os.kill(worker, signal.SIGCONT)
        assert eventually(lambda: get(f"{server.url}/livez")) == (200, "ok")
    with pytest.raises(OSError, match="refused"):
        get(f"{live}/livez")


def test_a_health_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    from podstrat import cli

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["serve", "--http", "--port", "0", "--health-port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1 port {port}: " in capsys.readouterr().err
