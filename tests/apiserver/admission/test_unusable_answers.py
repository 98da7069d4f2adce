"""Webhooks whose answer is not a review of the request: in the server's words, and as failurePolicy decides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.apiserver.admission import review
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.failures import FAILED, encoded
from tests.apiserver.admission.scene import Scene, said

NAMELESS = "couldn't get version/kind; json parse error: "
NAMES = 'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
UNKNOWN = 'in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"'


@pytest.mark.parametrize(
    "raw, words",
    [
        pytest.param((404, "text/plain", b"no"), "the server could not find the requested resource", id="404"),
        pytest.param((400, "text/plain", b"no"), "the server rejected our request for an unknown reason", id="400"),
        pytest.param(
            (500, "text/plain", b" oh dear\n"),
            'an error on the server ("oh dear") has prevented the request from succeeding',
            id="500",
        ),
        pytest.param(
            (500, "application/json", b"{}"),
            'an error on the server ("unknown") has prevented the request from succeeding',
            id="500-json",
        ),
        pytest.param((503, "text/plain", b""), "the server is currently unable to handle the request", id="503"),
        pytest.param((403, "text/plain", b"go away"), "go away", id="403"),
        pytest.param(
            (418, "text/plain", b""),
            "the server responded with the status code 418 but did not return more information",
            id="odd",
        ),
        pytest.param(
            (500, "application/json", b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"mine"}'),
            "mine",
            id="status",
        ),
        pytest.param((200, "text/plain", b""), "0-length response with status code: 200 and content type: text/plain", id="none"),
        pytest.param((200, "text/html", b"<html>"), f"{NAMELESS}json: cannot unmarshal string into {NAMES}", id="html"),
        pytest.param(
            (200, "application/json", b'{"response":{"allowed":"yes"}}'),
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
            id="type",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_an_answer_that_is_no_review(raw: tuple[int, str, bytes], words: str, policy: str, scene: Scene, start: Start) -> None:
    hook = start()
    hook.raw = raw
    scene.register(hooks.mutating("c", hook.entry(failurePolicy=policy)))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
    else:
        assert said(reply) == f"{FAILED}failed to call webhook: {words}"


@pytest.mark.parametrize(
    "kind, response, words",
    [
        pytest.param("Mutating", {"allowed": True, "uid": "x"}, 'expected response.uid="<uid>", got "x"', id="uid"),
        pytest.param(
            "Mutating",
            {"allowed": True, "patch": encoded("[]")},
            "webhook returned response.patch but not response.patchType",
            id="no-patch-type",
        ),
        pytest.param(
            "Mutating",
            {"allowed": True, "patchType": "JSONPatch"},
            "webhook returned response.patchType but not response.patch",
            id="no-patch",
        ),
        pytest.param(
            "Validating",
            {"allowed": True, "patch": encoded("[]")},
            "validating webhook may not return response.patch",
            id="validating-patch",
        ),
        pytest.param(
            "Validating",
            {"allowed": True, "patchType": "JSONPatch"},
            "validating webhook may not return response.patchType",
            id="validating-patch-type",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_review_that_does_not_fit(
    kind: str, response: dict[str, Any], words: str, policy: str, scene: Scene, start: Start
) -> None:
    hook = start(lambda request: response)
    scene.register(hooks.configuration(kind, "c", hook.entry(failurePolicy=policy)))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
        return
    told = words.replace("<uid>", hook.requests[0]["uid"])
    assert said(reply) == f"{FAILED}received invalid webhook response: {told}"


@pytest.mark.parametrize(
    "answer, words",
    [
        pytest.param({}, "webhook response was absent", id="nothing"),
        pytest.param(
            {"response": {"allowed": True, "uid": "<uid>"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
            id="no-kind",
        ),
        pytest.param(
            {"apiVersion": "admission.k8s.io/v1", "response": {"allowed": True, "uid": "<uid>"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=",
            id="version-only",
        ),
    ],
)
def test_a_review_without_a_name(answer: dict[str, Any], words: str, scene: Scene, start: Start) -> None:
    hook = start()

    def reply(review: dict[str, Any]) -> dict[str, Any]:
        filled: dict[str, Any] = json.loads(json.dumps(answer).replace("<uid>", review["request"]["uid"]))
        return filled

    hook.answer = reply  # type: ignore[method-assign]
    scene.register(hooks.mutating("c", hook.entry()))
    assert said(scene.create(hooks.pod())) == f"{FAILED}received invalid webhook response: {words}"


@pytest.mark.parametrize(
    "answer, words",
    [
        pytest.param(
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2"}',
            f'no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" {UNKNOWN}',
            id="version",
        ),
        pytest.param(
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
            id="older-version",
        ),
        pytest.param(
            b'{"kind":"Status","apiVersion":"v1"}',
            "converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
            id="status",
        ),
        pytest.param(b'{"kind":"Pod","apiVersion":"v1"}', f'no kind "Pod" is registered for version "v1" {UNKNOWN}', id="pod"),
        pytest.param(b"[]", f"{NAMELESS}json: cannot unmarshal array into {NAMES}", id="list"),
        pytest.param(b"a: b: c", "yaml: mapping values are not allowed in this context", id="no-yaml"),
        pytest.param(b'{"a": ', f"{NAMELESS}unexpected end of JSON input", id="no-json"),
    ],
)
def test_no_review(answer: bytes, words: str) -> None:
    """As the code of 1.36 words it."""
    with pytest.raises(review.Unusable) as refused:
        review.decoded(answer, "v1")
    assert str(refused.value) == words


def test_a_review_in_yaml() -> None:
    text = b"apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: u\n  allowed: true\n"
    assert review.verdict(review.decoded(text, "v1"), "u", "v1", mutating=True).allowed


@pytest.mark.parametrize(
    "versions, words",
    [
        pytest.param(
            ["v9"],
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
            id="unknown",
        ),
        pytest.param(["v9", "v1beta1"], "", id="older"),
        pytest.param(["v1", "v1beta1"], "", id="first-wins"),
    ],
)
def test_versions_of_the_review(versions: list[str], words: str, scene: Scene, start: Start) -> None:
    scene.register(hooks.mutating("c", start(hooks.note("x")).entry(admissionReviewVersions=versions)))
    reply = scene.create(hooks.pod())
    assert reply.code == (500 if words else 201)
    if words:
        assert said(reply) == FAILED + words
