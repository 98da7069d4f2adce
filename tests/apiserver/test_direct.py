"""Requests about resources are answered past Flask, and as Flask answers them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import Client, create_environ

from podstrat.apiserver import serving
from podstrat.apiserver.app import Direct, Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.http_request import HttpRequest, Route
from podstrat.apiserver.metrics import Metrics

PODS = "/api/v1/namespaces/default/pods"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def direct() -> Any:
    api = serving.api(serving.Settings())
    return Http(api, Authenticator((), True), lambda _: None, Metrics()).app().wsgi_app


@pytest.mark.parametrize(
    "path, route",
    [
        pytest.param(PODS, Route("", "v1", "namespaces/default/pods"), id="core"),
        pytest.param("/api/v1/pods/", Route("", "v1", "pods/"), id="slash-at-the-end"),
        pytest.param("/apis/apps/v1/deployments", Route("apps", "v1", "deployments"), id="group"),
        pytest.param("/apis/apps/v1", None, id="discovery"),
        pytest.param("/api/v1//pods", None, id="empty-part"),
        pytest.param("/api/v1/pods/\xc3\xa9", None, id="not-ascii"),
        pytest.param("/healthz", None, id="health"),
    ],
)
def test_route(path: str, route: Route | None) -> None:
    assert Route.of(path) == route


@pytest.mark.parametrize(
    "method, path, headers, body",
    [
        pytest.param("GET", PODS, {}, b"", id="list"),
        pytest.param("GET", f"{PODS}?limit=1&labelSelector=a%3Db&x=%ff", {}, b"", id="query"),
        pytest.param("GET", f"{PODS}/none", {"Accept": "application/yaml"}, b"", id="not-found"),
        pytest.param("GET", PODS, {"Accept": "text/html"}, b"", id="not-acceptable"),
        pytest.param("GET", PODS, {"Authorization": "Bearer no"}, b"", id="unauthorized"),
        pytest.param("GET", PODS, {"Impersonate-User": "u"}, b"", id="impersonation"),
        pytest.param("GET", "/apis/none/v1/things", {}, b"", id="no-such-group"),
        pytest.param("GET", f"{PODS}?watch=1&timeoutSeconds=1", {}, b"", id="watch"),
        pytest.param("DELETE", "/api/v1/pods", {}, b"", id="not-allowed"),
        pytest.param("POST", PODS, {"Content-Type": "application/json"}, b"{", id="not-json"),
        pytest.param("POST", f"{PODS}?dryRun=All", {"Content-Type": "text/x"}, b"{}", id="unsupported"),
        pytest.param("POST", PODS, {}, json.dumps({**POD, "x\xfc": 1, "spec": {}}).encode(), id="warning"),
    ],
)
def test_an_answer_is_the_one_of_flask(method: str, path: str, headers: dict[str, str], body: bytes) -> None:
    application = direct()
    assert isinstance(application, Direct)
    answers = [
        Client(each).open(path, method=method, headers=headers, data=body) for each in (application, application._application)
    ]
    seen = [(each.status, list(each.headers), each.data) for each in answers]
    assert seen[0] == seen[1]
    assert ("Warning" in answers[0].headers) == (b"x\\u00fc" in body)


def test_a_body_that_ends_early_is_refused() -> None:
    answer = Client(direct()).open(PODS, method="POST", data=b"{}", environ_overrides={"CONTENT_LENGTH": "3"})
    assert (answer.status_code, answer.json["message"]) == (400, "the request body could not be read")


def test_an_internal_error_is_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("podstrat.apiserver.api.Api.handle", fails)
    answer = Client(direct()).get(PODS)
    assert (answer.status_code, answer.json["reason"]) == (500, "InternalError")


def test_headers_by_prefix() -> None:
    request = HttpRequest(create_environ("/", headers={"Impersonate-User": "u", "Impersonate-Extra-A": "x", "Accept": "y"}))
    assert request.headers("impersonate-") == {"impersonate-user": "u", "impersonate-extra-a": "x"}
