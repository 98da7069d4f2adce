"""Faults on request, through a server of our own."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from podstrat.testing.server import Server

TOKEN = "secret"
PODS = "/api/v1/namespaces/default/pods"
FAULTS = "/podstrat/faults"
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}


class Caller:
    """Requests whose headers and streams can be looked at."""

    def __init__(self, server: Server, token: str = TOKEN) -> None:
        self._place = urlsplit(server.url)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, str], Any]:
        connection = self._connection()
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {**self._headers, "Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, dict(response.headers), json.loads(response.read() or b"null")
        finally:
            connection.close()

    def watch(self, path: str) -> Any:
        """All that a watch tells; IncompleteRead if it breaks off."""
        connection = self._connection()
        try:
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            assert response.status == 200
            return [json.loads(line)["type"] for line in response.read().splitlines()]
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._place.hostname or "", self._place.port, timeout=20)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server("--http", "--allow-faults", "--token", TOKEN) as running:
        yield running


@pytest.fixture
def caller(server: Server) -> Iterator[Caller]:
    made = Caller(server)
    yield made
    made.send("POST", "/podstrat/reset")


@pytest.mark.parametrize(
    "answer, reason",
    [
        pytest.param(409, "Conflict", id="409"),
        pytest.param(410, "Expired", id="410"),
        pytest.param(429, "TooManyRequests", id="429"),
        pytest.param(500, "InternalError", id="500"),
        pytest.param(503, "ServiceUnavailable", id="503"),
    ],
)
def test_the_next_requests_are_answered_so(answer: int, reason: str, caller: Caller) -> None:
    fault = {"method": "POST", "resource": "pods", "times": 2, "answer": answer}
    if answer in (429, 503):
        fault["retryAfter"] = 7
    code, _, told = caller.send("POST", FAULTS, fault)
    assert (code, told) == (200, {"faults": [fault]})
    for _ in range(2):
        code, headers, status = caller.send("POST", PODS, POD)
        assert (code, status["kind"], status["reason"], status["code"]) == (answer, "Status", reason, answer)
        assert headers.get("Retry-After") == ("7" if answer in (429, 503) else None)
    assert caller.send("POST", PODS, POD)[0] == 201
    assert caller.send("GET", FAULTS)[2] == {"faults": []}


def test_a_conflict_is_worded_as_a_real_one(caller: Caller) -> None:
    caller.send("POST", PODS, POD)
    caller.send("POST", FAULTS, {"method": "PUT", "answer": 409})
    words = "the object has been modified; please apply your changes to the latest version and try again"
    status = caller.send("PUT", f"{PODS}/web", POD)[2]
    assert status["message"] == f'Operation cannot be fulfilled on pods "web": {words}'


@pytest.mark.parametrize(
    "wanted, hit",
    [
        pytest.param({}, True, id="everything"),
        pytest.param({"method": "GET"}, True, id="method"),
        pytest.param({"method": "WATCH"}, False, id="a-get-is-no-watch"),
        pytest.param({"resource": "nodes"}, False, id="resource"),
        pytest.param({"name": "web"}, True, id="name"),
        pytest.param({"name": "other"}, False, id="another-name"),
        pytest.param({"namespace": "default", "resource": "pods"}, True, id="namespace"),
        pytest.param({"namespace": "other"}, False, id="another-namespace"),
    ],
)
def test_which_requests_it_happens_to(wanted: dict[str, str], hit: bool, caller: Caller) -> None:
    caller.send("POST", PODS, POD)
    caller.send("POST", FAULTS, {**wanted, "answer": 500})
    assert caller.send("GET", f"{PODS}/web")[0] == (500 if hit else 200)


def test_a_watch_is_told_that_it_is_too_late_in_an_event(caller: Caller) -> None:
    caller.send("POST", FAULTS, {"method": "WATCH", "answer": 410})
    assert caller.watch(f"{PODS}?watch=1&timeoutSeconds=1") == ["ERROR"]


def test_several_at_once_happen_in_order_and_can_be_taken_back(caller: Caller) -> None:
    caller.send("POST", FAULTS, [{"method": "GET", "answer": 500}, {"method": "GET", "answer": 503, "times": 9}])
    assert [caller.send("GET", PODS)[0] for _ in range(2)] == [500, 503]
    assert caller.send("DELETE", FAULTS)[2] == {"faults": []}
    assert caller.send("GET", PODS)[0] == 200


def test_a_request_that_hangs_goes_on_in_the_end(caller: Caller) -> None:
    caller.send("POST", FAULTS, {"method": "POST", "resource": "pods", "hang": 0.4})
    began = time.monotonic()
    assert caller.send("POST", PODS, POD)[0] == 201
    assert time.monotonic() - began >= 0.4


def test_a_watch_breaks_off(caller: Caller) -> None:
    caller.send("POST", PODS, POD)
    caller.send("POST", FAULTS, {"resource": "pods", "drop": 0.3})
    assert caller.send("GET", PODS)[0] == 200  # a list is no watch
    with pytest.raises(http.client.IncompleteRead) as broken:
        caller.watch(f"{PODS}?watch=1&timeoutSeconds=20")
    assert json.loads(broken.value.partial)["type"] == "ADDED"
    assert caller.watch(f"{PODS}?watch=1&timeoutSeconds=1") == ["ADDED"]


@pytest.mark.parametrize(
    "fault, words",
    [
        pytest.param({}, "specify exactly one of answer, hang, drop", id="nothing"),
        pytest.param({"answer": 500, "hang": 1}, "specify exactly one of answer, hang, drop", id="two"),
        pytest.param({"answer": 404}, "answer must be one of 409, 410, 429, 500, 503", id="answer"),
        pytest.param({"answer": 500, "times": 0}, "times must be a number from 1 to 1e+06", id="times"),
        pytest.param({"hang": "1s"}, "hang must be a number from 0 to 3600", id="hang"),
        pytest.param(
            {"answer": 500, "method": "HEAD"}, "method must be one of GET, POST, PUT, PATCH, DELETE, WATCH", id="method"
        ),
        pytest.param({"answer": 500, "name": 7}, "name must be a string", id="name"),
        pytest.param(
            {"answer": 500, "verb": "x"},
            "unknown field verb; known fields are answer, drop, hang, method, name, namespace, resource, retryAfter, times",
            id="unknown",
        ),
        pytest.param([1], "a fault must be an object, or a list of objects", id="number"),
    ],
)
def test_a_fault_that_is_none(fault: Any, words: str, caller: Caller) -> None:
    code, _, status = caller.send("POST", FAULTS, fault)
    assert (code, status["message"]) == (400, words)


def test_only_for_those_who_show_a_token(server: Server) -> None:
    assert Caller(server, "").send("POST", FAULTS, {"answer": 500})[0] == 401
    assert Caller(server, "wrong").send("GET", FAULTS)[0] == 401


def test_only_where_it_is_allowed(podstrat_server: Server) -> None:
    from podstrat.kubeclient.sync import Client

    with Client(podstrat_server.kubeconfig) as client:
        assert client.send("POST", FAULTS, {"answer": 500})[0] == 404


def test_nobody_in_particular_may_not_either() -> None:
    with Server("--http", "--allow-faults") as server:
        caller = Caller(server, "")
        assert caller.send("GET", PODS)[0] == 200
        assert caller.send("POST", FAULTS, {"answer": 500})[0] == 401
