"""Every way in which a call can fail has its answer: uid, version, HTTP status."""

from __future__ import annotations

import io
import json
import threading
from typing import Any

import pytest

from podstrat.webhook import app, handler
from tests.strategy import make
from tests.webhook.reviews import UID, Webhook, review

WEBHOOK = Webhook()
GOOD = json.dumps(review(make.pod())).encode()


def status_of(body: bytes) -> dict[str, Any]:
    """The Status in an answer that has no uid to answer to."""
    told = json.loads(body)
    assert (told["kind"], told["apiVersion"], told["status"]) == ("Status", "v1", "Failure")
    found: dict[str, Any] = told
    return found


def body(**fields: Any) -> bytes:
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"} | fields).encode()


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize(
    "sent, code, message",
    [
        pytest.param(b"", 400, "the request body is empty", id="empty"),
        pytest.param(b"{", 400, "the request body is not valid JSON: ", id="half"),
        pytest.param(b"\xff\xfe{}", 400, "the request body is not valid JSON: ", id="another-encoding"),
        pytest.param(b'{"a": NaN}', 400, "the request body is not valid JSON: ", id="not-a-number"),
        pytest.param(b'"review"', 400, "the request body is not a JSON object", id="a-string"),
        pytest.param(b"[" * 100_000, 400, "the request body is not valid JSON: depth limit exceeded", id="deep"),
        pytest.param(
            b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
            400,
            "the request body is not valid JSON: depth limit exceeded",
            id="deep-objects",
        ),
        pytest.param(b"{}", 400, "the request body is None None, expected AdmissionReview admission.k8s.io/v1", id="nothing"),
        pytest.param(
            b'{"kind": "Pod", "apiVersion": "v1"}', 400, "the request body is Pod v1, expected AdmissionReview", id="a-pod"
        ),
        pytest.param(body(), 400, "invalid AdmissionReview: request: ", id="no-request"),
        pytest.param(body(request={}), 400, "invalid AdmissionReview: request.uid: Field required", id="an-empty-request"),
        pytest.param(body(request=[]), 400, "invalid AdmissionReview: request: ", id="a-list"),
        pytest.param(
            body(request={**review(make.pod())["request"], "uid": ""}),
            400,
            "invalid AdmissionReview: request.uid: is empty",
            id="an-empty-uid",
        ),
        pytest.param(b" " * (7 * 1024 * 1024 + 1), 413, "Request entity too large: limit is 7340032", id="too-large"),
    ],
)
def test_what_cannot_be_answered_to(path: str, sent: bytes, code: int, message: str) -> None:
    got, headers, answer = WEBHOOK.call(path, sent)
    told = status_of(answer)
    assert (got, told["code"]) == (code, code)
    assert told["message"].startswith(message)
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "sent, message",
    [
        pytest.param(
            {**review(make.pod()), "apiVersion": "admission.k8s.io/v1beta1"},
            "the request body is AdmissionReview admission.k8s.io/v1beta1, expected AdmissionReview admission.k8s.io/v1",
            id="an-old-version",
        ),
        pytest.param(
            {**review(make.pod()), "kind": "ConversionReview"}, "the request body is ConversionReview ", id="another-kind"
        ),
        pytest.param(review(make.pod(), object=[1]), "invalid AdmissionReview: request.object: ", id="an-object-that-is-none"),
        pytest.param(review(make.pod(), operation=None), "invalid AdmissionReview: request.operation: ", id="no-operation"),
    ],
)
def test_what_has_a_uid_is_answered_to_it(sent: dict[str, Any], message: str) -> None:
    code, _, answer = WEBHOOK.call("/mutate", json.dumps(sent).encode())
    told = json.loads(answer)
    assert (code, told["kind"], told["apiVersion"]) == (400, "AdmissionReview", "admission.k8s.io/v1")
    assert (told["response"]["uid"], told["response"]["allowed"]) == (UID, False)
    assert told["response"]["status"]["code"] == 400
    assert told["response"]["status"]["message"].startswith(message)


@pytest.mark.parametrize(
    "environ, code",
    [
        pytest.param({"CONTENT_TYPE": "text/plain"}, 415, id="another-type"),
        pytest.param({"CONTENT_TYPE": ""}, 415, id="no-type"),
        pytest.param({"CONTENT_TYPE": "application/json; charset=utf-8"}, 200, id="with-a-charset"),
        pytest.param({"CONTENT_LENGTH": "seven"}, 400, id="no-length"),
        pytest.param({"CONTENT_LENGTH": ""}, 200, id="length-not-told"),
        pytest.param({"CONTENT_LENGTH": str(8 * 1024 * 1024)}, 200, id="a-length-that-does-not-come"),
        pytest.param({"REQUEST_METHOD": "GET"}, 405, id="another-method"),
        pytest.param({"PATH_INFO": "/mutate/"}, 404, id="another-path"),
    ],
)
def test_requests_that_are_odd(environ: dict[str, str], code: int) -> None:
    got, _, answer = WEBHOOK.call("/mutate", GOOD, **environ)
    assert got == code
    if code != 200:
        assert status_of(answer)["code"] == code


def test_a_body_without_a_length_is_read_to_the_limit_only() -> None:
    code, _, _ = WEBHOOK.call("/mutate", b" " * (9 * 1024 * 1024), CONTENT_LENGTH="")
    assert code == 413


def test_our_own_error_is_answered_with_500(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("we are wrong")

    webhook = Webhook()
    monkeypatch.setattr(webhook.chain, "review", fail)
    code, _, answer = webhook.call("/validate", GOOD)
    told = json.loads(answer)
    assert code == 500
    assert (told["response"]["uid"], told["response"]["allowed"], told["response"]["status"]["code"]) == (UID, False, 500)
    assert b"we are wrong" not in answer
    assert f"review {UID} failed" in caplog.text
    assert "we are wrong" in caplog.text


def test_flask_answers_the_same_as_the_direct_way() -> None:
    """The views are there for whoever mounts the application elsewhere."""
    client = WEBHOOK.app.test_client()
    direct = WEBHOOK.app.wsgi_app
    assert isinstance(direct, app.Direct)
    try:
        WEBHOOK.app.wsgi_app = direct._application  # type: ignore[method-assign, assignment]
        answered = client.post("/mutate", data=GOOD, content_type="application/json")
    finally:
        WEBHOOK.app.wsgi_app = direct  # type: ignore[method-assign, assignment]
    assert (answered.status_code, answered.data) == (200, WEBHOOK.call("/mutate", GOOD)[2])


# ---- too many at a time ----------------------------------------------------------------------------


def test_whoever_is_too_many_is_told_at_once() -> None:
    webhook = Webhook(concurrency=1, waiting=0)
    assert webhook.limiter.acquire(0)
    code, headers, answer = webhook.call("/mutate", GOOD)
    assert (code, status_of(answer)["reason"], headers["Retry-After"]) == (503, "ServiceUnavailable", "1")
    webhook.limiter.release()
    assert webhook.call("/mutate", GOOD)[0] == 200


def test_whoever_waits_gets_a_turn() -> None:
    webhook = Webhook(concurrency=1, waiting=1, patience_seconds=30)
    assert webhook.limiter.acquire(0)
    codes: list[int] = []
    waiting = threading.Thread(target=lambda: codes.append(webhook.call("/mutate", GOOD, QUERY_STRING="")[0]))
    waiting.start()
    while webhook.limiter._places:
        pass
    assert webhook.call("/mutate", GOOD)[0] == 503, "there is room for one only"
    webhook.limiter.release()
    waiting.join(30)
    assert codes == [200]


@pytest.mark.parametrize(
    "query, seconds",
    [
        pytest.param("timeout=10s", 1.0, id="ours-is-shorter"),
        pytest.param("timeout=1s", 0.5, id="half-of-the-servers"),
        pytest.param("a=b&timeout=500ms", 0.25, id="milliseconds"),
        pytest.param("timeout=soon", 1.0, id="no-time"),
        pytest.param("", 1.0, id="not-told"),
    ],
)
def test_nobody_waits_longer_than_the_server_does(query: str, seconds: float) -> None:
    made = handler.Handler(WEBHOOK.chain, WEBHOOK.limiter, WEBHOOK.metrics, 1.0)
    assert made._timeout(query) == seconds


# ---- counting --------------------------------------------------------------------------------------


def test_what_is_counted() -> None:
    webhook = Webhook()
    webhook.call("/mutate", GOOD)
    webhook.call("/mutate", json.dumps(review(make.pod(), dryRun=True)).encode())
    webhook.call("/validate", b"{")
    text = webhook.metrics.exposition()[0].decode()
    labels = 'allowed="true",dry_run="{}",operation="CREATE",subresource="",webhook="mutate"'
    for line in (
        f"podstrat_webhook_admission_requests_total{{{labels.format('false')}}} 1",
        f"podstrat_webhook_admission_requests_total{{{labels.format('true')}}} 1",
        'podstrat_webhook_failed_calls_total{code="400",webhook="validate"} 1',
        'podstrat_webhook_patch_operations_total{concern="generation"} 2',
        'podstrat_webhook_admission_request_duration_seconds_count{webhook="mutate"} 2',
    ):
        assert line in text.splitlines()


def test_a_dry_run_is_answered_like_any_other() -> None:
    assert WEBHOOK.mutate(make.pod(), dryRun=True) == WEBHOOK.mutate(make.pod())


# ---- probes ----------------------------------------------------------------------------------------


def probe(path: str, query: str = "") -> tuple[int, str]:
    environ = {"REQUEST_METHOD": "GET", "QUERY_STRING": query, "wsgi.input": io.BytesIO()}
    code, _, text = WEBHOOK.call(path, b"", **environ)
    return code, text.decode()


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_probes(path: str) -> None:
    assert probe(path) == (200, "ok")
    assert probe(path, "verbose")[1].splitlines()[-1] == f"{path[1:]} check passed"
